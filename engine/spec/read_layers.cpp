#include "spec/read_layers.h"

#include <algorithm>

#include "base/error.h"
#include "spec/layer_kinds.h"
#include "spec/ranges.h"

namespace rooflua {

namespace {

using Kind = AttentionKind;

template <class T, std::size_t n>
T need_word(const Fields& fields, std::string_view key, const Word<T> (&words)[n]) {
  const std::string text = fields.need_text(key);
  if (const auto found = value_named(words, text)) return *found;
  throw Error(fields.where(key), unknown_name("word", text, names_of(words)));
}

int figure(const Fields& fields, std::string_view key, int otherwise) {
  return fields.small_integer(key).value_or(otherwise);
}

// Attention ---------------------------------------------------------------------------------------

LatentAttention latent_of(const Fields& fields, const Model& model) {
  const LatentAttention outer = model.mla.value_or(LatentAttention{});
  LatentAttention mla;
  mla.q_lora_rank = figure(fields, "q_lora_rank", outer.q_lora_rank);
  mla.kv_lora_rank = figure(fields, "kv_lora_rank", outer.kv_lora_rank);
  mla.qk_nope_head_dim = figure(fields, "qk_nope_head_dim", outer.qk_nope_head_dim);
  mla.qk_rope_head_dim = figure(fields, "qk_rope_head_dim", outer.qk_rope_head_dim);
  mla.v_head_dim = figure(fields, "v_head_dim", outer.v_head_dim);
  return mla;
}

SparseIndex index_of(const Fields& fields) {
  SparseIndex index;
  index.heads = fields.need_integer("index_heads");
  index.head_dim = fields.need_integer("index_head_dim");
  index.topk = fields.need_integer("index_topk");
  index.block = figure(fields, "index_block", 1);
  index.own = fields.boolean("own_index").value_or(true);
  return index;
}

Compression compression_of(const Fields& fields) {
  Compression out;
  out.ratio = fields.need_integer("ratio");
  out.q_lora_rank = fields.need_integer("q_lora_rank");
  out.qk_rope_head_dim = fields.need_integer("qk_rope_head_dim");
  out.o_lora_rank = fields.need_integer("o_lora_rank");
  out.o_groups = fields.need_integer("o_groups");
  return out;
}

DeltaRule delta_of(const Fields& fields) {
  DeltaRule delta;
  const std::string rule = fields.text("rule").value_or("gdn");
  const std::vector<std::string> rules{"gdn", "kda"};
  if (rule != "gdn" && rule != "kda")
    throw Error(fields.where("rule"), unknown_name("rule", rule, rules));
  delta.per_channel = rule == "kda";
  delta.conv_kernel = fields.need_integer("conv_kernel");
  delta.key_heads = fields.need_integer("key_heads");
  delta.key_head_dim = fields.need_integer("key_head_dim");
  delta.value_heads = fields.need_integer("value_heads");
  delta.value_head_dim = fields.need_integer("value_head_dim");
  return delta;
}

Mamba2 mamba_of(const Fields& fields) {
  Mamba2 mamba;
  mamba.heads = fields.need_integer("heads");
  mamba.head_dim = fields.need_integer("head_dim");
  mamba.groups = fields.need_integer("groups");
  mamba.state_size = fields.need_integer("state_size");
  mamba.conv_kernel = fields.need_integer("conv_kernel");
  return mamba;
}

void read_heads(AttentionLayers& out, const Fields& fields, const Model& model) {
  out.heads = figure(fields, "heads", model.heads);
  out.kv_heads = figure(fields, "kv_heads", model.kv_heads);
  out.head_dim = figure(fields, "head_dim", model.head_dim);
  out.v_head_dim = figure(fields, "v_head_dim", out.head_dim);
  out.bias = fields.boolean("bias").value_or(model.attention_bias);
  out.output_gate = fields.boolean("output_gate").value_or(model.attention_output_gate);
  out.shared_key_value = fields.boolean("shared_key_value").value_or(false);
}

AttentionLayers attention_of(const Fields& fields, const Model& model) {
  AttentionLayers out;
  out.kind = need_word(fields, "kind", attention_words);
  out.layers = fields.need_integer("layers");
  if (out.kind == Kind::delta) out.delta = delta_of(fields);
  if (out.kind == Kind::mamba2) out.mamba = mamba_of(fields);
  if (!out.delta && !out.mamba) read_heads(out, fields, model);
  if (out.kind == Kind::window) out.window = fields.need_integer("window");
  if (out.kind == Kind::chunk) out.window = fields.need_integer("chunk");
  if (out.kind == Kind::latent || out.kind == Kind::latent_sparse)
    out.latent = latent_of(fields, model);
  if (out.kind == Kind::latent_sparse || out.kind == Kind::block_sparse)
    out.index = index_of(fields);
  if (out.kind == Kind::compressed) {
    out.compression = compression_of(fields);
    out.window = fields.need_integer("window");
    if (fields.has("index_heads")) out.index = index_of(fields);
  }
  fields.finish();
  return out;
}

// MLPs --------------------------------------------------------------------------------------------

MixtureOfExperts experts_of(const Fields& fields) {
  MixtureOfExperts moe;
  moe.experts = fields.need_integer("experts");
  moe.experts_per_token = fields.need_integer("experts_per_token");
  moe.intermediate_size = fields.need_integer("intermediate_size");
  moe.shared_intermediate_size = figure(fields, "shared_intermediate_size", 0);
  moe.latent_size = figure(fields, "latent_size", 0);
  return moe;
}

MlpLayers mlp_of(const Fields& fields, const Model& model) {
  MlpLayers out;
  out.kind = need_word(fields, "kind", mlp_words);
  out.layers = fields.need_integer("layers");
  out.gated = fields.boolean("gated").value_or(model.gated_mlp);
  if (out.kind == MlpKind::dense) {
    out.intermediate_size = figure(fields, "intermediate_size", model.intermediate_size);
  } else {
    out.moe = experts_of(fields);
  }
  if (out.kind == MlpKind::both)
    out.intermediate_size = fields.need_integer("dense_intermediate_size");
  fields.finish();
  return out;
}

template <class Read>
void read_list(const Fields& fields, std::string_view key, const Read& read) {
  const Json* list = fields.find(key);
  if (list == nullptr) return;
  const std::string where = fields.where(key);
  if (!list->is_array())
    throw Error(where, "expected a list of tables: [[" + std::string(key) + "]]");
  for (const Json& each : list->items()) read(Fields(each, where));
}

// Formats -----------------------------------------------------------------------------------------

StatedFormats formats_of(const Fields& fields) {
  StatedFormats out;
  for (std::size_t i = 0; i < weight_classes; ++i) {
    const std::string_view key = weight_class_words[i].name;
    if (const auto text = fields.text(key)) out[i] = require_dtype(*text, fields.where(key));
  }
  return out;
}

Release release_of(const Fields& fields, std::string_view name, const std::string& where) {
  Release release;
  release.name = require_dtype(name, where);
  release.source = fields.text("source").value_or("");
  release.weights = formats_of(fields);
  if (const auto kv = fields.text("kv")) release.kv = require_dtype(*kv, fields.where("kv"));
  fields.finish();
  return release;
}

void read_formats(Model& model, const Fields& fields) {
  if (const auto dtype = fields.text("kv_dtype"))
    model.kv_dtype = require_dtype(*dtype, fields.where("kv_dtype"));
  if (const auto weights = fields.table("weights")) {
    model.weights = formats_of(*weights);
    weights->finish();
  }
  if (const auto formats = fields.table("alias_formats")) {
    for (const Json::Member& each : formats->object().members()) {
      const Dtype format = require_dtype(formats->need_text(each.key), formats->where(each.key));
      model.alias_formats.emplace_back(each.key, format);
    }
    formats->finish();
  }
  if (const auto releases = fields.table("releases")) {
    for (const Json::Member& each : releases->object().members()) {
      model.releases.push_back(
          release_of(releases->need_table(each.key), each.key, releases->where(each.key)));
    }
  }
}

// Names -------------------------------------------------------------------------------------------

/// "window", and "window_2" for the next of that name.
template <class Kinds, class NameOf>
void name_kinds(Kinds& kinds, const NameOf& name_of) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string name(name_of(kinds[i]));
    const auto before = std::count_if(kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const auto& each) { return name_of(each) == name; });
    kinds[i].name = before == 0 ? name : name + "_" + std::to_string(before + 1);
  }
}

