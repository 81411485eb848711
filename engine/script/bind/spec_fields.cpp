#include "script/bind/spec_fields.h"

#include "spec/figures/hardware.h"
#include "spec/layer_kinds.h"

namespace rooflua::script {

namespace {

Json dtype_text(Dtype dtype) {
  return Json(name(dtype));
}

Json fields_of(const MixtureOfExperts& moe) {
  Json out = Json::object();
  out["experts"] = moe.experts;
  out["experts_per_token"] = moe.experts_per_token;
  out["intermediate_size"] = moe.intermediate_size;
  out["shared_intermediate_size"] = moe.shared_intermediate_size;
  out["dense_layers"] = moe.dense_layers;
  if (moe.latent_size > 0) out["latent_size"] = moe.latent_size;
  return out;
}

Json fields_of(const LatentAttention& mla) {
  Json out = Json::object();
  out["q_lora_rank"] = mla.q_lora_rank;
  out["kv_lora_rank"] = mla.kv_lora_rank;
  out["qk_nope_head_dim"] = mla.qk_nope_head_dim;
  out["qk_rope_head_dim"] = mla.qk_rope_head_dim;
  out["v_head_dim"] = mla.v_head_dim;
  return out;
}

Json fields_of(const HybridAttention& hybrid) {
  Json out = Json::object();
  out["full_attention_interval"] = hybrid.full_attention_interval;
  out["conv_kernel"] = hybrid.conv_kernel;
  out["key_heads"] = hybrid.key_heads;
  out["key_head_dim"] = hybrid.key_head_dim;
  out["value_heads"] = hybrid.value_heads;
  out["value_head_dim"] = hybrid.value_head_dim;
  return out;
}

Json fields_of(const std::vector<ModelNote>& notes) {
  Json out = Json::array();
  for (const ModelNote& note : notes) {
    Json entry = Json::object();
    entry["text"] = note.text;
    entry["touches"] = touched_words[static_cast<std::size_t>(note.touches)].name;
    entry["beyond_tokens"] = note.beyond_tokens;
    out.push_back(std::move(entry));
  }
  return out;
}

Json fields_of(const Sampling& sampling) {
  Json out = Json::object();
  out["temperature"] = sampling.temperature;
  out["top_p"] = sampling.top_p;
  out["top_k"] = sampling.top_k;
  out["min_p"] = sampling.min_p;
  out["repetition_penalty"] = sampling.repetition_penalty;
  out["sorts"] = sampling.sorts();
  out["source"] = sampling.source;
  return out;
}

Json fields_of(const VisionEncoder& vision) {
  Json out = Json::object();
  out["parameters"] = vision.parameters;
  out["hidden_size"] = vision.hidden_size;
  out["intermediate_size"] = vision.intermediate_size;
  out["patches_per_token"] = vision.patches_per_token;
  out["image_tokens"] = vision.image_tokens;
  return out;
}

Json fields_of(const SparseIndex& index) {
  Json out = Json::object();
  out["heads"] = index.heads;
  out["head_dim"] = index.head_dim;
  out["topk"] = index.topk;
  out["block"] = index.block;
  out["own"] = index.own;
  return out;
}

Json fields_of(const Compression& compression) {
  Json out = Json::object();
  out["ratio"] = compression.ratio;
  out["q_lora_rank"] = compression.q_lora_rank;
  out["qk_rope_head_dim"] = compression.qk_rope_head_dim;
  out["o_lora_rank"] = compression.o_lora_rank;
  out["o_groups"] = compression.o_groups;
  return out;
}

Json fields_of(const DeltaRule& delta) {
  Json out = Json::object();
  out["rule"] = delta.per_channel ? "kda" : "gdn";
  out["conv_kernel"] = delta.conv_kernel;
  out["key_heads"] = delta.key_heads;
  out["key_head_dim"] = delta.key_head_dim;
  out["value_heads"] = delta.value_heads;
  out["value_head_dim"] = delta.value_head_dim;
  return out;
}

Json fields_of(const Mamba2& mamba) {
  Json out = Json::object();
  out["heads"] = mamba.heads;
  out["head_dim"] = mamba.head_dim;
  out["groups"] = mamba.groups;
  out["state_size"] = mamba.state_size;
  out["conv_kernel"] = mamba.conv_kernel;
  return out;
}

Json fields_of(const AttentionLayers& each) {
  Json out = Json::object();
  out["kind"] = attention_words[static_cast<std::size_t>(each.kind)].name;
  out["name"] = each.name;
  out["layers"] = each.layers;
  if (each.heads > 0) {
    out["heads"] = each.heads;
    out["kv_heads"] = each.kv_heads;
    out["head_dim"] = each.head_dim;
    out["v_head_dim"] = each.v_head_dim;
    out["output_gate"] = each.output_gate;
  }
  if (each.window > 0) out["window"] = each.window;
  if (each.latent) out["latent"] = fields_of(*each.latent);
  if (each.index) out["index"] = fields_of(*each.index);
  if (each.compression) out["compression"] = fields_of(*each.compression);
  if (each.delta) out["delta"] = fields_of(*each.delta);
  if (each.mamba) out["mamba"] = fields_of(*each.mamba);
  return out;
}

Json fields_of(const MlpLayers& each) {
  Json out = Json::object();
  out["kind"] = mlp_words[static_cast<std::size_t>(each.kind)].name;
  out["name"] = each.name;
  out["layers"] = each.layers;
  out["intermediate_size"] = each.intermediate_size;
  out["gated"] = each.gated;
  if (each.moe) out["moe"] = fields_of(*each.moe);
  return out;
}

template <class Kinds>
Json listed(const Kinds& kinds) {
  Json out = Json::array();
  for (const auto& each : kinds) out.push_back(fields_of(each));
  return out;
}

Json fields_of(const WeightFormats& formats) {
  Json out = Json::object();
  for (const auto& word : weight_class_words) out[word.name] = dtype_text(formats[word.value]);
  return out;
}

}  // namespace

Json fields_of(const Model& model) {
  Json out = Json::object();
  out["name"] = model.name;
  out["origin"] = model.origin;
  out["family"] = model.family;
  out["layers"] = model.layers;
  out["hidden_size"] = model.hidden_size;
  out["heads"] = model.heads;
  out["kv_heads"] = model.kv_heads;
  out["head_dim"] = model.head_dim;
  out["intermediate_size"] = model.intermediate_size;
  out["vocab_size"] = model.vocab_size;
  out["max_model_len"] = model.max_model_len;
  out["tied_embeddings"] = model.tied_embeddings;
  out["attention_bias"] = model.attention_bias;
  out["gated_mlp"] = model.gated_mlp;
  out["dtype"] = dtype_text(model.dtype);
  out["weight_dtype"] = dtype_text(model.weight_dtype.value_or(model.dtype));
  out["full_attention_layers"] = model.full_attention_layers();
  out["moe_layers"] = model.moe_layers();
  out["notes"] = fields_of(model.notes);
  out["attention"] = listed(attention_kinds(model));
  out["mlp"] = listed(mlp_kinds(model));
  out["uniform"] = model.attentions.empty();
  out["mtp_layers"] = model.mtp_layers;
  out["asked_format"] = model.asked_format ? dtype_text(*model.asked_format) : Json("");
  const ContextLimits bounds = context_limits(model);
  out["context_caps"] = Json::array();
  for (const int cap : bounds.caps) out["context_caps"].push_back(cap);
  out["context_chunk"] = bounds.chunk;
  if (model.moe) out["moe"] = fields_of(*model.moe);
  if (model.mla) out["mla"] = fields_of(*model.mla);
  if (model.hybrid) out["hybrid"] = fields_of(*model.hybrid);
  if (model.sampling) out["sampling"] = fields_of(*model.sampling);
  if (model.vision) out["vision"] = fields_of(*model.vision);
  return out;
}

Json fields_of(const Hardware& hardware) {
  Json out = figures_json(hardware);
  for (const HardwareFigure& each : hardware_figures()) {
    if (each.get != nullptr) out[each.name] = each.get(hardware);
  }
  return out;
}

Json fields_of(const Deployment& deployment) {
  Json out = figures_json(deployment.options);
  for (Json::Member& each : Json::Object(figures_json(deployment).members()))
    out[each.key] = std::move(each.value);
  Json stages = Json::array();
  for (std::size_t s = 0; s < deployment.stage_layers.size(); ++s) {
    Json stage = Json::object();
    stage["layers"] = deployment.stage_layers[s];
    stage["share"] = deployment.stage_shares[s];
    if (s > 0) stage["send_s_per_token"] = deployment.stage_seconds_per_token[s - 1];
    stages.push_back(stage);
  }
  out["stages"] = stages;
  out["formats"] = fields_of(deployment.formats);
  return out;
}

}  // namespace rooflua::script
