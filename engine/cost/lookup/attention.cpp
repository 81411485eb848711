#include "cost/lookup/attention.h"

#include <algorithm>
#include <cmath>

namespace rooflua {
namespace {

constexpr double gap_of_mismatch = 0.25;  // heads / kv_heads weighs 16 per doubling

bool is_decode(Op op) {
  return op == Op::attention_decode || op == Op::mla_decode || op == Op::attention_window_decode;
}
bool is_mla(Op op) {
  return op == Op::mla_prefill || op == Op::mla_decode;
}
bool is_window(Op op) {
  return op == Op::attention_window_prefill || op == Op::attention_window_decode;
}
double doublings(double a, double b) {
  return a == b ? 0 : std::abs(std::log2(a / b));
}
/// Prefill efficiency rises with the logarithm of the length; latency does not run straight between
/// rows.
Strategy along_prompt(Strategy strategy) {
  return strategy == Strategy::latency_linear ? Strategy::log_linear : strategy;
}

}  // namespace

AttentionIndex::AttentionIndex(Op op, const std::vector<const KernelTable*>& tables) : op_(op) {
  const bool one_token = is_decode(op);
  const std::size_t more = is_window(op) ? 1 : 0;  // the window stands after the heads
  for (const KernelTable* table : tables) {
    Shape* shape = nullptr;
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const KernelRow& row = table->rows[i];
      const auto& s = row.shape;
      const double batch = s[3 + more];
      if (!(row.latency_s > 0) || !(s[0] > 0 && s[1] > 0 && s[2] > 0 && batch > 0)) continue;
      const Heads heads{s[0], s[1], s[2], more > 0 ? s[3] : 0};
      if (shape == nullptr || shape->heads != heads || shape->kv != row.kv_dtype) {
        shape = &shape_for(heads, row.kv_dtype);
      }
      const double context = s[4 + more];
      const double tokens = one_token ? context : s[5 + more];
      shape->rows.add(one_token ? 0 : context, batch,
                      {tokens, row.latency_s, table, static_cast<int>(i)});
    }
  }
  for (Shape& shape : shapes_) shape.rows.finish();
}

AttentionIndex::Shape& AttentionIndex::shape_for(const Heads& heads, Dtype kv) {
  for (Shape& shape : shapes_) {
    if (shape.heads == heads && shape.kv == kv) return shape;
  }
  shapes_.push_back({heads, kv, Contexts(!is_decode(op_))});
  return shapes_.back();
}

AttentionIndex::Key AttentionIndex::key_of(const Query& q) const {
  const Dtype kv = format_of(q.kv_dtype).runs_as;
  switch (op_) {
    case Op::mla_decode:
      return {q.heads, q.kv_lora_rank, q.qk_rope_head_dim, 0, q.tp, kv};
    case Op::mla_prefill:
      return {q.heads, q.qk_nope_head_dim, q.qk_rope_head_dim, 0, q.tp, Dtype::bf16};
    case Op::attention_prefill:
      return {q.heads, q.kv_heads, q.head_dim, 0, q.tp, Dtype::bf16};
    case Op::attention_window_prefill:
      return {q.heads, q.kv_heads, q.head_dim, q.window, q.tp, Dtype::bf16};
    case Op::attention_window_decode:
      return {q.heads, q.kv_heads, q.head_dim, q.window, q.tp, kv};
    default:
      return {q.heads, q.kv_heads, q.head_dim, 0, q.tp, kv};
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
    case Op::attention_window_decode:
      return heads[1] * heads[2] * bytes_per_element(kv);
    case Op::attention_prefill:
    case Op::attention_window_prefill:
      return heads[0] * heads[2];
    default:
      return heads[0] * (2 * heads[1] + heads[2]);
  }
}

