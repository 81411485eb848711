#include "spec/model.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/toml.h"
#include "spec/catalogue.h"
#include "spec/declared/read_kind.h"
#include "spec/hf/document.h"

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

/// Keys of a document replaced by those of `changes`; false leaves out a table or a list.
Json::Object changed(const Json& document, const Json& changes) {
  Json::Object merged;
  for (const Json::Member& member : document.members()) {
    if (changes.find(member.key) == nullptr) merged.push_back(member);
  }
  for (const Json::Member& member : changes.members()) {
    const Json* before = document.find(member.key);
    const bool left_out = before != nullptr && (before->is_object() || before->is_array()) &&
                          member.value.is_boolean() && !member.value.boolean();
    if (!left_out) merged.push_back(member);
  }
  return merged;
}

bool is_named(const std::string& alias, const std::string& asked) {
  return folded(alias) == folded(asked) ||
         folded(without_organisation(alias)) == folded(without_organisation(asked));
}

/// What `alias_changes` of a file says of the name that was asked for, in place of the file's own,
/// with a note that names the keys.
void take_alias_changes(Description& read) {
  const Json* all = read.document.find("alias_changes");
  if (all == nullptr || !all->is_object() || read.asked.empty()) return;
  for (const Json::Member& each : all->members()) {
    if (!is_named(each.key, read.asked) || !each.value.is_object()) continue;
    std::string keys;
    for (const Json::Member& change : each.value.members())
      if (change.key != "notes") keys += (keys.empty() ? "" : ", ") + change.key;
    const Json* own = each.value.find("notes");
    const Json* before = own != nullptr ? own : read.document.find("notes");
    Json notes = before != nullptr && before->is_array() ? *before : Json::array();
    notes.push_back(Json(keys + " as " + each.key + " is published, the name that was asked for"));
    Json document(changed(read.document, each.value));
    document["notes"] = std::move(notes);
    read.document = std::move(document);
    return;
  }
}

using Folders = std::vector<fs::path>;

/// Where files of kinds of layers are looked for.
Folders layer_folders(const std::string& origin, const fs::path& home, const Folders& near) {
  Folders out;
  std::error_code ignored;
  if (fs::is_regular_file(origin, ignored))
    out.push_back(fs::path(origin).parent_path() / "layers");
  for (const fs::path& each : near) out.push_back(each / "layers");
  if (!home.empty()) out.push_back(home / "scripts" / "layers");
  return out;
}

Model model_of(const Description& read, const fs::path& home = {}, const Folders& near = {}) {
  Model model = model_from_document(read.document, read.name, read.origin,
                                    layer_folders(read.origin, home, near));
  model.asked_format = format_under(model, read.asked);
  return model;
}

fs::path models_of(const fs::path& home) {
  return home / "scenarios" / "models";
}

fs::path shipped_file(const std::string& name, const fs::path& home) {
  return models_of(home) / (name + ".toml");
}

/// Every shipped model with its aliases.
std::vector<CatalogueEntry> shipped_names(const fs::path& home) {
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : model_names(home)) {
    const fs::path file = shipped_file(name, home);
    entries.push_back({name, stated_aliases(file), file.string()});
  }
  return entries;
}

/// Refuses files of weights and of tokens, which lie beside a config.json.
void refuse_weights(const fs::path& path) {
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {".gguf", "a GGUF file"},      {".safetensors", "a file of weights"},
      {".bin", "a file of weights"}, {".pt", "a file of weights"},
      {".pth", "a file of weights"}, {".model", "a tokenizer"}};
  for (const auto& [ending, what] : kinds) {
    if (path.extension() == ending)
      throw Error(path.string(), "is " + std::string(what) +
                                     "; a model is read from its config.json, or from a .toml");
  }
}

Description describe(const std::string& name_or_path, const fs::path& home) {
  const fs::path path = name_or_path;
  refuse_weights(path);
  if (path.extension() == ".json") return read_config_json(path);
  if (path.extension() == ".toml") return read_own_file(path);
  if (fs::exists(path / "config.json")) return read_config_json(path / "config.json");
  const std::vector<std::string> names = model_names(home);
  if (std::find(names.begin(), names.end(), name_or_path) != names.end())
    return read_own_file(shipped_file(name_or_path, home));
  const std::string found = find_by_name("model", name_or_path, shipped_names(home));
  Description read = read_own_file(shipped_file(found, home), name_or_path);
  take_alias_changes(read);
  return read;
}

