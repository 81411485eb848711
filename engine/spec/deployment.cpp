#include "spec/deployment.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/error.h"
#include "spec/figures/rows.h"
#include "spec/layer_kinds.h"
#include "spec/pipeline/afd.h"
#include "spec/pipeline/context.h"
#include "spec/pipeline/stages.h"
#include "spec/weights.h"

namespace rooflua {

Widths widths_of(const Model& model, const DeploymentOptions& options) {
  Widths widths{options.tp, options.dp,  options.ep,         options.moe_tp.value_or(0),
                options.cp, options.dcp, options.expert_gpus};
  const int ranks = widths.expert_ranks();
  const std::string of_ranks = options.expert_gpus > 0 ? "expert_gpus"
                               : options.cp > 1        ? "tp * dp * cp"
                                                       : "tp * dp";
  if (ranks % options.ep != 0) {
    throw Error("deployment.ep", std::to_string(options.ep) + " does not divide the " +
                                     std::to_string(ranks) + " ranks of " + of_ranks);
  }
  if (!options.moe_tp) widths.moe_tp = ranks / options.ep;
  if (widths.moe_tp * widths.ep != ranks) {
    throw Error("deployment.moe_tp", "moe_tp * ep is " + std::to_string(widths.moe_tp * widths.ep) +
                                         ", but " + of_ranks + " is " + std::to_string(ranks));
  }
  if (options.ep > 1 && model.experts() == nullptr)
    throw Error("deployment.ep", model.name + " has no experts to divide");
  if (options.dp > 1 && model.experts() == nullptr) {
    throw Error("deployment.dp",
                model.name + " has no experts: its data-parallel ranks are replicas of their own");
  }
  if (options.pp > 1 && options.dp > 1) {
    throw Error("deployment.pp",
                "with dp > 1: stages are not combined with ranks that step together; divide by tp "
                "and pp, or by tp, dp and ep");
  }
  check_context(model, options);
  check_afd(model, options);
  if (options.weights && format_of(*options.weights).vector_bytes > 0)
    throw Error("deployment.weights",
                std::string(name(*options.weights)) + " is a format of the KV cache alone");
  return widths;
}

Dtype weight_dtype_of(const Model& model, const DeploymentOptions& options) {
  if (options.weights) return *options.weights;
  if (model.weight_dtype) return *model.weight_dtype;
  const WeightFormats formats = weight_formats(model, {});
  return formats[model.experts() != nullptr ? WeightClass::experts : WeightClass::dense_mlp];
}

Dtype kv_dtype_of(const Model& model, const DeploymentOptions& options) {
  if (options.kv) return *options.kv;
  return released_kv(model, options.weights).value_or(model.dtype);
}

Dtype kv_dtype_of(const AttentionLayers& layers, const Model& model,
                  const DeploymentOptions& options) {
  const Dtype all = kv_dtype_of(model, options);
  if (options.kv || !layers.formats.any()) return all;
  return kv_format_of(layers.formats, weight_formats(model, options.weights)).value_or(all);
}

namespace {

std::string gib(Bytes bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / unit::GiB);
  return text;
}

/// One block of all layers whose cache grows, on a rank that holds 1 / dcp of its tokens.
Bytes block_bytes(const Model& model, const DeploymentOptions& options) {
  const double tokens = double(options.block_size) / options.dcp;
  double bytes = 0;
  for (const AttentionLayers& each : model.attentions)
    bytes += each.layer_visits() *
             (tokens * on_rank(each, options.tp).growing_bytes(kv_dtype_of(each, model, options)));
  return bytes * unit::byte;
}

/// What one request holds in layers whose cache does not grow. A window's last tokens may begin in
/// the middle of a block.
Bytes seat_bytes(const Model& model, const DeploymentOptions& options) {
  Bytes bytes = model.state_bytes_per_request() * (1.0 / options.tp);
  for (const AttentionLayers& each : model.attentions) {  // those that say how they are divided
    if (!each.by_file) continue;
    bytes += each.layer_visits() *
             (on_rank(each, options.tp).state_bytes() - each.state_bytes() / options.tp) *
             unit::byte;
  }
  const double longest = model.max_model_len > 0 ? model.max_model_len : 1e9;
  for (const AttentionLayers& each : model.attentions) {
    const double tokens = std::min(longest, double(each.window) + options.block_size);
    const Dtype kv = kv_dtype_of(each, model, options);
    bytes +=
        each.layer_visits() * on_rank(each, options.tp).bounded_bytes(kv) * tokens * unit::byte;
  }
  return bytes;
}

/// The blocks that hold what one request needs besides its tokens.
std::int64_t seat_blocks(Bytes seat, Bytes block) {
  return block > Bytes(0) ? static_cast<std::int64_t>(std::ceil(seat / block)) : 0;
}

/// The part of all layers that a stage holds.
double part_of(const Model& model, const std::vector<int>& stages, std::size_t stage) {
  return stages.size() > 1 ? double(stages[stage]) / model.layers : 1.0;
}

/// What a rank needs before the first KV block, and what it has.
struct Balance {
  Bytes weights, drafter, adapters, experts, activations, runtime;
  Bytes seat;  // taken from the KV blocks by each request
  Bytes requested;
  Bytes needed() const { return weights + drafter + adapters + experts + activations + runtime; }
};

/// GPUs that multiply FP4 run experts in MXFP4 with activations in MXFP8; others expand them.
WeightFormats formats_on(const Hardware& hardware, WeightFormats formats) {
  Dtype& experts = formats[WeightClass::experts];
  if (experts == Dtype::mxfp4 && hardware.peak.contains(Dtype::fp4))
    experts = Dtype::w4a8_mxfp4_mxfp8;
  return formats;
}

Balance balance_of(const Model& model, const Hardware& hardware, const DeploymentOptions& options,
                   const std::vector<int>& stages, std::size_t stage) {
  Balance balance;
  const Widths widths = widths_of(model, options);
  WeightParts parts = weights_per_rank(model, widths);
  if (stages.size() > 1) parts = weights_of_stage(parts, model, stages, stage);
  const WeightFormats formats = weight_formats(model, options.weights);
  balance.weights = weight_bytes(parts, model, formats) + bytes_beyond(model, widths, formats) *
                                                              part_of(model, stages, stage) *
                                                              unit::byte;
  balance.drafter = options.drafter_weight_bytes;
  balance.adapters = options.adapter_bytes;
  balance.experts = options.redundant_expert_bytes;
  balance.activations = options.activations.value_or(
      activation_estimate(model, widths, options.max_num_batched_tokens, options.max_num_seqs));
  balance.runtime =
      options.runtime.value_or(runtime_estimate(widths.ranks() * options.pp + widths.expert_gpus));
  balance.seat = seat_bytes(model, options) * part_of(model, stages, stage);
  balance.requested =
      std::ceil(hardware.usable_memory.in_base_units() * options.memory_utilization) * unit::byte;
  return balance;
}

bool fits(const Model& model, const Hardware& hardware, const DeploymentOptions& options) {
  try {
    const std::vector<int> stages = stage_layers(model, options.pp);
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const Balance balance = balance_of(model, hardware, options, stages, stage);
      // A request fits, and something is left for its KV.
      if (balance.needed() + balance.seat + unit::GiB > balance.requested) return false;
    }
    return true;
  } catch (const Error&) {
    return false;  // does not divide
  }
}

