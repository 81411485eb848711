// What a folder offers, per layout: file names only, nothing is read.

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "base/toml.h"
#include "cost/tables/importers.h"
#include "cost/tables/published.h"

namespace rooflua {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> result;
  if (!fs::is_directory(folder)) return result;
  for (const auto& entry : fs::directory_iterator(folder)) result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<fs::path> csv_files(const fs::path& folder) {
  std::vector<fs::path> result = entries(folder);
  std::erase_if(result, [](const fs::path& path) { return path.extension() != ".csv"; });
  return result;
}

/// The sub-folder of that GPU in any case; else the one whose name starts the GPU's, or the other
/// way round.
fs::path gpu_folder(const fs::path& folder, const std::string& gpu) {
  fs::path close;
  for (const fs::path& entry : entries(folder)) {
    const std::string found = entry.filename().string();
    if (gpu_words(found) == gpu_words(gpu)) return entry;
    if (!gpu.empty() && same_gpu(found, gpu)) close = entry;
  }
  return close;
}

/// "32-8-128-tp2" -> 32, 8, 128 and tp 2; false if it is something else.
bool parse_shape(const std::string& stem, TableFile& file) {
  std::size_t part = 0;
  std::string_view rest = stem;
  while (!rest.empty()) {
    const std::size_t dash = rest.find('-');
    std::string_view word = rest.substr(0, dash);
    rest = dash == std::string_view::npos ? std::string_view() : rest.substr(dash + 1);
    const bool tp = word.starts_with("tp");
    if (tp) word.remove_prefix(2);
    int value = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failure != std::errc() || end != word.data() + word.size()) return false;
    if (tp) {
      file.tp = value;
    } else {
      if (part == file.shape.size()) return false;
      file.shape[part++] = value;
    }
  }
  return part >= 3 && file.tp > 0;
}

struct TreeBranch {
  const char* folder;
  TableForm form;
  Op op;
  bool decode;
};

void list_branch(const fs::path& root, const std::string& gpu, const TreeBranch& branch,
                 std::vector<TableFile>& files) {
  const fs::path folder = gpu_folder(root / branch.folder, gpu);
  if (folder.empty()) return;
  for (const fs::path& path : csv_files(folder)) {
    TableFile file;
    file.name = std::string(branch.folder) + "/" + folder.filename().string() + "/" +
                path.filename().string();
    file.path = path;
    file.form = branch.form;
    file.op = branch.op;
    file.decode = branch.decode;
    const bool one_file = branch.op == Op::gemm || branch.op == Op::grouped_gemm;
    // Their GEMM tables were timed with FP8 kernels: the peak they imply is the FP8 peak.
    if (one_file) file.dtype = Dtype::fp8;
    if (one_file ? path.stem() != "data" : !parse_shape(path.stem().string(), file)) continue;
    if (file.tp > 1) {  // rows of one rank of a sharded model
      file.shape[0] /= file.tp;
      file.shape[1] = std::max(1, file.shape[1] / file.tp);
    }
    files.push_back(std::move(file));
  }
}

/// InferSim and BLIS share the tree.
std::vector<TableFile> list_tree(const fs::path& path, const std::string& gpu) {
  static constexpr TreeBranch branches[] = {
      {"gemm", TableForm::gemm, Op::gemm, false},
      {"mha/prefill", TableForm::prefill, Op::attention_prefill, false},
      {"mha/decode", TableForm::decode, Op::attention_decode, true},
      {"mla/prefill", TableForm::mla_prefill, Op::mla_prefill, false},
      {"mla/decode", TableForm::mla_decode, Op::mla_decode, true},
      {"grouped_gemm/prefill", TableForm::grouped_prefill, Op::grouped_gemm, false},
      {"grouped_gemm/decode", TableForm::grouped_decode, Op::grouped_gemm, true},
      {"gdn/prefill", TableForm::linear_prefill, Op::linear_attention, false},
      {"gdn/decode", TableForm::linear_decode, Op::linear_attention, true},
  };
  const fs::path root = fs::is_directory(path / "bench_data") ? path / "bench_data" : path;
  std::vector<TableFile> files;
  for (const TreeBranch& branch : branches) list_branch(root, gpu, branch, files);
  return files;
}

