#include "spec/model.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/toml.h"
#include "spec/catalogue.h"

namespace rooflua {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view not_finite[] = {"-Infinity", "Infinity", "NaN"};

/// Python writes these words outside of texts, and JSON does not have them: null.
std::string with_finite_numbers(const std::string& text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    const std::string_view rest = std::string_view(text).substr(i);
    const auto word =
        std::find_if(std::begin(not_finite), std::end(not_finite),
                     [&](std::string_view each) { return !quoted && rest.starts_with(each); });
    if (word == std::end(not_finite)) {
      out += text[i];
    } else {
      out += "null";
      i += word->size() - 1;
    }
  }
  return out;
}

Json read_config(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const bool finite =
      text.find("Infinity") == std::string::npos && text.find("NaN") == std::string::npos;
  return finite ? read_json(path) : parse_json(with_finite_numbers(text), path.string());
}

}  // namespace

Model model_from_config_json(const fs::path& path) {
  const bool anonymous = path.filename() == "config.json";
  const fs::path named = anonymous ? fs::absolute(path).parent_path() : path;
  Json document = read_config(path);
  const fs::path formats = path.parent_path() / "hf_quant_config.json";
  if (anonymous && fs::exists(formats)) document["hf_quant_config"] = read_json(formats);
  return model_from_document(
      document, anonymous ? named.filename().string() : named.stem().string(), path.string());
}

Model model_from_toml(const fs::path& path) {
  return model_from_document(read_toml(path), path.stem().string(), path.string());
}

std::vector<std::string> model_names(const fs::path& home) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(home / "scenarios" / "models", ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Model load_model(const std::string& name_or_path, const fs::path& home) {
  const fs::path path = name_or_path;
  if (path.extension() == ".json") return model_from_config_json(path);
  if (path.extension() == ".toml") return model_from_toml(path);
  if (fs::exists(path / "config.json")) return model_from_config_json(path / "config.json");
  const auto file_of = [&](const std::string& name) {
    return home / "scenarios" / "models" / (name + ".toml");
  };
  const std::vector<std::string> names = model_names(home);
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return model_from_toml(file_of(name_or_path));
  }
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : names)
    entries.push_back({name, model_from_toml(file_of(name)).aliases});
  return model_from_toml(file_of(find_by_name("model", name_or_path, entries)));
}

}  // namespace rooflua