/// "fits with tp = 4, or with fp8 weights"
std::string what_would_fit(const Model& model, const Hardware& hardware,
                           const DeploymentOptions& options) {
  std::vector<std::string> ways;
  for (int tp = options.tp * 2; tp <= 64; tp *= 2) {
    DeploymentOptions other = options;
    other.tp = tp;
    if (!fits(model, hardware, other)) continue;
    ways.push_back("with tp = " + std::to_string(tp));
    break;
  }
  const double bytes = bytes_per_element(weight_dtype_of(model, options));
  for (const Dtype dtype : {Dtype::fp8, Dtype::fp4}) {
    DeploymentOptions other = options;
    other.weights = dtype;
    if (bytes_per_element(dtype) >= bytes || !fits(model, hardware, other)) continue;
    ways.push_back("with weights = \"" + std::string(name(dtype)) + "\"");
    break;
  }
  std::string text;
  for (const std::string& way : ways) text += (text.empty() ? "it fits " : ", or ") + way;
  return text.empty() ? "no tp up to 64 and no smaller dtype makes it fit" : text;
}

[[noreturn]] void does_not_fit(const Model& model, const Hardware& hardware,
                               const DeploymentOptions& options, const Balance& balance,
                               Bytes short_by) {
  std::string text =
      model.name + " does not fit on " + hardware.name +
      " with tp = " + std::to_string(options.tp) +
      (options.pp > 1 ? " and pp = " + std::to_string(options.pp) : "") +
      (options.cp > 1 ? " and cp = " + std::to_string(options.cp) : "") +
      (options.dcp > 1 ? " and dcp = " + std::to_string(options.dcp) : "") +
      (options.expert_gpus > 0 ? " without its routed experts" : "") + ": " + gib(short_by) +
      " too much. Per GPU " + gib(balance.weights) + " of " +
      std::string(name(weight_dtype_of(model, options))) + " weights, " +
      (balance.drafter > Bytes(0) ? gib(balance.drafter) + " of a drafter, " : "") +
      (balance.adapters > Bytes(0) ? gib(balance.adapters) + " of adapters, " : "") +
      (balance.experts > Bytes(0) ? gib(balance.experts) + " of copies of experts, " : "") +
      gib(balance.activations) + " activations, " + gib(balance.runtime) + " runtime";
  if (balance.seat > Bytes(0))
    text += ", " + gib(balance.seat) + " for windows and states of one request";
  text += "; available " + gib(balance.requested) + " (" + json_number(options.memory_utilization) +
          " of " + gib(hardware.usable_memory) + "); " + what_would_fit(model, hardware, options);
  throw Error("deployment", text);
}