/// What tables.toml says of each table: every key in one line, and the FLOP convention.
class Provenance {
 public:
  explicit Provenance(const fs::path& folder) {
    if (fs::is_regular_file(folder / "tables.toml")) document_ = read_toml(folder / "tables.toml");
  }
  void describe(TableFile& file) const {
    const Json* entry = document_.find(file.name);
    if (entry == nullptr || !entry->is_object()) return;
    for (const auto& [key, value] : entry->members()) {
      if (key == "flop" || key == "flop_convention") file.convention = convention(file, value);
      if (key == "includes") file.includes = parts_of(file, value);
      if (key == "engines") file.engines = texts_of(file, "engines", value);
      if (key == "answers") file.answers = yes_or_no(file, "answers", value);
      if (key == "measured") file.measured = yes_or_no(file, "measured", value);
      if (key == "stands_in") file.stands_in = stands_in(file, value);
      const std::string text = value.is_text() ? value.text() : dump_json(value);
      file.source += (file.source.empty() ? "" : ", ") + key + " " + text;
    }
    for (const char* key :
         {"kernel", "library", "timer", "warm_up", "repeats", "gpu", "driver", "clocks", "date"}) {
      if (entry->find(key) == nullptr)
        file.unsaid += (file.unsaid.empty() ? "" : ", ") + std::string(key);
    }
  }

 private:
  static std::vector<std::string> texts_of(const TableFile& file, const std::string& key,
                                           const Json& value) {
    if (value.is_text()) return {value.text()};
    std::vector<std::string> texts;
    bool right = value.is_array();
    for (const Json& each : right ? value.items() : std::vector<Json>()) {
      right = right && each.is_text();
      if (right) texts.push_back(each.text());
    }
    if (right) return texts;
    throw Error(
        at((file.path.parent_path() / "tables.toml").string(), value.line),
        file.name + ": " + key + ": expected a text or a list of texts, found " + dump_json(value));
  }
  static bool yes_or_no(const TableFile& file, const std::string& key, const Json& value) {
    if (value.is_boolean()) return value.boolean();
    throw Error(at((file.path.parent_path() / "tables.toml").string(), value.line),
                file.name + ": " + key + ": expected true or false, found " + dump_json(value));
  }
  static StandsIn stands_in(const TableFile& file, const Json& value) {
    for (std::size_t i = 0; i < stands_in_words.size(); ++i) {
      if (value.is_text() && value.text() == stands_in_words[i]) return static_cast<StandsIn>(i);
    }
    throw Error(at((file.path.parent_path() / "tables.toml").string(), value.line),
                file.name + ": stands_in: expected \"all\", \"format\" or \"none\", found " +
                    dump_json(value));
  }
  static std::vector<std::string> parts_of(const TableFile& file, const Json& value) {
    const std::vector<std::string> known(table_parts.begin(), table_parts.end());
    std::vector<std::string> parts = texts_of(file, "includes", value);
    for (const std::string& part : parts) {
      if (std::find(known.begin(), known.end(), part) != known.end()) continue;
      throw Error(at((file.path.parent_path() / "tables.toml").string(), value.line),
                  file.name + ": includes: " + unknown_name("part", part, known));
    }
    return parts;
  }
  static FlopConvention convention(const TableFile& file, const Json& value) {
    for (const auto known : {FlopConvention::gemm_2mkn, FlopConvention::attention_full,
                             FlopConvention::attention_causal_half, FlopConvention::none}) {
      if (value.is_text() && value.text() == name(known)) return known;
    }
    throw Error(at((file.path.parent_path() / "tables.toml").string(), value.line),
                file.name + ": unknown FLOP convention (known: 2mkn, full, causal_half, none)");
  }
  Json document_;
};

