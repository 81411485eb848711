// What one rank holds, as rules of engines see it.

#include <numeric>

#include "script/bind/spec_fields.h"

namespace rooflua::script {

namespace {

Json fields_of(const WeightParts& parts) {
  const double counts[] = {parts.attention,        parts.attention_output, parts.index,
                           parts.linear_attention, parts.dense_mlp,        parts.routed_experts,
                           parts.shared_experts,   parts.router,           parts.lm_head,
                           parts.embedding};
  static_assert(std::size(counts) == weight_classes);
  Json out = Json::object();
  for (std::size_t i = 0; i < weight_classes; ++i) out[weight_class_words[i].name] = counts[i];
  out["small"] = parts.small;
  return out;
}

Json fields_of(const KindCounts& each) {
  Json out = Json::object();
  out["kind"] = each.kind;
  out["name"] = each.name;
  out["layers"] = each.layers;
  out["kv_heads"] = each.kv_heads;
  out["growing_bytes"] = each.growing_bytes;
  out["plain_bytes"] = each.plain_bytes;
  out["bounded_bytes"] = each.bounded_bytes;
  out["window"] = each.window;
  out["convolution_elements"] = each.convolution_elements;
  out["state_elements"] = each.state_elements;
  out["inputs"] = each.inputs;
  return out;
}

}  // namespace

Json fields_of(const RankCounts& counts) {
  Json out = Json::object();
  Json stages = Json::array(), kinds = Json::array();
  Json formats = Json::object(), element_bytes = Json::object();
  const double layers = std::accumulate(counts.stage_layers.begin(), counts.stage_layers.end(), 0);
  for (std::size_t stage = 0; stage < counts.stages.size(); ++stage) {
    Json own = Json::object();
    own["layers"] = counts.stage_layers[stage];
    own["weights"] = fields_of(counts.stages[stage]);
    if (counts.bytes_beyond != 0)
      own["bytes_beyond"] = counts.bytes_beyond * counts.stage_layers[stage] / layers;
    if (counts.stages[stage].ngram_bytes > 0) own["ngram_bytes"] = counts.stages[stage].ngram_bytes;
    stages.push_back(std::move(own));
  }
  for (const KindCounts& each : counts.kinds) kinds.push_back(fields_of(each));
  for (const auto& word : weight_class_words) {
    formats[word.name] = name(counts.formats[word.value]);
    element_bytes[word.name] = bytes_per_element(counts.formats[word.value]);
  }
  element_bytes["small"] = bytes_per_element(counts.dtype);
  formats["small"] = name(counts.dtype);
  out["stages"] = std::move(stages);
  out["kinds"] = std::move(kinds);
  out["formats"] = std::move(formats);
  out["element_bytes"] = std::move(element_bytes);
  out["dtype"] = name(counts.dtype);
  out["dtype_bytes"] = bytes_per_element(counts.dtype);
  out["weights"] = name(counts.weight_dtype);
  out["kv"] = name(counts.kv_dtype);
  out["kv_element_bytes"] = bytes_per_element(counts.kv_dtype);
  out["predictor"] = fields_of(counts.predictor);
  out["predictor_kv_bytes"] = counts.predictor_kv_bytes;
  out["tp"] = counts.widths.tp;
  out["dp"] = counts.widths.dp;
  out["ep"] = counts.widths.ep;
  out["moe_tp"] = counts.widths.moe_tp;
  out["cp"] = counts.widths.cp;
  out["dcp"] = counts.widths.dcp;
  out["expert_gpus"] = counts.widths.expert_gpus;
  return out;
}

}  // namespace rooflua::script
