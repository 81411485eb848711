#include "spec/model.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
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

/// What a model is read from, what it is called if that does not say, and how it was asked for.
struct Description {
  Json document;
  std::string name, origin;
  std::string asked;  // a name or alias; empty for a file
};

/// Files beside a config.json of that very name, and the keys under which they join its document.
constexpr std::pair<const char*, const char*> beside[] = {
    {"hf_quant_config.json", "hf_quant_config"}, {"generation_config.json", "generation_config"}};

Description read_config_json(const fs::path& path) {
  if (path.filename() != "config.json")
    return {read_config(path), path.stem().string(), path.string(), ""};
  Json document = read_config(path);
  for (const auto& [file, key] : beside) {
    if (fs::exists(path.parent_path() / file))
      document[key] = read_config(path.parent_path() / file);
  }
  return {std::move(document), fs::absolute(path).parent_path().filename().string(), path.string(),
          ""};
}

Description read_own_file(const fs::path& path, const std::string& asked = "") {
  return {read_toml(path), path.stem().string(), path.string(), asked};
}

/// The format that is published under a name, with or without its organisation.
std::optional<Dtype> format_under(const Model& model, const std::string& name) {
  for (const auto& [alias, format] : model.alias_formats)
    if (folded(alias) == folded(name)) return format;
  for (const auto& [alias, format] : model.alias_formats)
    if (folded(without_organisation(alias)) == folded(without_organisation(name))) return format;
  return std::nullopt;
}

Model model_of(const Description& read) {
  Model model = model_from_document(read.document, read.name, read.origin);
  model.asked_format = format_under(model, read.asked);
  return model;
}

Description describe(const std::string& name_or_path, const fs::path& home) {
  const fs::path path = name_or_path;
  if (path.extension() == ".json") return read_config_json(path);
  if (path.extension() == ".toml") return read_own_file(path);
  if (fs::exists(path / "config.json")) return read_config_json(path / "config.json");
  const auto file_of = [&](const std::string& name) {
    return home / "scenarios" / "models" / (name + ".toml");
  };
  const std::vector<std::string> names = model_names(home);
  if (std::find(names.begin(), names.end(), name_or_path) != names.end())
    return read_own_file(file_of(name_or_path));
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : names)
    entries.push_back({name, model_from_toml(file_of(name)).aliases});
  return read_own_file(file_of(find_by_name("model", name_or_path, entries)), name_or_path);
}

}  // namespace

Model model_from_config_json(const fs::path& path) {
  return model_of(read_config_json(path));
}

Model model_from_toml(const fs::path& path) {
  return model_of(read_own_file(path));
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
  return model_of(describe(name_or_path, home));
}

Model load_changed_model(const Json& changes, const std::string& origin, const fs::path& home) {
  const Fields fields(changes, origin);
  Description base = describe(fields.need_text("from"), home);
  base.name = base.document.find("name") == nullptr ? base.name + "+" : base.name;
  Json::Object merged;
  for (const Json::Member& member : base.document.members()) {
    const bool others = member.key == "aliases" || member.key == "published";
    if (!others && changes.find(member.key) == nullptr) merged.push_back(member);
  }
  for (const Json::Member& member : changes.members()) {
    const Json* before = base.document.find(member.key);
    const bool left_out = before != nullptr && (before->is_object() || before->is_array()) &&
                          member.value.is_boolean() && !member.value.boolean();
    if (member.key != "from" && !left_out) merged.push_back(member);
  }
  Model model = model_from_document(Json(std::move(merged)), base.name, origin);
  model.asked_format = format_under(model, base.asked);
  return model;
}

std::vector<fs::path> model_files(const fs::path& path) {
  if (path.extension() == ".toml") return {path};
  if (path.extension() == ".json" && path.filename() != "config.json") return {path};
  const bool is_folder = path.extension() != ".json";
  const fs::path config = is_folder ? path / "config.json" : path;
  if (is_folder && !fs::exists(config)) return {};
  std::vector<fs::path> files{config};
  for (const auto& [file, key] : beside) files.push_back(config.parent_path() / file);
  return files;
}

}  // namespace rooflua