// Checks ------------------------------------------------------------------------------------------

struct KindCheck {
  std::string where;
  void range(const char* key, double value) const {
    check_range(std::string("model.") + key, value, where + "." + key);
  }
  void that(bool ok, const std::string& problem) const {
    if (!ok) throw Error(where, problem);
  }
};

void check_latent(const LatentAttention& mla, const KindCheck& check) {
  check.range("mla.q_lora_rank", mla.q_lora_rank);
  check.range("mla.kv_lora_rank", mla.kv_lora_rank);
  check.range("mla.qk_nope_head_dim", mla.qk_nope_head_dim);
  check.range("mla.qk_rope_head_dim", mla.qk_rope_head_dim);
  check.range("mla.v_head_dim", mla.v_head_dim);
}

void check_delta(const DeltaRule& delta, const KindCheck& check) {
  check.range("hybrid.conv_kernel", delta.conv_kernel);
  check.range("hybrid.key_heads", delta.key_heads);
  check.range("hybrid.key_head_dim", delta.key_head_dim);
  check.range("hybrid.value_heads", delta.value_heads);
  check.range("hybrid.value_head_dim", delta.value_head_dim);
}

void check_mamba(const Mamba2& mamba, const KindCheck& check) {
  check.range("mamba.heads", mamba.heads);
  check.range("mamba.head_dim", mamba.head_dim);
  check.range("mamba.groups", mamba.groups);
  check.range("mamba.state_size", mamba.state_size);
  check.range("hybrid.conv_kernel", mamba.conv_kernel);
}