/// What one stage has room for.
struct Room {
  std::size_t stage = 0;
  Balance balance;
  Bytes block;            // in the layers of the stage
  std::int64_t seat = 0;  // blocks
  double blocks = 0;      // computed, without a limit
  Bytes available() const { return balance.requested - balance.needed(); }
};

Room room_of(const Model& model, const Hardware& hardware, const DeploymentOptions& options,
             const std::vector<int>& stages, std::size_t stage) {
  Room room;
  room.stage = stage;
  room.balance = balance_of(model, hardware, options, stages, stage);
  room.block = block_bytes(model, options);
  if (stages.size() > 1) room.block = room.block * part_of(model, stages, stage);
  room.block = room.block + double(options.block_size) * options.drafter_kv_bytes_per_token;
  room.seat = seat_blocks(room.balance.seat, room.block);
  if (room.block == Bytes(0)) return room;
  // Kinds of growing layers are allocated together; layers that are all alike, one by one.
  double layers = model.uniform ? model.full_attention_layers() : 1;
  if (stages.size() > 1) layers = layers == model.layers ? stages[stage] : 1;
  room.blocks = std::floor(std::floor(room.available() / (room.block / layers)) / layers) - 1;
  return room;
}

/// The stage with the fewest blocks.
Room least_room(const Model& model, const Hardware& hardware, const DeploymentOptions& options,
                const std::vector<int>& stages) {
  Room least = room_of(model, hardware, options, stages, 0);
  for (std::size_t stage = 1; stage < stages.size(); ++stage) {
    const Room room = room_of(model, hardware, options, stages, stage);
    if (room.blocks < least.blocks) least = room;
  }
  return least;
}

}  // namespace

namespace {

/// Blocks that the memory left by the model has room for.
std::int64_t blocks_that_fit(const Model& model, const Hardware& hardware,
                             const DeploymentOptions& options, const Room& room) {
  if (room.block == Bytes(0)) {
    throw Error("deployment", model.name +
                                  " has no layer whose KV cache grows, so its memory does "
                                  "not say how many blocks there are; give kv_blocks");
  }
  if (room.blocks >= 1)
    check_range(row_named(figures<DeploymentOptions>(), "kv_blocks"), room.blocks,
                "deployment.kv_blocks, computed");
  const auto blocks = static_cast<std::int64_t>(room.blocks);
  if (blocks < 1 + room.seat) {
    const double least = 2.0 + static_cast<double>(room.seat);  // and the null block
    does_not_fit(model, hardware, options, room.balance, least * room.block - room.available());
  }
  return blocks;
}

}  // namespace

WeightFormats Deployment::formats_in(const LayerFormats& layers) const {
  return formats_on(hardware, formats_of(layers, formats));
}

Dtype Deployment::kv_in(const LayerFormats& layers) const {
  return options.kv ? kv_dtype : kv_format_of(layers, formats).value_or(kv_dtype);
}

