#pragma once
// A request, in three structs: what the workload says (RequestSpec), what a policy may read
// (Request), and what only the engine knows (Progress, which alone holds the true output length).
// Live requests sit in slots of one arena. A slot is reused after its request is done; its epoch
// tells the old request from the new one.

#include <cstdint>
#include <span>
#include <vector>

#include "border.h"
#include "serve/contract/clock.h"
#include "serve/contract/row.h"
#include "serve/contract/segment.h"
#include "serve/contract/session_hashes.h"
#include "serve/contract/words.h"

namespace rooflua {

/// One request as a workload describes it. Times in seconds, lengths in tokens.
struct RequestSpec {
  double arrival_s = 0;                       // when the client sends it; >= 0
  std::int32_t prompt_tokens = 0;             // >= 1
  std::int32_t output_tokens = 0;             // true length, >= 1; no policy ever sees it
  std::int32_t max_output_tokens = 0;         // the limit the client declares; 0 = none
  std::int32_t predicted_output_tokens = -1;  // a predictor's guess of the length; -1 = none
  std::int32_t priority = 0;                  // lower is served first, as in vLLM
  std::int32_t klass = 0;                     // class, for metrics per class
  std::int32_t session = -1;
  std::int32_t tenant = -1;   // that sends it, for fairness; -1: unknown
  std::int32_t program = -1;  // of which it is a part, for fairness; -1: of none
  double deadline_s = 0;      // > 0: so long after it was sent its answer is of no use
  std::int32_t attempt = 0;   // 0, or which retry it is
  std::int32_t origin = -1;   // of a retry: the id of the first attempt
  std::int32_t adapter = -1;  // low-rank adapter, from 1; 0: none; -1: the workload does not say
  /// What the prompt consists of; empty = private tokens. Must add up to prompt_tokens. The span
  /// need only live until the call that hands it over returns or asks for the next request.
  std::span<const Segment> segments;
  std::uint64_t output_content = 0;  // identity of the generated tokens (a later turn repeats them)
  std::int32_t row = -1;             // what the workload knows it by (serve/plays); -1: by nothing
};

/// What policies and routers may read: the struct in border.h, which LuaJIT reads in place.
using Request = rooflua_request;

/// What only the engine knows of a live request: its numbers. Decode indices are those of
/// lanes/decode_pool.h.
struct ProgressNumbers {
  Picoseconds arrival = 0;        // sent
  Picoseconds queued = never;     // at the replica
  Picoseconds scheduled = never;  // first admitted by a plan
  Picoseconds first_token = never, last_token = never;
  Picoseconds deadline = never;    // RequestSpec::deadline_s
  Picoseconds held = 0;            // how long a gate held it
  std::int64_t finish_at = 0;      // decode index at which its last token is planned
  std::int64_t event_at = 0;       // decode index of its entry in the wheel
  std::int64_t token_from = 0;     // from this decode index on it is at the common pace
  std::int64_t seat = 0;           // order of admission
  std::int64_t planned = -1;       // serial of the last plan that scheduled it individually
  std::int64_t preempted = -1;     // serial of the last plan that preempted it
  std::int64_t admitted = -1;      // serial of the last plan that admitted it
  std::int32_t output_tokens = 0;  // its true length
  std::int32_t stop_at = 0;        // output tokens at which this replica is done with it
  std::int32_t limit = 0;          // output tokens that end it for certain; >= stop_at
  std::int32_t held_blocks = 0;    // of its tokens, at the last admission, chunk or join; decoding
                                   // grows past it
  std::int32_t prefill_replica = -1;
  std::int32_t kept_blocks = 0;       // at the prefill replica, with that replica's seat_blocks,
                                      // until its KV was pulled from there
  std::int32_t remote_tokens = 0;     // KV that another replica computed, until it is seated
  std::int32_t flows = 0;             // of its KV from a prefill replica that are under way
  std::int32_t first_hit_tokens = 0;  // prefix hits at the first admission
  // Where content is known when a step ends (ReplicaConfig::content_from), of its last seat:
  std::int32_t chunks_end = 0;  // tokens after the last chunk of its sequence that was planned
  std::int32_t landed_end = 0;  // and after the last one that is computed
  std::int32_t wheel_next = -1, wheel_previous = -1;
  std::int32_t crossing = -1;     // decode index modulo block_size where it needs a block; -1: none
  std::int32_t filling = -1;      // the same, where it fills a block that others may ask for
  std::int32_t row = -1;          // RequestSpec::row
  std::int32_t origin = -1;       // RequestSpec::origin
  std::int32_t adapter = 0;       // 0: none
  bool held_for_adapter = false;  // a plan could not admit it for its adapter
  std::uint64_t output_content = 0;
};

/// The same with its lists, whose memory is used again by the next request in the slot. It takes
/// whole lines of the processor's cache, and its address is a shift away.
struct alignas(64) Progress : ProgressNumbers {
  std::vector<Segment> segments;  // empty = private
  /// Kept by the prefix caches (kv/block_hashes.h), one entry per block size: it follows from the
  /// request alone, so that all replicas read the same.
  mutable std::vector<BlockHashes> block_hashes;
};

/// Tokens at the left that two prompts have in common; of private prompts none. KV depends on the
/// adapter: prompts of different adapters have none.
std::int32_t shared_tokens(const Progress& a, const Progress& b) noexcept;

/// The arena of live requests. Slots are reused, last freed first; memory is bounded by the most
/// requests that were ever alive together.
class Requests {
 public:
  /// A slot for a request that is about to arrive: phase pending, no id yet.
  /// @throws Error if the spec is impossible (negative or NaN arrival, lengths < 1, segments that
  /// do not add up)
  std::int32_t open(const RequestSpec& spec, std::int64_t ordinal);
  void close(std::int32_t slot);

  Request& operator[](std::int32_t slot) { return requests_[static_cast<std::size_t>(slot)]; }
  const Request& operator[](std::int32_t slot) const {
    return requests_[static_cast<std::size_t>(slot)];
  }
  Progress& progress(std::int32_t slot) { return progress_[static_cast<std::size_t>(slot)]; }
  const Progress& progress(std::int32_t slot) const {
    return progress_[static_cast<std::size_t>(slot)];
  }
  /// What a replica that speculates keeps of a request; from open_ragged() on.
  RaggedProgress& ragged(std::int32_t slot) { return ragged_[static_cast<std::size_t>(slot)]; }
  const RaggedProgress& ragged(std::int32_t slot) const {
    return ragged_[static_cast<std::size_t>(slot)];
  }
  RaggedProgress& open_ragged(std::int32_t slot) {
    if (ragged_.size() < requests_.size()) ragged_.resize(requests_.size());
    return ragged(slot);
  }
  void forget_fates() {
    for (RaggedProgress& each : ragged_) each.fates.group = each.behind.group = -1;
  }
  const Request* data() const { return requests_.data(); }
  std::int32_t slots() const { return static_cast<std::int32_t>(requests_.size()); }
  std::int32_t alive() const { return alive_; }

 private:
  std::vector<Request> requests_;
  std::vector<Progress> progress_;
  std::vector<RaggedProgress> ragged_;  // as long as the last open_ragged() made it
  std::vector<std::int32_t> free_;
  SessionHashes session_hashes_;
  std::int32_t alive_ = 0;
  // What a slot begins with. Members, because compilers clear a struct by a slower instruction than
  // they copy it.
  Request blank_;
  ProgressNumbers blank_progress_;
};

}  // namespace rooflua
