#include "cost/lookup/attention.h"

#include <algorithm>
#include <cmath>

namespace rooflua {
namespace {

bool is_decode(Op op) {
  return declaration_of(op).convention == FlopConvention::attention_full;
}
bool is_mla(Op op) {
  return op == Op::mla_prefill || op == Op::mla_decode;
}
double gap(double a, double b) {
  return std::abs(std::log2(a / b));
}

}  // namespace

AttentionIndex::AttentionIndex(Op op, const std::vector<const KernelTable*>& tables) : op_(op) {
  const bool one_token = is_decode(op);
  for (const KernelTable* table : tables) {
    Shape* shape = nullptr;
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const KernelRow& row = table->rows[i];
      const auto& s = row.shape;
      if (!(row.latency_s > 0) || !(s[0] > 0 && s[1] > 0 && s[2] > 0 && s[3] > 0)) continue;
      const Heads heads{s[0], s[1], s[2]};
      if (shape == nullptr || shape->heads != heads || shape->kv != row.kv_dtype) {
        shape = &shape_for(heads, row.kv_dtype);
      }
      const double context = one_token ? 0 : s[4];
      auto layer = std::find_if(shape->layers.begin(), shape->layers.end(),
                                [&](const auto& l) { return l.first == context; });
      if (layer == shape->layers.end()) {
        shape->layers.emplace_back(context, Plane(!one_token, context));
        layer = shape->layers.end() - 1;
      }
      layer->second.add(s[3], {one_token ? s[4] : s[5], row.latency_s, table, static_cast<int>(i)});
    }
  }
  for (Shape& shape : shapes_) {
    std::sort(shape.layers.begin(), shape.layers.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& layer : shape.layers) layer.second.finish();
  }
}

AttentionIndex::Shape& AttentionIndex::shape_for(const Heads& heads, Dtype kv) {
  for (Shape& shape : shapes_) {
    if (shape.heads == heads && shape.kv == kv) return shape;
  }
  shapes_.push_back({heads, kv, {}});
  return shapes_.back();
}

AttentionIndex::Key AttentionIndex::key_of(const Query& q) const {
  const Dtype kv = format_of(q.kv_dtype).runs_as;
  switch (op_) {
    case Op::mla_decode:
      return {q.heads, q.kv_lora_rank, q.qk_rope_head_dim, q.tp, kv};
    case Op::mla_prefill:
      return {q.heads, q.qk_nope_head_dim, q.qk_rope_head_dim, q.tp, Dtype::bf16};
    case Op::attention_prefill:
      return {q.heads, q.kv_heads, q.head_dim, q.tp, Dtype::bf16};
    default:
      return {q.heads, q.kv_heads, q.head_dim, q.tp, kv};
  }
}

const AttentionIndex::Plan& AttentionIndex::plan(const Query& query) const {
  const Key key = key_of(query);
  for (const Plan& plan : plans_) {
    if (plan.key == key) return plan;
  }
  plans_.push_back(make_plan(key));
  return plans_.back();
}

/// What latency is proportional to when the kernel is busy: KV bytes in decode, else flop.
double AttentionIndex::size(const Heads& heads, Dtype kv) const {
  switch (op_) {
    case Op::attention_decode:
      return heads[1] * heads[2] * bytes_per_element(kv);
    case Op::attention_prefill:
      return heads[0] * heads[2];
    default:
      return heads[0] * (2 * heads[1] + heads[2]);
  }
}

double AttentionIndex::mismatch(const Shape& shape, const Heads& wanted, Dtype kv) const {
  const double kv_gap = shape.kv == kv ? 0 : 8;
  if (is_mla(op_)) {
    return kv_gap + 16 * (gap(shape.heads[1], wanted[1]) + gap(shape.heads[2], wanted[2])) +
           gap(shape.heads[0], wanted[0]);
  }
  const double group = shape.heads[0] / shape.heads[1], wanted_group = wanted[0] / wanted[1];
  // In prefill a smaller donor at a larger batch is as much work; a larger one has to be cut down.
  const bool cut =
      op_ == Op::attention_prefill && shape.heads[0] * shape.heads[2] > wanted[0] * wanted[2];
  return kv_gap + 16 * gap(group, wanted_group) + 4 * gap(shape.heads[2], wanted[2]) +
         gap(shape.heads[0], wanted[0]) + (cut ? 1 : 0);
}

