#pragma once
// One decode of a step where a replica speculates: the pending token of a request and its drafts.

#include <cstdint>
#include <memory>
#include <span>

namespace rooflua {

struct Curve;

struct Row {
  std::int32_t slot = -1;
  std::int32_t id = -1;          // of the request
  std::int32_t drafts = 0;       // k; the row has 1 + k tokens
  std::int32_t accepted = 0;     // of them; resolved when the step is planned, and hidden until it
                                 // lands
  std::int32_t landed = 0;       // tokens: 1 + accepted, less those behind the request's end
  std::int32_t next_drafts = 0;  // that the request brings to the next plan
  std::int32_t blocks = 0;       // that it takes
  std::int32_t context = 0;      // KV in front of it, as it will be
  std::int32_t known_context = 0;  // the same, as the scheduler knows it
  bool discarded = false;          // its request ends in the step before it: nothing lands
  bool grants = false;             // it takes blocks, or more of the sequence is known content

  std::int32_t tokens() const { return 1 + drafts; }
};

/// Sums over the rows of a step.
struct RowSums {
  std::int64_t tokens = 0;
  std::int64_t contexts = 0, pairs = 0;  // with KV as it will be; pairs of a query and a KV token
  std::int64_t known_contexts = 0, known_pairs = 0;  // the same, as the scheduler knows it
};
RowSums sum_of(std::span<const Row> rows);

/// Draws number 8 `group` to 8 `group` + 7 of a request's stream, kept because they are made
/// together.
struct Luck {
  static constexpr std::int32_t count = 8;
  std::int32_t group = -1;  // none yet
  double u[count] = {};
};

/// What the engine knows of a live request at a replica that speculates. Context and emitted tokens
/// of the Request count what landed and one token per row in flight, which is certain.
struct RaggedProgress {
  std::uint64_t key = 0;               // of the stream "acceptance"
  std::shared_ptr<const Curve> curve;  // null: it has not sampled yet
  std::int32_t rounds = 0;             // resolved
  std::int32_t flight_rows = 0;        // decodes that are planned and have not landed
  std::int32_t flight_tokens = 0;      // of these rows, drafts included
  std::int32_t landed_tokens = 0;      // of its output
  std::int32_t true_emitted = 0;       // output tokens, those in flight as they will land
  std::int32_t true_context = 0;       // KV, the same
  std::int32_t content_tokens = 0;     // leading tokens whose full blocks count as content
  bool shares_output = false;          // others may ask for what it generates
  Luck luck;                           // a copy of what follows from the key
};

}  // namespace rooflua
