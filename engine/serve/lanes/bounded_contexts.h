#pragma once
// Sums over the contexts of decoding requests, for attention that reads a part of each context: the
// last `cap` tokens (a sliding window, a selection), or those since the last multiple of a chunk.
//
//     bounded_tokens[i] = sum of min(context + 1, caps[i])
//     chunk_tokens      = sum of context % chunk + 1
//
// The context is the number of cached tokens, to which the token that is computed adds one. No
// function of the sum of contexts gives these sums. They are kept at O(1) a step: a sum grows by
// the number of requests below the cap. The step in which a request reaches the cap is known when
// it comes, and a ring counts the requests of each such step.

#include <cstdint>
#include <vector>

#include "border.h"

namespace rooflua {

/// Caps and a chunk, in tokens (border.h).
using ContextBounds = rooflua_context_bounds;

class BoundedContexts {
 public:
  /// No bounds: used() is false, and nothing else may be called.
  BoundedContexts() = default;
  /// @param most_tokens  no context is longer. A ring has min(cap, most_tokens + 1) entries.
  BoundedContexts(const ContextBounds& bounds, std::int64_t most_tokens);

  bool used() const { return used_; }

  /// A request with so many cached tokens comes, or goes.
  void add(std::int32_t context);
  void remove(std::int32_t context);
  /// Every context grows by one token.
  void advance();

  /// Writes bounds and sums of all requests to a batch.
  void sum_all(rooflua_batch& batch) const;
  /// The same for `batch.decodes` contexts alone, one by one.
  void sum_of(const std::int32_t* contexts, rooflua_batch& batch) const;

 private:
  /// Counts of what happens in so many steps; at most as many steps ahead as it has entries.
  struct Ring {
    std::vector<std::int32_t> counts;
    std::size_t now = 0;
    std::int32_t& in(std::int32_t steps);
    std::int32_t& next();
  };
  struct Cap {
    std::int32_t tokens = 0;  // not above most_tokens + 1
    std::int32_t below = 0;   // requests with context + 1 < tokens
    std::int64_t sum = 0;
    Ring reaching;
  };

  void change(std::int32_t context, std::int32_t requests);

  ContextBounds bounds_;
  bool used_ = false;
  Cap caps_[4];
  std::int32_t chunk_ = 0;  // not above most_tokens + 1
  std::int32_t requests_ = 0;
  std::int64_t chunk_sum_ = 0;
  Ring wrapping_;  // requests whose context becomes a multiple of the chunk
};

}  // namespace rooflua
