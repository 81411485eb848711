// Reads a model from scenarios/models/*.toml or a config.json: the file's keys tell which it is.

#include "base/error.h"
#include "base/fields.h"
#include "spec/hf/document.h"
#include "spec/hf/sampling.h"
#include "spec/hf_config.h"
#include "spec/model.h"
#include "spec/read_layers.h"

namespace rooflua {

namespace {

MixtureOfExperts experts_of(const Fields& fields) {
  MixtureOfExperts moe;
  moe.experts = fields.need_integer("experts");
  moe.experts_per_token = fields.need_integer("experts_per_token");
  moe.intermediate_size = fields.need_integer("intermediate_size");
  moe.shared_intermediate_size = fields.small_integer("shared_intermediate_size").value_or(0);
  moe.dense_layers = fields.small_integer("dense_layers").value_or(0);
  fields.finish();
  return moe;
}

LatentAttention latent_attention_of(const Fields& fields) {
  LatentAttention mla;
  mla.q_lora_rank = fields.small_integer("q_lora_rank").value_or(0);
  mla.kv_lora_rank = fields.need_integer("kv_lora_rank");
  mla.qk_nope_head_dim = fields.need_integer("qk_nope_head_dim");
  mla.qk_rope_head_dim = fields.need_integer("qk_rope_head_dim");
  mla.v_head_dim = fields.need_integer("v_head_dim");
  fields.finish();
  return mla;
}

HybridAttention hybrid_of(const Fields& fields) {
  HybridAttention hybrid;
  hybrid.full_attention_interval = fields.need_integer("full_attention_interval");
  hybrid.conv_kernel = fields.need_integer("conv_kernel");
  hybrid.key_heads = fields.need_integer("key_heads");
  hybrid.key_head_dim = fields.need_integer("key_head_dim");
  hybrid.value_heads = fields.need_integer("value_heads");
  hybrid.value_head_dim = fields.need_integer("value_head_dim");
  fields.finish();
  return hybrid;
}

void read_attention(Model& model, const Fields& fields) {
  model.heads = fields.need_integer("heads");
  model.kv_heads = fields.small_integer("kv_heads").value_or(model.heads);
  model.head_dim = fields.small_integer("head_dim")
                       .value_or(model.heads > 0 ? model.hidden_size / model.heads : 0);
  model.attention_bias = fields.boolean("attention_bias").value_or(false);
  model.attention_output_gate = fields.boolean("attention_output_gate").value_or(false);
  if (const auto mla = fields.table("mla")) {
    model.mla = latent_attention_of(*mla);
    model.head_dim = model.mla->qk_nope_head_dim + model.mla->qk_rope_head_dim;
    model.kv_heads = model.heads;
  }
  if (const auto hybrid = fields.table("hybrid")) model.hybrid = hybrid_of(*hybrid);
}

/// A note is a text, or {text, touches, beyond_tokens}.
ModelNote note_of(const Json& given, const Fields& fields) {
  if (given.is_text()) return {given.text()};
  const Fields own(given, fields.where("notes"));
  ModelNote note{own.need_text("text")};
  if (const auto touches = own.text("touches")) {
    const auto known = value_named(touched_words, *touches);
    if (!known)
      throw Error(own.where("touches"), unknown_name("word", *touches, names_of(touched_words)));
    note.touches = *known;
  }
  note.beyond_tokens = own.small_integer("beyond_tokens").value_or(0);
  own.finish();
  return note;
}

void read_sampling(Model& model, const Fields& fields) {
  const auto own = fields.table("sampling");
  if (!own) return;
  model.sampling = hf::sampling_of(*own);
  model.sampling->source = own->text("source").value_or("");
  own->finish();
}

void read_notes(Model& model, const Fields& fields) {
  const Json* notes = fields.find("notes");
  if (notes == nullptr) return;
  if (!notes->is_array()) throw Error(fields.where("notes"), "expected a list of notes");
  for (const Json& each : notes->items()) model.notes.push_back(note_of(each, fields));
}

Model model_from_table(const Fields& fields, const std::string& name, const std::string& origin) {
  Model model;
  model.name = fields.text("name").value_or(name);
  model.origin = origin;
  model.source = fields.text("source").value_or("");
  model.family = fields.text("family").value_or("");
  model.aliases = fields.texts("aliases");
  read_notes(model, fields);
  model.layers = fields.need_integer("layers");
  model.hidden_size = fields.need_integer("hidden_size");
  read_attention(model, fields);
  model.intermediate_size = fields.small_integer("intermediate_size").value_or(0);
  model.vocab_size = fields.need_integer("vocab_size");
  model.max_model_len = fields.small_integer("max_model_len").value_or(0);
  model.tied_embeddings = fields.boolean("tied_embeddings").value_or(false);
  model.gated_mlp = fields.boolean("gated_mlp").value_or(true);
  if (const auto dtype = fields.text("dtype"))
    model.dtype = require_dtype(*dtype, fields.where("dtype"));
  if (const auto dtype = fields.text("weight_dtype")) {
    model.weight_dtype = require_dtype(*dtype, fields.where("weight_dtype"));
  }
  if (const auto moe = fields.table("moe")) model.moe = experts_of(*moe);
  read_layer_kinds(model, fields);
  read_sampling(model, fields);
  fields.allow("alias_changes");  // read before this, for the name that was asked for
  fields.allow("published");  // published parameter counts, which only a test reads
  fields.finish();
  validate(model, origin);
  return model;
}

}  // namespace

Model model_from_document(const Json& document, const std::string& name,
                          const std::string& origin) {
  const Fields fields(document, origin);
  hf::refuse_other_files(document, origin);
  return hf::is_config(document) ? model_from_hf_config(document, name, origin)
                                 : model_from_table(fields, name, origin);
}

}  // namespace rooflua