/// Whether two models have the same layers, widths and vocabulary.
bool same_shapes(const Model& a, const Model& b) {
  return a.layers == b.layers && a.hidden_size == b.hidden_size && a.vocab_size == b.vocab_size &&
         a.parameters() == b.parameters() && a.active_parameters() == b.active_parameters() &&
         a.kv_bytes_per_token(Dtype::bf16) == b.kv_bytes_per_token(Dtype::bf16) &&
         a.kv_bounded_bytes_per_token(Dtype::bf16) == b.kv_bounded_bytes_per_token(Dtype::bf16);
}

/// Refuses a file of the user that claims a name of a shipped model with other shapes.
void check_aliases(const Model& model, const fs::path& home) {
  if (model.aliases.empty() || fs::path(model.origin).parent_path() == models_of(home)) return;
  const std::vector<CatalogueEntry> shipped = shipped_names(home);
  for (const std::string& alias : model.aliases) {
    if (claims(alias, shipped).empty()) continue;
    const Model other = load_model(alias, home);
    if (same_shapes(model, other)) continue;
    throw Error(model.origin + ": aliases",
                "'" + alias + "' is a name of " + other.origin +
                    ", which has other shapes; leave the alias out, or give it another name");
  }
}

/// Tells that a config.json names a shipped model as its origin and has other shapes: a pruned or
/// extended model, or a copy that was edited.
void note_origin(Model& model, const Json& document, const fs::path& home) {
  const Json* named = document.find("_name_or_path");
  if (named == nullptr || !named->is_text()) return;
  if (claims(named->text(), shipped_names(home)).size() != 1) return;
  const Model other = load_model(named->text(), home);
  if (same_shapes(model, other)) return;
  model.notes.push_back({"_name_or_path is " + named->text() + ", which is " + other.origin +
                         " with other shapes; those of this file are taken"});
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

Model load_model(const std::string& name_or_path, const fs::path& home, const Folders& near) {
  const Description read = describe(name_or_path, home);
  Model model = model_of(read, home, near);
  check_aliases(model, home);
  note_origin(model, read.document, home);
  return model;
}

Model load_model_table(const Json& document, const std::string& origin, const fs::path& home,
                       const Folders& near) {
  Model model = model_from_document(document, "model", origin, layer_folders("", home, near));
  check_aliases(model, home);
  return model;
}

void check_model_names(const fs::path& home) {
  check_claims("model", shipped_names(home));
}

Model load_changed_model(const Json& changes, const std::string& origin, const fs::path& home,
                         const Folders& near) {
  const Fields fields(changes, origin);
  Description base = describe(fields.need_text("from"), home);
  base.name = base.document.find("name") == nullptr ? base.name + "+" : base.name;
  if (hf::is_config(base.document)) base.document = hf::language_model(base.document, base.origin);
  Json::Object own;  // without what belongs to the file, and without the word `from`
  for (const Json::Member& member : base.document.members()) {
    const bool others = member.key == "aliases" || member.key == "published";
    const bool replaced = (member.key == "hybrid" && changes.find("attention") != nullptr) ||
                          (member.key == "moe" && changes.find("mlp") != nullptr);
    if (!others && !replaced) own.push_back(member);
  }
  Json::Object more;
  for (const Json::Member& member : changes.members()) {
    if (member.key != "from") more.push_back(member);
  }
  Model model = model_from_document(Json(changed(Json(std::move(own)), Json(std::move(more)))),
                                    base.name, origin, layer_folders(base.origin, home, near));
  check_aliases(model, home);
  model.asked_format = format_under(model, base.asked);
  return model;
}

namespace {

/// Files of kinds of layers in a folder's layers/, any of which a model beside it may name.
std::vector<fs::path> layer_files(const fs::path& folder) {
  std::vector<fs::path> out;
  const Folders folders = {folder / "layers"};
  for (const char* of : {"attention", "mlp"})
    for (const std::string& name : declared::names_in(folders, of))
      out.push_back(declared::file_of(folders, of, name));
  return out;
}

}  // namespace

std::vector<fs::path> model_files(const fs::path& path) {
  if (path.extension() == ".toml") {
    std::vector<fs::path> files = layer_files(path.parent_path());
    files.insert(files.begin(), path);
    return files;
  }
  if (path.extension() == ".json" && path.filename() != "config.json") return {path};
  const bool is_folder = path.extension() != ".json";
  const fs::path config = is_folder ? path / "config.json" : path;
  if (is_folder && !fs::exists(config)) return {};
  std::vector<fs::path> files{config};
  for (const auto& [file, key] : beside) files.push_back(config.parent_path() / file);
  return files;
}

}  // namespace rooflua