Deployment deploy(const Model& model, const Hardware& hardware, const DeploymentOptions& given) {
  DeploymentOptions options = given;
  if (!options.weights) options.weights = model.asked_format;
  check_figures(options, "deployment.");
  Deployment out;
  out.widths = widths_of(model, options);
  out.stage_layers = stage_layers(model, options.pp);
  const Room room = least_room(model, hardware, options, out.stage_layers);
  out.experts = checked_expert_pool(model, hardware, out.widths, options,
                                    runtime_estimate(out.widths.ranks() + out.widths.expert_gpus));
  out.model = model;
  out.hardware = hardware;
  out.stage = static_cast<int>(room.stage);
  out.stage_shares = {1.0};
  if (options.pp > 1) {
    out.stage_shares = stage_shares(model, out.stage_layers);
    out.stage_seconds_per_token =
        stage_seconds_per_token(model, hardware, out.widths.ranks(), options.pp);
  }
  out.weight_dtype = weight_dtype_of(model, options);
  out.formats = formats_on(hardware, weight_formats(model, options.weights));
  out.kv_dtype = kv_dtype_of(model, options);
  out.options = options;
  out.options.moe_tp = out.widths.moe_tp;
  out.weight_bytes = room.balance.weights;
  out.drafter_bytes = room.balance.drafter;
  out.adapter_bytes = room.balance.adapters;
  out.redundant_expert_bytes = room.balance.experts;
  out.activation_bytes = room.balance.activations;
  out.runtime_bytes = room.balance.runtime;
  out.seat_bytes = room.balance.seat;
  out.kv_bytes_per_block = room.block;
  out.seat_blocks = room.seat;
  out.kv_blocks =
      options.kv_blocks ? *options.kv_blocks : blocks_that_fit(model, hardware, options, room);
  out.kv_capacity = static_cast<double>(out.kv_blocks) * out.kv_bytes_per_block;
  return out;
}

namespace {

/// A figure that follows from others.
template <auto member>
constexpr auto shown(std::string_view name, std::string_view doc) {
  return figure<member>(name, "", 0, 0, Stated::computed, doc);
}

Json expert_weights(const Deployment& deployment) {
  return deployment.experts.weights.in_base_units();
}
Json expert_needs(const Deployment& deployment) {
  return deployment.experts.needed().in_base_units();
}

constexpr auto rows = rows_of<Deployment>(
    shown<&Deployment::weight_dtype>("weights", "dtype, also weight_dtype"),
    shown<&Deployment::kv_dtype>("kv", "dtype, also kv_dtype"),
    shown<&Deployment::kv_blocks>("kv_blocks", "per replica"),
    shown<&Deployment::weight_bytes>("weight_bytes", "per rank"),
    shown<&Deployment::drafter_bytes>("drafter_bytes",
                                      "per rank: weights of a drafter; 0 without speculation"),
    shown<&Deployment::adapter_bytes>("adapter_bytes",
                                      "per rank: slots of low-rank adapters; 0 without them"),
    computed<Deployment, expert_weights>("expert_weight_bytes", "number",
                                         "per GPU of the experts; 0 without expert_gpus"),
    computed<Deployment, expert_needs>("expert_needed_bytes", "number",
                                       "per GPU of the experts: weights, activations and runtime"),
    shown<&Deployment::redundant_expert_bytes>("redundant_expert_bytes",
                                               "per rank: copies of experts; 0 without them"),
    shown<&Deployment::activation_bytes>("activation_bytes",
                                         "per rank: what a dummy forward at the token budget "
                                         "needs, an estimate"),
    shown<&Deployment::seat_bytes>("seat_bytes",
                                   "per rank: windows, chunks and recurrent states of one request"),
    shown<&Deployment::seat_blocks>("seat_blocks",
                                    "KV blocks that hold them, besides those of the request's "
                                    "tokens; 0 without such layers"),
    shown<&Deployment::kv_bytes_per_block>("kv_bytes_per_block",
                                           "per rank, all layers whose cache grows, a drafter's "
                                           "among them"),
    shown<&Deployment::kv_capacity>("kv_capacity_bytes", "per rank: kv_blocks of them"));

}  // namespace

template <>
const FigureTable& figures<Deployment>() {
  static const FigureTable table =
      table_of<Deployment>("Deployment", "A model on GPUs, as deploy() placed it.", rows);
  return table;
}

}  // namespace rooflua
