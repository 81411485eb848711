// Reads a model from scenarios/models/*.toml or a config.json: the file's keys tell which it is.

#include "base/error.h"
#include "base/fields.h"
#include "spec/figures/model.h"
#include "spec/hf/document.h"
#include "spec/hf/tensors.h"
#include "spec/hf_config.h"
#include "spec/read_layers.h"

namespace rooflua {

namespace {

/// A note is a text, or a table.
void read_notes(Model& model, const Fields& fields) {
  const Json* notes = fields.find("notes");
  if (notes == nullptr) return;
  if (!notes->is_array()) throw Error(fields.where("notes"), "expected a list of notes");
  for (const Json& each : notes->items()) {
    ModelNote& note = model.notes.emplace_back();
    if (each.is_text()) {
      note.text = each.text();
      continue;
    }
    const Fields own(each, fields.where("notes"));
    read_figures(own, note);
    own.finish();
  }
}

Model model_from_table(const Fields& fields, const std::string& name, const std::string& origin,
                       const declared::Folders& folders) {
  ModelDraft model;
  model.folders = folders;
  model.name = name;
  model.origin = origin;
  read_figures<Model>(fields, model);
  read_figures<ShortForm>(fields, model);
  if (!fields.has("kv_heads") || model.mla) model.kv_heads = model.heads;
  if (!fields.has("head_dim")) model.head_dim = model.hidden_size / model.heads;
  if (model.mla) model.head_dim = model.mla->qk_nope_head_dim + model.mla->qk_rope_head_dim;
  read_notes(model, fields);
  read_layer_kinds(model, fields);
  fields.allow("alias_changes");  // read before this, for the name that was asked for
  fields.allow("published");      // published parameter counts, which only a test reads
  fields.finish();
  complete_layer_kinds(model);
  validate(model, origin);
  return model;
}

}  // namespace

Model model_from_document(const Json& document, const std::string& name, const std::string& origin,
                          const declared::Folders& folders) {
  const Fields fields(document, origin);
  hf::refuse_other_files(document, origin);
  if (!hf::is_config(document)) return model_from_table(fields, name, origin, folders);
  Model model = model_from_hf_config(document, name, origin, folders);
  const std::filesystem::path file(origin);
  std::error_code ignored;
  if (file.filename() == "config.json" && std::filesystem::is_regular_file(file, ignored))
    hf::note_weight_files(model, file.parent_path());
  return model;
}

}  // namespace rooflua
