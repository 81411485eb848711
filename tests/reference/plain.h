#pragma once
// The types of the reference simulators. Nothing here is shared with engine/serve, so that an error
// there cannot be repeated here. Times are integer picoseconds.

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rooflua::reference {

using Ps = std::int64_t;
inline constexpr Ps unset = -1;

/// Two tokens are the same token if and only if both numbers agree.
struct Token {
  std::uint64_t content = 0;
  std::int32_t place = 0;
  auto operator<=>(const Token&) const = default;
};

struct PlainRequest {
  Ps arrival = 0;
  int prompt = 1;
  int output = 1;             // generated length, always reached
  int max_new = 1;            // what the client declares; > output: an end token comes before it
  int predicted = -1;         // output length by a predictor; -1: none
  int priority = 0;           // lower is better
  int adapter = 0;            // from 1; 0: none
  std::vector<Token> tokens;  // all prompt + output of them, and one that is never read
};

/// What one request does in one step.
struct Row {
  int id = -1;
  int context = 0;       // KV before the step
  int tokens = 0;        // computed in the step
  bool prefill = false;  // (re-)computation of a known sequence, until its next token is sampled
  bool samples = false;  // a token lands at the end of the step
  int drafts = 0;        // of the tokens
  int accepted = 0;      // of the drafts
  int landed = 1;        // tokens that land where it samples; 0: its request had ended
  auto operator<=>(const Row&) const = default;
};
using Rows = std::vector<Row>;

/// Layers in several stages, one after the other; fewer than two shares: they are in one.
struct Stages {
  std::vector<double> shares;          // of a step's duration; they sum to 1
  std::vector<Ps> latency, per_token;  // of the way to each stage but the first
  int batches = 0;                     // steps under way at once
  bool several() const { return shares.size() > 1; }
};

/// Duration of a step; >= 1.
using Price = std::function<Ps(const Rows&)>;

/// What is compared of each request.
struct Served {
  Ps arrival = unset, scheduled = unset, first = unset, last = unset;
  int tokens = 0;
  int preemptions = 0;
  int cached = 0;                         // prefix hits at the first admission, tokens
  int replica = 0, prefill_replica = -1;  // where it ended; where its prompt was computed, if split
  Ps pulled = unset;                      // when its KV set off from there
  int drafted = 0, accepted = 0;          // drafts of decodes that landed
  Ps aborted = unset;
  Ps held = 0;  // at a gate
  bool operator==(const Served&) const = default;
};

/// Somebody ends a request: after all else that happens at that time.
struct Abort {
  Ps time = 0;
  int id = -1;
};

/// What is compared of a store outside the GPUs.
struct StoreCounts {
  int loads = 0, stores = 0, skipped = 0, hit_tokens = 0, evictions = 0;
  bool operator==(const StoreCounts&) const = default;
};

struct StepLog {
  Ps planned = 0, start = 0, end = 0;
  Rows rows;
  int replica = 0;
  int waiting = 0;  // of the naive engine: requests that the plan left in the queue
};

/// All that is compared of a run.
struct History {
  std::vector<Served> requests;
  std::vector<StepLog> steps;
  int preemptions = 0;
  int resume_hits = 0;       // re-admissions of preempted requests that found part of their KV
  int discarded = 0;         // rows of requests whose end token landed while they were planned
  int ended_waiting = 0;     // requests that lost their seat while their end token was in flight
  int empty_steps = 0;       // of ranks without tokens, beside others of their group
  int most_under_way = 0;    // steps at once, with stages
  int dealt_over_plans = 0;  // plans after which requests were left to enter, with stages
  int cached_pulls = 0;      // prompts of which a part was cached where they are decoded
  int held_back = 0;         // prompts whose KV found no room at its decode replica at first
  int periods = 0;           // of experts that drift, that began
  int scaled = 0;            // times that a pool wanted another number of engines
  int changed_rank = 0;      // requests that left the queue of their engine for another rank
  bool stands_still = false;  // of the naive cluster: autoscalers are asked, and nothing happens
  bool finished = true;      // false: requests were left and nothing could run
  std::vector<StoreCounts> stores;
  std::map<std::string, int> aborted;  // how many requests, by where they were
  std::vector<int> ends;               // of the naive cluster: aborted ones, in that order
};

std::string text(const Served& served);
std::string text(const StepLog& step);

}  // namespace rooflua::reference