void check_index(const SparseIndex& index, const KindCheck& check) {
  check.range("index.heads", index.heads);
  check.range("index.head_dim", index.head_dim);
  check.range("index.topk", index.topk);
  check.range("index.block", index.block);
}

void check_compression(const Compression& compression, const KindCheck& check) {
  check.range("compression.ratio", compression.ratio);
  check.range("mla.q_lora_rank", compression.q_lora_rank);
  check.range("mla.qk_rope_head_dim", compression.qk_rope_head_dim);
  check.range("mla.kv_lora_rank", compression.o_lora_rank);
  check.range("heads", compression.o_groups);
}

void check_attention(const AttentionLayers& each, const KindCheck& check) {
  check.range("layers", each.layers);
  if (each.delta) return check_delta(*each.delta, check);
  if (each.mamba) return check_mamba(*each.mamba, check);
  check.range("heads", each.heads);
  check.range("kv_heads", each.kv_heads);
  check.range("head_dim", each.head_dim);
  check.range("head_dim", each.v_head_dim);
  check.that(each.heads % each.kv_heads == 0, std::to_string(each.heads) +
                                                  " heads do not divide by " +
                                                  std::to_string(each.kv_heads) + " KV heads");
  const bool bounded =
      each.kind == Kind::window || each.kind == Kind::chunk || each.kind == Kind::compressed;
  if (bounded) check.range("window", each.window);
  if (each.latent) check_latent(*each.latent, check);
  if (each.index) check_index(*each.index, check);
  if (each.compression) check_compression(*each.compression, check);
}

void check_mlp(const MlpLayers& each, const KindCheck& check) {
  check.range("layers", each.layers);
  check.range("intermediate_size", each.intermediate_size);
  check.that(each.kind == MlpKind::moe || each.intermediate_size > 0,
             "intermediate_size: expected 1 or more for a dense MLP, found 0");
  if (!each.moe) return;
  check.range("moe.experts", each.moe->experts);
  check.range("moe.experts_per_token", each.moe->experts_per_token);
  check.range("moe.intermediate_size", each.moe->intermediate_size);
  check.range("moe.shared_intermediate_size", each.moe->shared_intermediate_size);
  check.range("moe.latent_size", each.moe->latent_size);
  check.that(each.moe->experts_per_token <= each.moe->experts,
             "experts_per_token: " + std::to_string(each.moe->experts_per_token) +
                 " is more than the " + std::to_string(each.moe->experts) + " experts there are");
}

