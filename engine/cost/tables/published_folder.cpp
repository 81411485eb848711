#include "cost/tables/published_folder.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/error.h"
#include "base/gzip.h"
#include "cost/tables/lines.h"
#include "cost/tables/published.h"
#include "cost/tables/published_table.h"

namespace rooflua {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Numbers inside names compare as numbers: "0.9.0" before "0.19.0".
bool older(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto number = [](const std::string& text, std::size_t& at) {
    std::size_t value = 0;
    while (at < text.size() && is_digit(text[at]))
      value = value * 10 + static_cast<std::size_t>(text[at++] - '0');
    return value;
  };
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::size_t x = number(a, i), y = number(b, j);
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

/// Where the name of a table stands in that of a file, as whole words.
std::size_t find_word(std::string_view stem, std::string_view word) {
  for (std::size_t at = stem.find(word); at != std::string_view::npos;
       at = stem.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || stem[at - 1] == '_';
    const bool ends =
        word.ends_with('_') || end == stem.size() || stem[end] == '_' || is_digit(stem[end]);
    if (starts && ends) return at;
  }
  return std::string_view::npos;
}

bool is_table(const fs::path& path) {
  return fs::path(plain_name(path)).extension() == ".csv";
}

struct Published {
  fs::path path;
  PublishedName name;
};

const PublishedRule* rule_of_file(const Published& file, const PublishedChoice& choice) {
  for (const PublishedRule& rule : published_rules()) {
    if (!rule.conditions.empty() || !agrees(rule.files, file.name.table) ||
        !agrees(rule.engines, file.name.engine) || !agrees(rule.versions, file.name.version) ||
        !agrees(rule.gpus, file.name.gpu)) {
      continue;
    }
    const bool asked = rule.verdict == PublishedVerdict::partial
                           ? choice.engine_version == file.name.version
                           : choice.all_rows;
    if (!asked) return &rule;
  }
  return nullptr;
}

bool keeps_every_version(const std::string& table) {
  for (const PublishedMap& map : published_maps()) {
    if (map.file == table) return map.every_version;
  }
  return false;
}

/// Files of one table and one engine: one version stays, or all where versions complement each
/// other.
void choose_versions(std::vector<Published>& files, const PublishedChoice& choice,
                     std::vector<FileLeftOut>& left_out) {
  std::set<std::string> engines_with_it, versions;
  for (const Published& file : files) {
    const bool library = file.name.engine.empty();
    versions.insert((library ? file.name.table : file.name.engine) + " " + file.name.version);
    if (file.name.version == choice.engine_version) engines_with_it.insert(file.name.engine);
  }
  if (!choice.engine_version.empty() && engines_with_it.empty()) {
    const std::vector<std::string> known(versions.begin(), versions.end());
    throw Error("--engine-version", unknown_name("version", choice.engine_version, known));
  }
  std::map<std::pair<std::string, std::string>, std::string> newest;
  for (const Published& file : files) {
    std::string& best = newest[{file.name.table, file.name.engine}];
    if (best.empty() || older(best, file.name.version)) best = file.name.version;
  }
  std::erase_if(files, [&](const Published& file) {
    const bool asked = engines_with_it.count(file.name.engine) > 0;
    const std::string& wanted =
        asked ? choice.engine_version : newest[{file.name.table, file.name.engine}];
    if (file.name.version == wanted || (!asked && keeps_every_version(file.name.table)))
      return false;
    const std::string what = file.name.engine.empty() ? file.name.table : file.name.engine;
    left_out.push_back({file.path, "another version: " + what + " " + wanted + " is taken"});
    return true;
  });
}

/// Whether the first line has a column, or all rows have the same value of it.
bool has_column(const fs::path& path, std::string_view column) {
  constexpr std::size_t a_line = 4096;
  const std::string start = read_text_start(path, a_line);
  LineReader lines(start);
  Line line;
  if (!lines.next(line)) return false;
  if (std::find(line.cells.begin(), line.cells.begin() + static_cast<std::ptrdiff_t>(line.count),
                column) != line.cells.begin() + static_cast<std::ptrdiff_t>(line.count)) {
    return true;
  }
  for (const auto& [name, value] : published_constants(path.parent_path(), plain_name(path))) {
    if (name == column) return true;
  }
  return false;
}

Op op_called(std::string_view name) {
  const auto ops = declared_ops();
  const auto found =
      std::find_if(ops.begin(), ops.end(), [&](const auto& op) { return op.name == name; });
  ROOFLUA_ASSERT(found != ops.end());
  return static_cast<Op>(found - ops.begin());
}

std::vector<std::string> spaced(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

TableFile table_file(const Published& from, const PublishedMap& map, const PublishedFormat& format,
                     const PublishedChoice& choice) {
  TableFile file;
  file.path = from.path;
  file.form = TableForm::published;
  file.op = op_called(map.op);
  file.dtype = format.dtype;
  file.published = &map;
  file.gpu = from.name.gpu;
  file.publisher = from.name.engine;
  file.version = from.name.version;
  file.engine = map.library.empty() || (map.file == "nccl" && !from.name.engine.empty())
                    ? from.name.engine
                    : std::string(map.library);
  file.all_rows = choice.all_rows;
  const OpDeclaration& op = declaration_of(file.op);
  file.name = op.file;
  const std::string_view word = format.ours.empty() ? name(format.dtype) : format.ours;
  if (op.dtype_in_name) file.name += "_" + std::string(word);
  if (!file.engine.empty()) file.name += "_" + file.engine;
  file.includes.assign(map.includes.begin(), map.includes.end());
  if (format.quantizes) file.includes.emplace_back("quantize");
  for (const SharedKernel& each : shared_kernels()) {
    if (agrees(each.table, file.name) && agrees(each.gpus, file.gpu))
      file.engines = spaced(each.engines);
  }
  return file;
}

/// Whether the rows of a file are added to those of another one that is there.
bool is_added(const Published& file, const std::vector<Published>& files) {
  return std::any_of(files.begin(), files.end(), [&](const Published& other) {
    return other.name.engine == file.name.engine && other.name.version == file.name.version &&
           std::any_of(published_maps().begin(), published_maps().end(), [&](const auto& map) {
             return map.file == other.name.table && map.plus_file == file.name.table;
           });
  });
}

void add_tables(const Published& file, const std::vector<Published>& files,
                const PublishedChoice& choice, PublishedFolder& folder) {
  for (const PublishedWithoutOp& each : published_without_op()) {
    if (each.file == file.name.table && !is_added(file, files))
      folder.left_out.push_back({file.path, std::string(each.reason)});
  }
  for (const PublishedMap& map : published_maps()) {
    if (map.file != file.name.table) continue;
    const bool windowed =
        std::any_of(map.columns.begin(), map.columns.end(), [&](const auto& each) {
          return each.use == PublishedUse::some && !has_column(file.path, each.name);
        });
    if (windowed) continue;
    fs::path plus;
    if (!map.plus_file.empty()) {
      const auto other = std::find_if(files.begin(), files.end(), [&](const Published& each) {
        return each.name.table == map.plus_file && each.name.engine == file.name.engine &&
               each.name.version == file.name.version;
      });
      if (other == files.end()) {
        folder.left_out.push_back(
            {file.path, "its rows need those of " + std::string(map.plus_file) +
                            " of the same engine and version, which is not there"});
        continue;
      }
      plus = other->path;
    }
    // Without the column all rows have the first format.
    const bool formats =
        std::none_of(map.columns.begin(), map.columns.end(), [&](const auto& each) {
          return each.use == PublishedUse::format && !has_column(file.path, each.name);
        });
    for (const PublishedFormat& format : map.formats.first(formats ? map.formats.size() : 1)) {
      folder.tables.push_back(table_file(file, map, format, choice));
      folder.tables.back().plus = plus;
    }
  }
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

std::optional<PublishedName> published_name(const fs::path& path) {
  const std::string stem = fs::path(plain_name(path)).stem().string();
  PublishedName name;
  std::size_t start = 0;
  const auto consider = [&](std::string_view word) {
    const std::size_t at =
        word.size() > name.table.size() ? find_word(stem, word) : std::string::npos;
    if (at != std::string::npos) name.table = word, start = at;
  };
  for (const PublishedMap& map : published_maps()) consider(map.file);
  for (const PublishedWithoutOp& each : published_without_op()) consider(each.file);
  if (name.table.empty()) return std::nullopt;
  name.gpu = stem.substr(0, start > 0 ? start - 1 : 0);
  std::string rest = stem.substr(start + name.table.size());
  if (rest.starts_with('_')) rest.erase(0, 1);
  for (const PublishedEngine& engine : published_engines()) {
    if (!rest.starts_with(engine.name)) continue;
    name.engine = engine.name;
    rest.erase(0, engine.name.size());
  }
  name.version = rest;
  return name;
}

PublishedFolder published_folder(const fs::path& path, const std::string& gpu,
                                 const PublishedChoice& choice) {
  PublishedFolder folder;
  std::vector<Published> files;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(path)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  std::string gpu_found;
  for (const fs::path& entry : entries) {
    const bool parquet = entry.extension() == ".parquet";
    const std::optional<PublishedName> name = published_name(entry);
    if ((!is_table(entry) && !parquet) || (name && !name->gpu.empty() && !same_gpu(name->gpu, gpu)))
      continue;
    if (parquet) {
      folder.left_out.push_back({entry, "a Parquet file: the CSV form of it is read"});
    } else if (!name) {
      if (!gpu.empty() && same_gpu(entry.stem().string().substr(0, gpu.size()), gpu))
        folder.left_out.push_back({entry, "no published table is called like that"});
    } else {
      if (!name->gpu.empty() && !gpu_found.empty() && name->gpu != gpu_found) {
        throw Error(path.string(), "holds tables of several GPUs (" + gpu_found + ", " + name->gpu +
                                       "): say which with gpu");
      }
      if (!name->gpu.empty()) gpu_found = name->gpu;
      files.push_back({entry, *name});
    }
  }
  if (files.empty() && !folder.left_out.empty() &&
      folder.left_out.front().path.extension() == ".parquet") {
    throw Error(folder.left_out.front().path.string(),
                "is a Parquet file, which is not read; export it as CSV with the same columns (" +
                    folder.left_out.front().path.stem().string() + ".csv or .csv.gz)");
  }
  std::erase_if(files, [&](const Published& file) {
    const PublishedRule* rule = rule_of_file(file, choice);
    if (rule != nullptr) folder.left_out.push_back({file.path, std::string(rule->reason)});
    return rule != nullptr;
  });
  choose_versions(files, choice, folder.left_out);
  for (const Published& file : files) add_tables(file, files, choice, folder);
  std::stable_sort(folder.tables.begin(), folder.tables.end(),
                   [](const TableFile& a, const TableFile& b) { return a.name < b.name; });
  std::sort(folder.left_out.begin(), folder.left_out.end(),
            [](const FileLeftOut& a, const FileLeftOut& b) { return a.path < b.path; });
  return folder;
}

std::vector<std::string> published_gpus(const fs::path& folder) {
  std::set<std::string> gpus;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool known = is_table(entry.path()) || entry.path().extension() == ".parquet";
    const auto name = known ? published_name(entry.path()) : std::nullopt;
    if (name) gpus.insert(name->gpu);
  }
  return {gpus.begin(), gpus.end()};
}

}  // namespace rooflua
