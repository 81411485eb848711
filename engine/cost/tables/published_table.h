#pragma once
// Rows of one published table, read by its PublishedMap. Private to the importers.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/tables/kernel_table.h"
#include "cost/tables/published.h"
#include "cost/tables/table_file.h"

namespace rooflua {

class RowFates;

/// Where a published table is from, for tables.toml.
struct PublishedOrigin {
  const PublishedMap* map = nullptr;
  std::string publisher, version;       // engine ("" = none) and version, as in the file's name
  std::string device;                   // the GPU, as published
  std::vector<std::string> kernels;     // kernel_source of the rows
  std::vector<std::string_view> marks;  // reasons of rules that mark the table
};

/// What constants.csv beside a file says of it.
/// @param name  of the file, without .gz
std::vector<std::pair<std::string, std::string>> published_constants(
    const std::filesystem::path& folder, const std::string& name);

/// "h100_sxm_gemm_vllm0.24.0.csv" of a path that may end in .gz
std::string plain_name(const std::filesystem::path& path);

/// The rows of the table's number format. Rows that rules leave out are missing.
/// @param fates  null, or what notes which rows were taken and which were left out
/// @throws Error naming file, line and column
KernelTable read_published(const TableFile& file, RowFates* fates = nullptr);

/// The keys of tables.toml for a table that was read from these (docs/DATA.md).
std::string published_provenance(const std::vector<const KernelTable*>& parts);

}  // namespace rooflua
