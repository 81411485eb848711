#include "spec/rank_counts.h"

#include <algorithm>

#include "spec/pipeline/context.h"
#include "spec/pipeline/stages.h"

namespace rooflua {

namespace {

/// States that a file declares, on one rank: those of fp32 are recurrent matrices, others count as
/// inputs of convolutions, in the model's format.
void count_states(const AttentionLayers& own, KindCounts& out) {
  for (const declared::Cache& each : own.by_file->caches) {
    if (each.kind != declared::CacheKind::state) continue;
    const double elements =
        each.elements * declared::part_of(each.split, each.heads, own.declared_tp).value_or(1);
    (*each.format == Dtype::fp32 ? out.state_elements : out.convolution_elements) += elements;
  }
}

KindCounts counts_of(const AttentionLayers& each, const Widths& widths, Dtype kv, Dtype plain) {
  const int tp = widths.tp;
  const AttentionLayers own = on_rank(each, tp);
  KindCounts out;
  out.kind = each.kind_name();
  out.name = each.name;
  out.layers = each.layer_visits();
  out.kv_heads = each.heads > 0 ? own.kv_heads : 0;
  out.growing_bytes = own.growing_bytes(kv) / widths.dcp;
  out.plain_bytes = own.growing_bytes(plain) / widths.dcp;
  out.bounded_bytes = own.bounded_bytes(kv);
  out.window = each.window;
  if (each.by_file) {
    count_states(own, out);
    out.inputs = own.by_file->state_inputs();
  } else if (each.delta) {
    const double keys = double(each.delta->key_heads) * each.delta->key_head_dim;
    const double values = double(each.delta->value_heads) * each.delta->value_head_dim;
    out.convolution_elements = (values + 2 * keys) * (each.delta->conv_kernel - 1) / tp;
    out.state_elements = values * each.delta->key_head_dim / tp;
  } else if (each.mamba) {
    out.convolution_elements = each.mamba->channels() * (each.mamba->conv_kernel - 1) / tp;
    out.state_elements =
        double(each.mamba->heads) * each.mamba->head_dim * each.mamba->state_size / tp;
  }
  return out;
}

/// The most frequent kind; of two as frequent, the later one.
template <class Kinds, class May>
auto most_frequent(const Kinds& kinds, May may) {
  auto chosen = kinds.front();
  bool found = false;
  for (const auto& each : kinds) {
    if (!may(each) || (found && each.layers < chosen.layers)) continue;
    chosen = each;
    found = true;
  }
  return chosen;
}

/// A model of the layer for multi-token prediction: attention and MLP of the most frequent kinds.
Model predictor_of(const Model& model) {
  Model one = model;
  AttentionLayers attention = most_frequent(
      model.attentions, [](const AttentionLayers& each) { return !each.is_recurrent(); });
  MlpLayers mlp = most_frequent(model.mlps, [](const MlpLayers&) { return true; });
  attention.layers = mlp.layers = one.layers = 1;
  attention.visits = mlp.visits = 0;
  one.uniform = false;
  one.attentions = {attention};
  one.mlps = {mlp};
  return one;
}

}  // namespace

RankCounts rank_counts(const Model& model, const DeploymentOptions& given) {
  DeploymentOptions options = given;
  if (!options.weights) options.weights = model.asked_format;
  RankCounts out;
  out.widths = widths_of(model, options);
  out.stage_layers = stage_layers(model, options.pp);
  const WeightParts whole = weights_per_rank(model, out.widths);
  for (std::size_t stage = 0; stage < out.stage_layers.size(); ++stage) {
    out.stages.push_back(options.pp > 1 ? weights_of_stage(whole, model, out.stage_layers, stage)
                                        : whole);
  }
  out.formats = weight_formats(model, options.weights);
  out.dtype = model.dtype;
  out.weight_dtype = weight_dtype_of(model, options);
  out.kv_dtype = kv_dtype_of(model, options);
  for (const AttentionLayers& each : model.attentions)
    out.kinds.push_back(
        counts_of(each, out.widths, kv_dtype_of(each, model, options), model.dtype));
  out.bytes_beyond = bytes_beyond(model, out.widths, out.formats);
  const Model one = predictor_of(model);
  out.predictor = weights_per_rank(one, out.widths);
  out.predictor.embedding = out.predictor.lm_head = out.predictor.ngram_tables = 0;
  out.predictor.ngram_bytes = 0;
  // It reads the last hidden state and the embedding of the last token, each after a norm.
  out.predictor.small += 2.0 * model.hidden_size * model.hidden_size + 2.0 * model.hidden_size;
  out.predictor_kv_bytes =
      counts_of(one.attentions.front(), out.widths, out.kv_dtype, model.dtype).growing_bytes;
  return out;
}

// Declared in deployment.h: what a rank needs besides weights and KV.

Bytes activation_estimate(const Model& model, const Widths& widths, int tokens, int requests) {
  const double ranks = widths.tp, element = bytes_per_element(model.dtype);
  const double query = model.heads / ranks * model.head_dim;
  double widest = 2 * query + 2.0 * std::max(1, model.kv_heads / widths.tp) * model.head_dim;
  if (model.dense_mlp_layers() > 0)
    widest = std::max(widest, 3.0 * model.intermediate_size / ranks);
  for (const MlpLayers& each : model.mlps)
    if (each.by_file) widest = std::max(widest, each.by_file->inner_elements() / ranks);
  const MixtureOfExperts* moe = model.experts();
  if (moe != nullptr && widths.expert_gpus > 0) {
    // What comes back from the experts of a token.
    const double copies = std::min(moe->experts_per_token, widths.ep) * double(widths.moe_tp);
    widest = std::max(widest, copies * model.hidden_size / ranks);
  } else if (moe != nullptr) {
    // Of the tokens of all dp groups, a rank of ep gets its share.
    const double visited = moe->experts_per_token * double(widths.groups()) / widths.ep;
    widest = std::max(widest,
                      visited * (3.0 * moe->intermediate_size / widths.moe_tp + model.hidden_size));
  }
  const double forward = tokens * (2.0 * model.hidden_size + widest) * element;
  const double sampler = double(std::min(requests, tokens)) * model.vocab_size * (2 + 4 + 4);
  return std::max(forward, sampler) * unit::byte;
}

Bytes runtime_estimate(int tp) {
  return (tp > 1 ? 0.25 + 0.45 : 0.25) * unit::GiB;
}

}  // namespace rooflua
