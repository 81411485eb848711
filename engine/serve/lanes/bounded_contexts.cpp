#include "serve/lanes/bounded_contexts.h"

#include <algorithm>

namespace rooflua {

std::int32_t& BoundedContexts::Ring::in(std::int32_t steps) {
  std::size_t at = now + static_cast<std::size_t>(steps);
  if (at >= counts.size()) at -= counts.size();
  return counts[at];
}

std::int32_t& BoundedContexts::Ring::next() {
  if (++now == counts.size()) now = 0;
  return counts[now];
}

BoundedContexts::BoundedContexts(const ContextBounds& bounds, std::int64_t most_tokens)
    : bounds_(bounds) {
  // A longer bound gives the same sums.
  const auto within = [most_tokens](std::int32_t tokens) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(tokens, most_tokens + 1));
  };
  for (int i = 0; i < 4; ++i) {
    Cap& cap = caps_[i];
    cap.tokens = within(bounds.caps[i]);
    cap.reaching.counts.resize(static_cast<std::size_t>(cap.tokens));
    used_ = used_ || cap.tokens > 0;
  }
  chunk_ = within(bounds.chunk);
  wrapping_.counts.resize(static_cast<std::size_t>(chunk_));
  used_ = used_ || chunk_ > 0;
}

void BoundedContexts::change(std::int32_t context, std::int32_t requests) {
  requests_ += requests;
  for (Cap& cap : caps_) {
    if (cap.tokens == 0) continue;
    cap.sum += std::int64_t{requests} * std::min(context + 1, cap.tokens);
    if (context + 1 >= cap.tokens) continue;
    cap.below += requests;
    cap.reaching.in(cap.tokens - 1 - context) += requests;
  }
  if (chunk_ == 0) return;
  const std::int32_t inside = context % chunk_;
  chunk_sum_ += std::int64_t{requests} * (inside + 1);
  wrapping_.in(chunk_ - inside) += requests;
}

void BoundedContexts::add(std::int32_t context) {
  change(context, 1);
}

void BoundedContexts::remove(std::int32_t context) {
  change(context, -1);
}

void BoundedContexts::advance() {
  for (Cap& cap : caps_) {
    if (cap.tokens == 0) continue;
    cap.sum += cap.below;
    std::int32_t& reached = cap.reaching.next();
    cap.below -= reached;
    reached = 0;
  }
  if (chunk_ == 0) return;
  chunk_sum_ += requests_ - std::int64_t{chunk_} * wrapping_.next();
}

void BoundedContexts::sum_all(rooflua_batch& batch) const {
  batch.bounds = &bounds_;
  for (int i = 0; i < 4; ++i) batch.bounded_tokens[i] = static_cast<double>(caps_[i].sum);
  batch.chunk_tokens = static_cast<double>(chunk_sum_);
}

void BoundedContexts::sum_of(const std::int32_t* contexts, rooflua_batch& batch) const {
  batch.bounds = &bounds_;
  for (std::int32_t k = 0; k < batch.decodes; ++k) {
    for (int i = 0; i < 4; ++i)
      batch.bounded_tokens[i] += std::min(contexts[k] + 1, caps_[i].tokens);
    if (chunk_ > 0) batch.chunk_tokens += contexts[k] % chunk_ + 1;
  }
}

}  // namespace rooflua
