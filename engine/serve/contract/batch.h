#pragma once
// The work of one step, and its price.

#include <cstdint>
#include <string>
#include <vector>

#include "border.h"
#include "cost/price/evidence.h"

namespace rooflua {

/// One prefill of a step (border.h).
using PrefillWork = rooflua_prefill_work;

/// Generated tokens of a request fill a block: with so many tokens of its sequence.
struct Filled {
  std::int32_t slot = -1, id = -1, tokens = 0;
};

/// What a step model prices (border.h).
using Batch = rooflua_batch;

/// Context of every decode of the batch, in admission order: `batch.decodes` numbers, valid during
/// the call that was given the batch. Null when the batch was built by hand from sums. O(seats),
/// where the numbers of the batch cost O(1).
const std::int32_t* decode_contexts(const Batch& batch) noexcept;
/// Tokens of every row, 1 + k, in the same order; null when the batch was built by hand from sums.
const std::int32_t* decode_widths(const Batch& batch) noexcept;
/// The largest context; 0 without decodes; the mean, rounded up, when only sums are known.
std::int32_t decode_context_max(const Batch& batch) noexcept;
/// Ids of the same requests, in the same order; empty when the batch was built by hand. O(seats).
std::vector<std::int32_t> decode_ids(const Batch& batch);

/// A priced step (border.h).
using StepPrice = rooflua_step_price;

/// How much a step model says about a price. Each level includes the ones before it and is slower.
enum class PriceDetail : std::int32_t {
  time,        // the step's time and evidence
  bound,       // and what bounds it (StepPrice::bound)
  operations,  // and the time of every operation
};

/// Seconds of one operation in a step, all its repetitions together.
struct OpTime {
  std::string name;
  Evidence evidence = Evidence::assumed;
  double time_s = 0;
};

}  // namespace rooflua