double AttentionIndex::mismatch(const Shape& shape, const Heads& wanted, Dtype kv) const {
  const double kv_gap = shape.kv == kv ? 0 : 8;
  if (is_mla(op_)) {
    return kv_gap +
           16 * (doublings(shape.heads[1], wanted[1]) + doublings(shape.heads[2], wanted[2])) +
           doublings(shape.heads[0], wanted[0]);
  }
  const double group = shape.heads[0] / shape.heads[1], wanted_group = wanted[0] / wanted[1];
  // In prefill a smaller donor at a larger batch is as much work; a larger one has to be cut down.
  const bool cut = !is_decode(op_) && shape.heads[0] * shape.heads[2] > wanted[0] * wanted[2];
  return kv_gap + 16 * (doublings(group, wanted_group) + doublings(shape.heads[3], wanted[3])) +
         4 * doublings(shape.heads[2], wanted[2]) + doublings(shape.heads[0], wanted[0]) +
         (cut ? 1 : 0);
}

AttentionIndex::Plan AttentionIndex::make_plan(const Key& key) const {
  const double tp = std::max(1.0, key.tp);
  Heads wanted{std::max(1.0, key.a / tp), key.b, key.c, key.window};
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
  plan.gap = gap_of_mismatch * least;
  plan.scale = size(wanted, key.kv) / size(donor.heads, donor.kv);
  plan.ratio =
      std::exp2(doublings(donor.heads[0], wanted[0]) + doublings(donor.heads[1], wanted[1]) +
                doublings(donor.heads[2], wanted[2]) + doublings(donor.heads[3], wanted[3]) +
                (donor.kv == key.kv ? 0 : 1));
  return plan;
}

double AttentionIndex::gap(const Query& query) const {
  const Plan& plan = this->plan(query);
  return plan.gap;
}

Reading AttentionIndex::at(const Query& query, Strategy strategy, RowsUsed* trace) const {
  const Plan& plan = this->plan(query);
  const Shape& shape = shapes_[plan.shape];
  const double batch = std::max(1.0, query.batch);
  Reading reading;
  switch (op_) {
    case Op::attention_decode:
    case Op::attention_window_decode:
      reading = decode(query, plan, strategy, trace);
      break;
    case Op::attention_prefill:
    case Op::attention_window_prefill:
      reading = plan.stand_in ? foreign_prefill(query, plan, strategy, trace)
                              : prefill(shape, query, batch, strategy, trace);
      break;
    case Op::mla_decode:
      reading = shape.rows.first().at(batch, query.context_tokens, strategy, strategy, trace);
      reading.latency_s *= plan.scale;
      break;
    default:
      reading = prefill(shape, query, batch, strategy, trace);
      reading.latency_s *= plan.scale;
      break;
  }
  if (plan.stand_in) reading.downgrade(Evidence::stand_in, plan.ratio);
  return reading;
}

Reading AttentionIndex::foreign_prefill(const Query& query, const Plan& plan, Strategy strategy,
                                        RowsUsed* trace) const {
  const Shape& shape = shapes_[plan.shape];
  const Plane& plane = shape.rows.first();
  const double batch = std::max(1.0, query.batch) * plan.scale;
  if (batch >= plane.first_outer()) return prefill(shape, query, batch, strategy, trace);
  Reading reading = prefill(shape, query, plane.first_outer(), strategy, trace);
  const double least = std::min(reading.latency_s, plane.series(0).launch_floor());
  reading.latency_s = std::max(reading.latency_s * (batch / plane.first_outer()), least);
  return reading;
}

/// Of a foreign shape: the batch with as many KV bytes; below the smallest batch the context with
/// as many.
Reading AttentionIndex::decode(const Query& query, const Plan& plan, Strategy strategy,
                               RowsUsed* trace) const {
  const Plane& plane = shapes_[plan.shape].rows.first();
  double batch = std::max(1.0, query.batch) * plan.scale;
  double context = query.context_tokens;
  if (plan.stand_in && batch < plane.first_outer()) {
    context *= batch / plane.first_outer();
    batch = plane.first_outer();
  }
  return plane.at(batch, context, strategy, strategy, trace);
}

Reading AttentionIndex::prefill(const Shape& shape, const Query& query, double batch,
                                Strategy strategy, RowsUsed* trace) {
  return shape.rows.at(query.context_tokens, batch, query.new_tokens, along_prompt(strategy),
                       strategy, trace);
}

}  // namespace rooflua