AttentionIndex::Plan AttentionIndex::make_plan(const Key& key) const {
  const double tp = std::max(1.0, key.tp);
  Heads wanted{std::max(1.0, key.a / tp), key.b, key.c};
  if (!is_mla(op_)) wanted[1] = std::max(1.0, key.b / tp);
  Plan plan;
  plan.key = key;
  double least = 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const double found = mismatch(shapes_[i], wanted, key.kv);
    if (i == 0 || found < least) least = found, plan.shape = i;
  }
  if (least == 0) return plan;
  const Shape& donor = shapes_[plan.shape];
  plan.stand_in = true;
  plan.scale = size(wanted, key.kv) / size(donor.heads, donor.kv);
  plan.ratio = std::exp2(gap(donor.heads[0], wanted[0]) + gap(donor.heads[1], wanted[1]) +
                         gap(donor.heads[2], wanted[2]) + (donor.kv == key.kv ? 0 : 1));
  return plan;
}

Reading AttentionIndex::at(const Query& query, Strategy strategy, Strategy across,
                           RowsUsed* trace) const {
  const Plan& plan = this->plan(query);
  const Shape& shape = shapes_[plan.shape];
  const double batch = std::max(1.0, query.batch);
  Reading reading;
  switch (op_) {
    case Op::attention_decode:
      reading = decode(query, plan, strategy, across, trace);
      break;
    case Op::attention_prefill:
      reading = plan.stand_in ? foreign_prefill(query, plan, strategy, across, trace)
                              : prefill(shape, query, batch, strategy, across, trace);
      break;
    case Op::mla_decode:
      reading = shape.layers[0].second.at(batch, query.context_tokens, strategy, across, trace);
      reading.latency_s *= plan.scale;
      break;
    default:
      reading = prefill(shape, query, batch, strategy, across, trace);
      reading.latency_s *= plan.scale;
      break;
  }
  if (plan.stand_in) reading.downgrade(Evidence::stand_in, plan.ratio);
  return reading;
}

Reading AttentionIndex::foreign_prefill(const Query& query, const Plan& plan, Strategy strategy,
                                        Strategy across, RowsUsed* trace) const {
  const Shape& shape = shapes_[plan.shape];
  const Plane& plane = shape.layers[0].second;
  const double batch = std::max(1.0, query.batch) * plan.scale;
  if (batch >= plane.first_outer()) return prefill(shape, query, batch, strategy, across, trace);
  Reading reading = prefill(shape, query, plane.first_outer(), strategy, across, trace);
  const double least = std::min(reading.latency_s, plane.series(0).launch_floor());
  reading.latency_s = std::max(reading.latency_s * (batch / plane.first_outer()), least);
  return reading;
}

/// Of a foreign shape: the batch with as many KV bytes; below the smallest batch the context with
/// as many.
Reading AttentionIndex::decode(const Query& query, const Plan& plan, Strategy strategy,
                               Strategy across, RowsUsed* trace) const {
  const Plane& plane = shapes_[plan.shape].layers[0].second;
  double batch = std::max(1.0, query.batch) * plan.scale;
  double context = query.context_tokens;
  if (plan.stand_in && batch < plane.first_outer()) {
    context *= batch / plane.first_outer();
    batch = plane.first_outer();
  }
  return plane.at(batch, context, strategy, across, trace);
}

Reading AttentionIndex::prefill(const Shape& shape, const Query& query, double batch,
                                Strategy strategy, Strategy across, RowsUsed* trace) const {
  const double t = query.new_tokens, p = query.context_tokens;
  const auto above = static_cast<std::size_t>(
      std::upper_bound(shape.layers.begin(), shape.layers.end(), p,
                       [](double x, const auto& layer) { return x < layer.first; }) -
      shape.layers.begin());
  const auto& low = shape.layers[above == 0 ? 0 : above - 1];
  if (low.first == p) return low.second.at(batch, t, strategy, across, trace);
  if (above == shape.layers.size() && low.first == 0) {  // only fresh prompts were measured
    const double same_work = std::sqrt(t * t + 2 * t * p);
    Reading reading = low.second.at(batch, same_work, strategy, across, trace);
    return reading.downgrade(Evidence::extrapolated, same_work / t);
  }
  Reading reading = low.second.at(batch, t, strategy, across, trace);
  if (above == 0 || above == shape.layers.size()) {
    reading.latency_s *= (p + 0.5 * t) / (low.first + 0.5 * t);
    return reading.downgrade(Evidence::extrapolated,
                             std::max(p, low.first) / std::max(1.0, std::min(p, low.first)));
  }
  const auto& high = shape.layers[above];
  const Reading upper = high.second.at(batch, t, strategy, across, trace);
  const double latency =
      blend(across == Strategy::nearest ? Strategy::nearest : Strategy::latency_linear, p + 0.5 * t,
            low.first + 0.5 * t, high.first + 0.5 * t, reading.latency_s, upper.latency_s,
            p + 0.5 * t, low.first + 0.5 * t, high.first + 0.5 * t);
  reading.also(upper).downgrade(Evidence::interpolated,
                                std::min(p / std::max(1.0, low.first), high.first / p));
  reading.latency_s = latency;
  return reading;
}

}  // namespace rooflua
