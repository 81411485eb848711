#pragma once
// One decode of a step where a replica speculates: the pending token of a request and its drafts;
// and what the engine keeps of such a request.

#include <cstdint>
#include <limits>
#include <memory>

#include "serve/contract/clock.h"
#include "serve/contract/fates.h"

namespace rooflua {

struct Curve;

struct Row {
  std::int32_t slot = -1;
  std::int32_t id = -1;          // of the request
  std::int32_t drafts = 0;       // k; the row has 1 + k tokens
  std::int32_t accepted = 0;     // of them; resolved when the step is planned, and hidden until it
                                 // lands
  std::int32_t landed = 0;       // tokens: 1 + accepted, less those after the request's end
  std::int32_t next_drafts = 0;  // that the request brings to the next plan, where they differ
  bool discarded = false;        // its request ends in the step before it: nothing lands
  bool ends = false;             // the request's last token is in it

  std::int32_t tokens() const { return 1 + drafts; }
  bool goes_on() const { return !(discarded | ends); }
};

/// Sums over the rows of a step.
struct RowSums {
  std::int64_t tokens = 0;
  std::int64_t contexts = 0, pairs = 0;  // with KV as it will be; pairs of a query and a KV token
  std::int64_t known_contexts = 0, known_pairs = 0;  // the same, as the scheduler knows it
};

/// What the engine knows of a live request at a replica that speculates. Context and emitted tokens
/// of the Request count what landed and one token per row in flight, which is certain.
///
/// Every step reads and writes it for every decoding request, so the fields of every step fill one
/// line of the processor's cache. Those that others have, too, are copies while it decodes.
struct alignas(64) RaggedProgress {
  static constexpr std::int32_t never_fills = std::numeric_limits<std::int32_t>::max();

  Fates fates;
  std::int32_t true_emitted = 0;        // output tokens, those in flight as they will land
  std::int32_t true_context = 0;        // KV, the same
  std::int32_t ahead = 0;               // KV, if every draft in flight is accepted
  std::int32_t known_tokens = 0;        // of its sequence: the prompt, and output that landed
  std::int32_t content_tokens = 0;      // leading tokens whose full blocks count as content
  std::int32_t fills_at = never_fills;  // content that fills another block that others may ask for
  std::int32_t calm_until = 0;          // with so many tokens it needs no block, and all its drafts
                                        // are below max_model_len
  std::int32_t stop_at = 0, limit = 0;  // as Progress
  std::uint16_t drafts = 0;             // that it brings to the next plan
  bool decodes = false;                 // it is a member of the pool
  Picoseconds last_token = 0;           // as Progress, while it decodes

  // Of some steps:
  std::uint64_t key = 0;               // of the stream "acceptance"
  std::shared_ptr<const Curve> curve;  // null: it has not sampled yet
  DrawsBehind behind;
};

}  // namespace rooflua