VisionEncoder vision_of(const Fields& fields) {
  VisionEncoder out;
  out.parameters = fields.need_number("parameters");
  if (!(out.parameters > 0 && out.parameters < 1e12)) {
    throw Error(fields.where("parameters"),
                "expected above 0 to 1e12, found " + json_number(out.parameters));
  }
  out.hidden_size = fields.need_integer("hidden_size");
  out.intermediate_size = fields.need_integer("intermediate_size");
  out.patches_per_token = figure(fields, "patches_per_token", 1);
  out.image_tokens = figure(fields, "image_tokens", 0);
  fields.allow("source");
  fields.finish();
  return out;
}

template <class Kinds>
int layers_of(const Kinds& kinds) {
  double sum = 0;
  for (const auto& each : kinds) sum += each.layers;
  return static_cast<int>(std::min(sum, 1e9));
}

}  // namespace

void read_layer_kinds(Model& model, const Fields& fields) {
  read_list(fields, "attention",
            [&](const Fields& own) { model.attentions.push_back(attention_of(own, model)); });
  read_list(fields, "mlp", [&](const Fields& own) { model.mlps.push_back(mlp_of(own, model)); });
  model.qk_norm = fields.boolean("qk_norm").value_or(false);
  model.qk_norm_across_heads = fields.boolean("qk_norm_across_heads").value_or(false);
  model.mtp_layers = figure(fields, "mtp_layers", 0);
  if (const auto own = fields.table("vision")) model.vision = vision_of(*own);
  read_formats(model, fields);
  complete_layer_kinds(model);
}

void complete_layer_kinds(Model& model) {
  if (model.attentions.empty() && model.mlps.empty()) return;
  // One list without the other: the figures of the model describe the rest.
  model.attentions = attention_kinds(model);
  model.mlps = mlp_kinds(model);
  for (AttentionLayers& each : model.attentions) {
    if (!each.latent) continue;
    each.head_dim = each.latent->qk_nope_head_dim + each.latent->qk_rope_head_dim;
    each.v_head_dim = each.latent->v_head_dim;
    each.kv_heads = each.heads;
    if (model.mla) continue;
    model.mla = each.latent;
    model.head_dim = each.head_dim;
    model.kv_heads = each.kv_heads;
  }
  for (const MlpLayers& each : model.mlps) {
    if (each.moe && !model.moe) {
      model.moe = each.moe;
      model.moe->dense_layers = std::max(0, model.layers - model.moe_layers());
    }
    if (model.intermediate_size == 0) model.intermediate_size = each.intermediate_size;
  }
  name_kinds(model.attentions, [](const AttentionLayers& each) {
    return attention_words[static_cast<std::size_t>(each.kind)].name;
  });
  name_kinds(model.mlps, [](const MlpLayers& each) {
    return mlp_words[static_cast<std::size_t>(each.kind)].name;
  });
}

void validate_layer_kinds(const Model& model, const std::string& where) {
  if (model.attentions.empty()) return;
  for (const AttentionLayers& each : model.attentions)
    check_attention(each, {where + ": attention." + each.name});
  for (const MlpLayers& each : model.mlps) check_mlp(each, {where + ": mlp." + each.name});
  const int attending = layers_of(model.attentions), mlps = layers_of(model.mlps);
  const bool two_blocks = attending <= model.layers && mlps <= model.layers &&
                          attending + mlps + model.left_out_blocks == 2 * model.layers;
  if (!two_blocks && attending + mlps != model.layers) {
    throw Error(where + ": layers",
                std::to_string(model.layers) + " layers, but the kinds of attention add up to " +
                    std::to_string(attending) + " and those of MLPs to " + std::to_string(mlps) +
                    "; a layer has one of each, or, in every layer, one of either");
  }
  context_limits(model);
}

}  // namespace rooflua
