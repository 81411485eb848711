#include "serve/runs/priced_run.h"

#include <algorithm>

namespace rooflua {

namespace {

void grow(Batch& batch, const BatchGrowth& growth) {
  batch.decode_context_tokens += growth.decode_context_tokens;
  for (int i = 0; i < 4; ++i) batch.bounded_tokens[i] += growth.bounded_tokens[i];
  batch.chunk_tokens += growth.chunk_tokens;
}

BatchGrowth growth_between(const Batch& before, const Batch& now) {
  BatchGrowth growth;
  growth.decode_context_tokens = now.decode_context_tokens - before.decode_context_tokens;
  for (int i = 0; i < 4; ++i)
    growth.bounded_tokens[i] = now.bounded_tokens[i] - before.bounded_tokens[i];
  growth.chunk_tokens = now.chunk_tokens - before.chunk_tokens;
  return growth;
}

bool same_bounded(const Batch& a, const Batch& b) {
  return std::equal(a.bounded_tokens, a.bounded_tokens + 4, b.bounded_tokens) &&
         a.chunk_tokens == b.chunk_tokens;
}

/// Whether the same ranks have the same tokens, and as many requests decode.
bool same_shape(const Batch& a, const Batch& b) {
  return a.decodes == b.decodes && a.bounds == b.bounds && a.group_ranks == b.group_ranks &&
         a.group_tokens == b.group_tokens && a.group_max_tokens == b.group_max_tokens &&
         a.group_prefills == b.group_prefills;
}

}  // namespace

bool PricedRun::expects(const Batch& batch) const {
  return batch.decode_context_tokens == expected_.decode_context_tokens &&
         same_shape(batch, expected_) && same_bounded(batch, expected_);
}

const StepPrice& PricedRun::use() {
  grow(expected_, growth_);
  return prices_[used_++];
}

const StepPrice* PricedRun::next(std::int32_t decodes, double context_tokens,
                                 const Batch* bounded) {
  if (used_ == prices_.size() || decodes != expected_.decodes ||
      context_tokens != expected_.decode_context_tokens)
    return nullptr;
  if (bounded != nullptr && !same_bounded(*bounded, expected_)) return nullptr;
  return &use();
}

/// Learns from a batch that was not expected.
void PricedRun::look_ahead(const Batch& batch) {
  const double more = batch.decode_context_tokens - expected_.decode_context_tokens;
  const bool follows = !steady_ && more == batch.decodes && same_shape(batch, expected_);
  if (follows) growth_ = growth_between(expected_, batch);
  expected_ = batch;
  expected_.origin = nullptr;
  steady_ = follows;
  if (follows) grow(expected_, growth_);
  length_ = 0;
  prices_.clear();
  used_ = 0;
}

StepPrice PricedRun::price(StepModel& model, const Batch& batch) {
  StepPrice price;
  if (waits_ > 0 || batch.prefill_count > 0 || batch.decodes == 0) {
    waits_ = std::max(waits_ - 1, 0);
    steady_ = false;
    model.price(batch, price);
    return price;
  }
  if (!steady_ || !expects(batch)) {
    look_ahead(batch);
    model.price(batch, price);
    return price;
  }
  if (used_ < prices_.size()) return use();
  length_ = length_ == 0 ? first_steps : std::min(2 * length_, most_steps);
  prices_.assign(static_cast<std::size_t>(length_), StepPrice{});
  used_ = 0;
  const std::int32_t priced = model.price_run(batch, growth_, prices_);
  prices_.resize(static_cast<std::size_t>(priced));
  patience_ = priced > 0 ? 1 : std::min(2 * patience_, most_patience);
  if (priced > 0) return use();
  waits_ = patience_;
  model.price(batch, price);
  return price;
}

}  // namespace rooflua
