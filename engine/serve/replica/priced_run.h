#pragma once
// Prices of steps ahead, for one replica. While the same requests decode and nothing else happens,
// each batch differs from the one before by the same growth of its sums. A step model that can
// (StepModel::price_run) prices the next of them in one call. A price is used only for a batch that
// has exactly the sums for which it was computed, so that it does not matter why a run ends:
// a request that comes, ends or waits for blocks, or a context that reaches a bound.
//
// A run is asked for at the third batch that grows as the ones before. Its length doubles with
// every run that was used up, from `first_steps` to `most_steps`. A model that prices none is asked
// again later and later.
//
// Few decodes: a run that was priced for the same number and the same sum of contexts before is
// used again, from the first batch on (remembered_prices.h).

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "serve/contract/policy.h"
#include "serve/replica/remembered_prices.h"

namespace rooflua {

class PricedRun {
 public:
  static constexpr std::int32_t first_steps = 8, most_steps = 256, most_patience = 1 << 20;

  /// The price of the batch: from the run, from a run that begins here, or of this step alone.
  StepPrice price(StepModel& model, const Batch& batch);
  /// The price of the next batch of the run, if the run has one and the decodes are these. Sums
  /// under bounds are compared where `bounded` is given. Null: ask price().
  const StepPrice* next(std::int32_t decodes, double context_tokens, const Batch* bounded);
  /// The prices of the batch that has these decodes and of those after it, whose contexts grow by
  /// a token each; empty if the run has none. Bounds of contexts are not looked at.
  std::span<const StepPrice> ahead(std::int32_t decodes, double context_tokens) const {
    const bool known = decodes == expected_.decodes && growth_.decode_context_tokens == decodes &&
                       context_tokens == expected_.decode_context_tokens;
    return known ? prices_ : std::span<const StepPrice>();
  }
  /// So many of them were used. @pre expected_ has no bounds
  void skip(std::size_t steps) {
    prices_ = prices_.subspan(steps);
    expected_.decode_context_tokens += growth_.decode_context_tokens * static_cast<double>(steps);
  }
  /// Bring what next() reads into the processor's cache: itself, and the price.
  void prefetch() const {
    for (std::size_t at = 0; at < sizeof *this; at += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(this) + at);
  }
  void prefetch_price() const {
    __builtin_prefetch(prices_.data());
    __builtin_prefetch(reinterpret_cast<const char*>(prices_.data() + 1) - 1);
  }
  /// Another step model, or another simulation: nothing is known.
  void forget() { *this = PricedRun{}; }

 private:
  bool expects(const Batch& batch) const;
  void look_ahead(const Batch& batch);
  const StepPrice& use();
  bool use_found(const RememberedPrices::Found& found, const Batch& batch);
  std::int32_t ask(StepModel& model, const Batch& batch);

  // What next() reads stands first.
  std::span<const StepPrice> prices_;  // of own_ or chunk_: those to come
  BatchGrowth growth_;
  Batch expected_;           // the sums of the next batch; before it is steady_: of the last one
  std::int32_t length_ = 0;  // of the run that was asked for last; 0: none for these decodes
  bool steady_ = false;      // expected_ is what the last two batches lead to
  std::int32_t waits_ = 0, patience_ = 1;  // steps until the model is asked for a run again
  std::vector<StepPrice> own_;             // of a run that is not remembered
  std::shared_ptr<const RememberedPrices::Chunk> chunk_;  // of one that is
};

}  // namespace rooflua
