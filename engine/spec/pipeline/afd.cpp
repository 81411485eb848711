#include "spec/pipeline/afd.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "base/error.h"
#include "spec/layer_kinds.h"
#include "spec/weights.h"

namespace rooflua {
namespace {

std::string gib(Bytes bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / unit::GiB);
  return text;
}

/// Widths with the experts over another number of GPUs: more of them hold whole experts.
Widths on_more(Widths widths, int times) {
  widths.ep *= times;
  widths.expert_gpus *= times;
  return widths;
}

/// "they fit on expert_gpus = 16 with ep = 16", or "".
std::string what_would_fit(const Model& model, const Widths& widths,
                           const DeploymentOptions& options, const WeightFormats& formats,
                           Bytes runtime, Bytes available) {
  for (int times = 2; widths.ep * times <= model.experts()->experts; times *= 2) {
    const Widths more = on_more(widths, times);
    if (model.experts()->experts % more.ep != 0) break;
    if (expert_pool(model, more, options, formats, runtime).needed() > available) continue;
    return "; they fit with expert_gpus = " + std::to_string(more.expert_gpus) +
           " and ep = " + std::to_string(more.ep);
  }
  return "; a narrower format of the weights may fit";
}

}  // namespace

void check_afd(const Model& model, const DeploymentOptions& options) {
  if (options.expert_gpus == 0) {
    if (options.micro_batches == 1) return;
    throw Error("deployment.micro_batches",
                std::to_string(options.micro_batches) +
                    " need a pool of experts to travel to; give expert_gpus, or leave it out");
  }
  if (model.experts() == nullptr) {
    throw Error("deployment.expert_gpus",
                model.name + " has no experts to put on GPUs of their own");
  }
  const std::pair<const char*, int> others[] = {
      {"pp", options.pp}, {"cp", options.cp}, {"dcp", options.dcp}};
  for (const auto& [name, value] : others) {
    if (value == 1) continue;
    throw Error("deployment.expert_gpus", std::string("with ") + name +
                                              " > 1 is not modelled; leave expert_gpus at 0 or " +
                                              name + " at 1");
  }
}

ExpertPool expert_pool(const Model& model, const Widths& widths, const DeploymentOptions& options,
                       const WeightFormats& formats, Bytes runtime) {
  const MixtureOfExperts& moe = *model.experts();
  WeightParts parts;
  parts.routed_experts = weights_per_rank(model, {1, 1, widths.ep, widths.moe_tp}).routed_experts;
  const double element = bytes_per_element(model.dtype);
  const double rows =
      double(options.max_num_batched_tokens) * widths.groups() * moe.experts_per_token / widths.ep;
  const double inner = moe.latent_size > 0 ? moe.latent_size : model.hidden_size;
  const double between = 3.0 * moe.intermediate_size / widths.moe_tp / options.micro_batches;
  ExpertPool pool;
  pool.weights = weight_bytes(parts, model, formats);
  pool.activations = rows * (2 * inner + between) * element * unit::byte;
  pool.runtime = runtime;
  return pool;
}

ExpertPool checked_expert_pool(const Model& model, const Hardware& hardware, const Widths& widths,
                               const DeploymentOptions& options, Bytes runtime) {
  if (widths.expert_gpus == 0) return {};
  const int gpus = widths.ranks() + widths.expert_gpus;
  if (gpus > hardware.domain_gpus && !hardware.network_bandwidth) {
    throw Error("deployment.expert_gpus",
                std::to_string(gpus) + " GPUs of attention and experts lie in several nodes of " +
                    std::to_string(hardware.domain_gpus) + ", and " + hardware.name +
                    " states no network (network_gb_per_s in hardware.toml)");
  }
  const WeightFormats formats = weight_formats(model, options.weights);
  for (const MlpLayers& each : model.mlps)
    if (!(formats_of(each.formats, formats) == formats))
      throw Error("deployment.expert_gpus", model.name +
                                                " has formats by layers, which are not "
                                                "modelled with experts on GPUs of their own");
  const ExpertPool pool = expert_pool(model, widths, options, formats, runtime);
  const Bytes available = options.memory_utilization * hardware.usable_memory;
  if (pool.needed() <= available) return pool;
  throw Error("deployment.expert_gpus",
              "the experts of " + model.name + " do not fit on " +
                  std::to_string(widths.expert_gpus) + " x " + hardware.name + ": " +
                  gib(pool.needed() - available) + " too much. Per GPU " + gib(pool.weights) +
                  " of weights, " + gib(pool.activations) + " activations, " + gib(pool.runtime) +
                  " runtime; available " + gib(available) +
                  what_would_fit(model, widths, options, formats, runtime, available));
}

}  // namespace rooflua
