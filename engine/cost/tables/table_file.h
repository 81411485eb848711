#pragma once
// A table that a folder offers: its file, and how to read it.

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cost/ops/declaration.h"

namespace rooflua {

/// Which columns a file has and what they mean.
enum class TableForm {
  gemm,
  prefill,
  decode,
  mla_prefill,
  mla_decode,
  grouped_decode,
  grouped_prefill,
  linear_decode,
  linear_prefill,  // infersim and blis
  own,             // of any op that declares a file
  published,       // of aiconfigurator: scripts read it (published.h)
};

/// Whether tables of this form print an MFU beside the latency.
constexpr bool prints_mfu(TableForm form) {
  return form <= TableForm::mla_decode;
}

/// What a row may hold besides its op: the words of `includes` in tables.toml.
inline constexpr std::array<std::string_view, 16> table_parts = {"absorbed projections",
                                                                 "activation",
                                                                 "compressor",
                                                                 "conv",
                                                                 "delta_rule",
                                                                 "index",
                                                                 "kv_write",
                                                                 "launch",
                                                                 "norm",
                                                                 "permutation",
                                                                 "projections",
                                                                 "quantize",
                                                                 "reduction",
                                                                 "rope",
                                                                 "routing",
                                                                 "top-k"};

/// For which shapes near those of its rows a table answers: of all formats, of its own format,
/// none.
enum class StandsIn { all, format, none };
inline constexpr std::array<std::string_view, 3> stands_in_words = {"all", "format", "none"};

/// A table that a folder offers; not read yet.
struct TableFile {
  std::string name;
  std::filesystem::path path;
  TableForm form = TableForm::gemm;
  Op op = Op::gemm;
  Dtype dtype = Dtype::bf16;
  std::string variant;                       // KernelTable::variant
  std::string source;                        // of our own layout: tables.toml in one line
  std::optional<FlopConvention> convention;  // as tables.toml says, where it does
  std::string unsaid;                        // keys that tables.toml should have and has not
  std::string engine;                        // KernelTable::engine
  std::vector<std::string> engines;          // KernelTable::engines
  std::vector<std::string> includes;         // KernelTable::includes
  bool answers = true;                       // KernelTable::answers
  bool measured = true;                      // false: a rehearsal, whose times come from no GPU
  StandsIn stands_in = StandsIn::all;
  std::shared_ptr<const Json> published;  // of TableForm::published: how its reader knows it
  std::array<int, 5> shape{};             // from the file name
  int tp = 1;
  bool decode = false;
  bool operator==(const TableFile&) const = default;
};

}  // namespace rooflua
