#pragma once
// A table that a folder offers: its file, and how to read it.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/ops/declaration.h"

namespace rooflua {

struct PublishedMap;

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
  published,       // of aiconfigurator: a PublishedMap says which columns
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
  const PublishedMap* published = nullptr;   // of TableForm::published
  std::string gpu;                           // published: the start of the file's name
  std::string publisher;                     // published: the engine that the file names
  std::string version;                       // published: of the engine or library
  bool all_rows = false;                     // published: also rows that are known to be wrong
  std::filesystem::path plus;                // published: the file of PublishedMap::plus_file
  std::array<int, 5> shape{};                // from the file name
  int tp = 1;
  bool decode = false;
};

}  // namespace rooflua
