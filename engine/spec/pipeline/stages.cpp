#include "spec/pipeline/stages.h"

#include <numeric>
#include <string>

#include "base/error.h"

namespace rooflua {

std::vector<int> stage_layers(const Model& model, int pp) {
  if (pp > model.layers) {
    throw Error("deployment.pp", std::to_string(pp) + " stages for the " +
                                     std::to_string(model.layers) + " layers of " + model.name);
  }
  std::vector<int> layers(static_cast<std::size_t>(pp), model.layers / pp);
  for (int i = 0; i < model.layers % pp; ++i) ++layers[static_cast<std::size_t>(pp - 2 - i)];
  return layers;
}

WeightParts weights_of_stage(const WeightParts& rank, const Model& model,
                             const std::vector<int>& layers, std::size_t stage) {
  const double part = double(layers[stage]) / model.layers;
  WeightParts out = rank;
  for (double* each :
       {&out.attention, &out.attention_output, &out.linear_attention, &out.dense_mlp,
        &out.routed_experts, &out.shared_experts, &out.index, &out.router, &out.small})
    *each *= part;
  if (stage + 1 == layers.size()) {
    if (model.tied_embeddings) out.lm_head = rank.embedding;
  } else {
    out.lm_head = 0;
  }
  if (stage > 0) out.embedding = out.ngram_tables = out.ngram_bytes = 0;
  return out;
}

std::vector<double> stage_shares(const Model& model, const std::vector<int>& layers) {
  const WeightParts whole = weights(model);
  const double head = double(model.vocab_size) * model.hidden_size;
  const MixtureOfExperts* moe = model.experts();
  const double visited = moe != nullptr ? double(moe->experts_per_token) / moe->experts : 1.0;
  const double in_layers = whole.linear() - whole.routed_experts * (1 - visited) + whole.index +
                           whole.router + whole.small;
  std::vector<double> shares;
  for (const int each : layers) shares.push_back(in_layers * each / model.layers);
  shares.back() += head;
  for (double& share : shares) share /= in_layers + head;
  return shares;
}

std::vector<double> stage_seconds_per_token(const Model& model, const Hardware& hardware, int ranks,
                                            int pp) {
  const double bytes = 2.0 * model.hidden_size * bytes_per_element(model.dtype);
  std::vector<double> out;
  for (int stage = 1; stage < pp; ++stage) {
    const auto domain_of = [&](int gpu) { return gpu / hardware.domain_gpus; };
    bool crosses = false;
    for (int gpu = stage * ranks; gpu < (stage + 1) * ranks; ++gpu)
      crosses = crosses || domain_of(gpu) != domain_of(gpu - ranks);
    if (crosses && !hardware.network_bandwidth) {
      throw Error("deployment.pp", "stages " + std::to_string(stage) + " and " +
                                       std::to_string(stage + 1) + " lie in different nodes of " +
                                       std::to_string(hardware.domain_gpus) + " GPUs, and " +
                                       hardware.name +
                                       " states no network (network_gb_per_s in hardware.toml)");
    }
    const BytesPerSecond way = crosses ? *hardware.network_bandwidth : hardware.link_bandwidth;
    out.push_back(bytes / way.in_base_units());
  }
  return out;
}

}  // namespace rooflua