/// The op whose files are called like that: of several, the one with the longest name.
std::optional<Op> op_of_file(std::string_view stem) {
  std::optional<Op> found;
  std::size_t longest = 0;
  const auto ops = declared_ops();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string_view file = ops[i].file;
    if (file.size() <= longest || !stem.starts_with(file)) continue;
    const bool more = stem.size() > file.size() && stem[file.size()] == '_';
    const bool fits = more || (!ops[i].dtype_in_name && stem == file);
    if (fits) found = static_cast<Op>(i), longest = file.size();
  }
  return found;
}

/// What the name of a file says after that of its op: "_bf16", "_fp8_block_vllm", "_vllm".
struct NameEnd {
  std::string word;  // as it stands where a format is expected
  std::optional<Dtype> dtype;
  std::string engine;
};
NameEnd name_end(const OpDeclaration& op, std::string_view stem) {
  NameEnd end;
  std::string_view rest = stem.substr(op.file.size());
  if (!rest.empty()) rest.remove_prefix(1);
  end.word = rest;
  if (!op.dtype_in_name) {
    end.engine = rest;
    return end;
  }
  end.dtype = parse_dtype(rest);
  const std::size_t last = rest.rfind('_');
  if (end.dtype || last == std::string_view::npos) return end;
  end.dtype = parse_dtype(rest.substr(0, last));
  end.engine = rest.substr(last + 1);
  return end;
}

std::vector<TableFile> list_own(const fs::path& folder) {
  const Provenance provenance(folder);
  std::vector<TableFile> files;
  for (const fs::path& path : csv_files(folder)) {
    const std::string stem = path.stem().string();
    const std::optional<Op> op = op_of_file(stem);
    if (!op) continue;
    const OpDeclaration& declared = declaration_of(*op);
    TableFile file;
    file.name = stem;
    file.path = path;
    file.form = TableForm::own;
    file.op = *op;
    const NameEnd end = name_end(declared, stem);
    file.engine = end.engine;
    if (declared.dtype_in_name) {
      if (!end.dtype) {
        throw Error(path.string(), "unknown dtype '" + end.word +
                                       "' in the name of the table (its form: " +
                                       std::string(declared.file) + "_<dtype>[_<engine>].csv)");
      }
      file.dtype = *end.dtype;
    }
    if (!declared.variant.empty()) file.variant = declared.variant;
    provenance.describe(file);
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

std::vector<std::string> gpu_words(std::string_view text) {
  std::vector<std::string> result;
  bool inside = false;
  for (const char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter && !inside) result.emplace_back();
    if (letter) result.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    inside = letter;
  }
  return result;
}

bool same_gpu(std::string_view a, std::string_view b) {
  const auto x = gpu_words(a), y = gpu_words(b);
  return std::equal(
      x.begin(), x.begin() + static_cast<std::ptrdiff_t>(std::min(x.size(), y.size())), y.begin());
}

bool is_own_table(std::string_view stem) {
  const std::optional<Op> op = op_of_file(stem);
  if (!op) return false;
  const OpDeclaration& declared = declaration_of(*op);
  return !declared.dtype_in_name || name_end(declared, stem).dtype.has_value();
}

std::vector<TableFile> list_tables(const fs::path& path, Layout layout, const std::string& gpu) {
  if (!fs::is_directory(path)) throw Error(path.string(), "there is no such folder of tables");
  std::vector<TableFile> files;
  switch (layout) {
    case Layout::infersim:
    case Layout::blis:
      files = list_tree(path, gpu);
      break;
    case Layout::rooflua:
      files = list_own(path);
      break;
    case Layout::aic:
      files = published_tables().list(path, gpu).tables;
      break;
  }
  return files;
}

}  // namespace rooflua
