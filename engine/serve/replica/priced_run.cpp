#include "serve/replica/priced_run.h"

#include <algorithm>

namespace rooflua {

namespace {

void grow(Batch& batch, const BatchGrowth& growth) {
  batch.decode_context_tokens += growth.decode_context_tokens;
  if (batch.bounds == nullptr) return;
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
         a.group_prefills == b.group_prefills && a.adapters == b.adapters &&
         a.adapter_tokens == b.adapter_tokens && a.adapter_loads == 0 && b.adapter_loads == 0 &&
         a.expert_load == b.expert_load;
}

}  // namespace

bool PricedRun::expects(const Batch& batch) const {
  return batch.decode_context_tokens == expected_.decode_context_tokens &&
         same_shape(batch, expected_) && same_bounded(batch, expected_);
}

const StepPrice& PricedRun::use() {
  grow(expected_, growth_);
  const StepPrice& price = prices_.front();
  prices_ = prices_.subspan(1);
  return price;
}

const StepPrice* PricedRun::next(std::int32_t decodes, double context_tokens,
                                 const Batch* bounded) {
  if (prices_.empty() || decodes != expected_.decodes ||
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
  prices_ = {};
}

/// Prices of the batch and of those after it, if they are remembered: contexts grow by a token
/// each.
bool PricedRun::use_found(const RememberedPrices::Found& found, const Batch& batch) {
  if (found.chunk == nullptr) return false;
  if (!steady_ || !expects(batch)) {
    expected_ = batch;
    expected_.origin = nullptr;
    growth_ = BatchGrowth{.decode_context_tokens = static_cast<double>(batch.decodes)};
    length_ = 0;
    steady_ = true;
  }
  const std::span<const StepPrice> all(found.chunk->prices);
  prices_ = all.first(static_cast<std::size_t>(found.chunk->last))
                .subspan(static_cast<std::size_t>(found.step));
  chunk_ = found.chunk;
  return true;
}

/// Asks for the run that begins with the batch. @returns how many steps were priced
std::int32_t PricedRun::ask(StepModel& model, const Batch& batch) {
  length_ = length_ == 0 ? first_steps : std::min(2 * length_, most_steps);
  RememberedPrices* remembered = model.remembered();
  if (remembered != nullptr && remembered->keeps(batch)) {
    use_found(remembered->ask(model, batch, growth_, length_), batch);
    return static_cast<std::int32_t>(prices_.size());
  }
  own_.assign(static_cast<std::size_t>(length_), StepPrice{});
  const std::int32_t priced = model.price_run(batch, growth_, own_);
  prices_ = std::span(own_).first(static_cast<std::size_t>(priced));
  return priced;
}

StepPrice PricedRun::price(StepModel& model, const Batch& batch) {
  StepPrice price;
  if (waits_ > 0 || batch.prefill_count > 0 || batch.decodes == 0 || batch.expert_stall_s > 0) {
    waits_ = std::max(waits_ - 1, 0);
    steady_ = false;
    model.price(batch, price);
    return price;
  }
  const bool follows = steady_ && expects(batch);
  if (follows && !prices_.empty()) return use();
  const RememberedPrices* remembered = model.remembered();
  if (remembered != nullptr && remembered->keeps(batch) &&
      use_found(remembered->find(batch), batch))
    return use();
  if (!follows) {
    look_ahead(batch);
    model.price(batch, price);
    return price;
  }
  const std::int32_t priced = ask(model, batch);
  patience_ = priced > 0 ? 1 : std::min(2 * patience_, most_patience);
  if (priced > 0) return use();
  waits_ = patience_;
  model.price(batch, price);
  return price;
}

}  // namespace rooflua
