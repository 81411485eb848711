#pragma once
// Table files of four layouts (docs/DATA.md): what a folder offers, without reading it, and one
// file read into a KernelTable. CRLF, a missing header and duplicate keys are read as they are;
// cost/quality/verify.h complains about them.
//
//   rooflua   bench_data/<gpu>/<op>_<dtype>.csv, latency_us; tables.toml says how it was measured
//   infersim  {mha,mla}/{prefill,decode}/<gpu>/<h>-<g>-<D>.csv, gemm/<gpu>/data.csv,
//             grouped_gemm/{prefill,decode}/<gpu>/data.csv, gdn/{prefill,decode}/<gpu>/...
//   blis      the same tree; decode files <h>-<g>-<D>-tp<T>.csv
//   aic       <gpu>_<table>_<engine><version>.csv or .csv.gz; scripts read them (published.h); of
//             several versions of an engine the newest

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cost/tables/kernel_table.h"
#include "cost/tables/layout.h"
#include "cost/tables/table_file.h"

namespace rooflua {

/// In a fixed order (name). Empty where the folder has nothing of this GPU.
/// @throws Error if the path is not there
std::vector<TableFile> list_tables(const std::filesystem::path& path, Layout layout,
                                   const std::string& gpu);

/// Whether our layout has a table of that name ("gemm_bf16").
bool is_own_table(std::string_view stem);

/// @throws Error naming file:line and column if a cell is not a number, or a column is missing
KernelTable read_table(const TableFile& file);

/// The same table again as long as its file and what is said of it are unchanged.
/// @throws Error as read_table
std::shared_ptr<const KernelTable> kept_table(const TableFile& file);

/// Called for each row that is not written, with the reason. Empty: no call.
using NotWritten =
    std::function<void(const KernelTable&, const KernelRow&, std::string_view reason)>;

struct WriteOptions {
  double tolerance = 0;  // thinning, as part of the latency; 0: none (docs/DATA.md)
  /// Of published tables: the keys of tables.toml, by the name of the file.
  std::map<std::string, std::string> described = {};
  NotWritten not_written = {};
};

struct WrittenTable {
  std::filesystem::path path;
  std::size_t rows = 0;
};

/// The tables as CSV files of our own layout (gemm_<dtype>[_<engine>].csv, ...; latency_us), for
/// `data import`, and tables.toml, which says where each is from and what its rows contain.
/// Tables of one name go to one file. Ops that our layout has no form for (grouped pairs and linear
/// attention of InferSim) are left out.
/// @param layout  of the tables, for tables.toml
/// @throws Error at the line of a row that no measurement can give (cost/tables/row_check.h), if a
/// file cannot be written, or if the folder has a tables.toml that `data import` did not write. The
/// folder is then as before: all files are written, or none.
std::vector<WrittenTable> write_tables(const std::vector<const KernelTable*>& tables,
                                       const std::filesystem::path& folder, Layout layout,
                                       const WriteOptions& options = {});

}  // namespace rooflua
