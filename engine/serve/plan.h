#pragma once
// One step, as a scheduler proposes it. Every operation either happens at once (seat, blocks,
// budget: later calls see it), or says "no, and nothing changed", or is refused because it makes
// no sense: then the run ends with an Error that says what the policy did.
//
// Contexts and phases advance when the plan is complete (computed += new, before the step runs),
// so the same plan never sees its own progress. The last one-token chunk of a resumed request is
// a prefill.

#include <cstdint>
#include <string>
#include <vector>

#include "border.h"
#include "cost/evidence.h"
#include "serve/clock.h"

namespace rooflua {

class Replica;
class SchedulerPolicy;

/// One prefill of a step (border.h).
using PrefillWork = rooflua_prefill_work;

/// What a step model prices (border.h).
using Batch = rooflua_batch;

/// Context of every decode of the batch, in admission order: `batch.decodes` numbers, valid during
/// the call that was given the batch. O(running): the slow path. Null when the batch was built by
/// hand from sums.
const std::int32_t* decode_contexts(const Batch& batch) noexcept;
/// The largest of them; 0 without decodes; the mean, rounded up, when only sums are known.
std::int32_t decode_context_max(const Batch& batch) noexcept;
/// Ids of the same requests, in the same order; empty when the batch was built by hand. O(running).
std::vector<std::int32_t> decode_ids(const Batch& batch);

/// A priced step. Evidence shares are seconds and add up to time_s.
struct StepPrice {
  double time_s = 0;
  double evidence_s[evidence_count] = {};
  std::int32_t bound = 0;  // what dominated: 0 unknown, 1 compute, 2 memory, 3 link
};

/// Options of admit(). All lengths are tokens of the request's sequence, hits included.
struct Admission {
  std::int32_t tokens = 0;        // to compute in this step, >= 1; at most what has no KV
  std::int32_t hold_tokens = 0;   // hold blocks for this many at once: the whole prompt (Sarathi),
                                  // prompt + max_tokens (Orca, TRT-LLM); 0 = what this step needs
  std::int32_t fit_tokens = 0;    // say no unless this many would fit; nothing more is held for it
                                  // (scheduler_reserve_full_isl)
  std::int32_t spare_blocks = 0;  // and this many blocks stay free besides (watermark)
};

/// Why an operation made no sense.
enum class Refusal : std::int32_t {
  none,
  no_such_request,  // a stale or foreign slot
  not_waiting,      // admit or reject of a request that is not waiting (admitted twice)
  not_prefilling,
  not_decoding,
  not_seated,       // preempt of a request without a seat
  planned_already,  // scheduled twice in one step
  decoded_already,  // decode_all twice in one step
  preempted_now,    // admitted in the step that preempted it
  admitted_now,     // preempted in the step that admitted it
  no_tokens,        // tokens < 1
  too_many_tokens,  // more than the request has pending
  over_budget,      // the step would exceed max_num_batched_tokens
  victim_expected,  // decode_all waits for a victim and something else was asked
  no_victim,        // a victim was given and none was asked for
  bad_limit,        // decode_all(limit < 0)
  bad_wake,         // a wake time that is not after now
};
const char* name(Refusal refusal);

/// Numbers of the plan so far (border.h).
using PlanView = rooflua_plan_view;

/// The `try_...` operations are virtual for one reason: a naive simulator can stand behind them.
/// The operations come twice: `try_...` never throws (for callers across a language border):
/// 1 = done, 0 = no and nothing changed, -1 = refused, see view().refusal. The others return a
/// bool or a count and throw the refusal as an Error that names time, replica, plan and request.
class Plan {
 public:
  virtual ~Plan() = default;

  static constexpr std::int32_t everybody = -1;
  static constexpr std::int32_t asks_victim = -2;

  const PlanView& view() const { return view_; }

  /// One token for every running decode that is not planned yet, or for the oldest `limit` (by
  /// admission). O(1) when blocks suffice and the limit does not bind (such a plan is repeated
  /// while nothing changes, see policy.h). When they do not, walks in admission order and sheds as
  /// vLLM does: while the request at hand needs a block and none is free, the victim (default: the
  /// tail of the running list) is preempted; a victim planned already in this step gives its tokens
  /// back; if the victim is the request at hand, the walk ends there.
  /// @returns how many decode now
  std::int32_t decode_all(std::int32_t limit = everybody);
  /// As decode_all; asks_victim when the policy chooses victims: answer with try_shed until it no
  /// longer asks. -1 = refused.
  virtual std::int32_t try_decode_all(std::int32_t limit) noexcept;
  virtual std::int32_t try_shed(std::int32_t victim_slot) noexcept;

  /// One token for one decoding request; false if it needs a block and none is free.
  bool decode(std::int32_t slot);
  virtual std::int32_t try_decode(std::int32_t slot) noexcept;

  /// The next `tokens` of a seated request's sequence; false if the blocks are not there.
  bool prefill(std::int32_t slot, std::int32_t tokens);
  virtual std::int32_t try_prefill(std::int32_t slot, std::int32_t tokens) noexcept;

  /// Seat, blocks and the first chunk, or nothing at all. Prefix hits (KV that is cached or came
  /// from another replica) are taken first; tokens count what is computed beyond them. False if
  /// there is no seat, or
  ///     ceil(max(held, fit) / block_size) - hit_blocks + hit_blocks_in_free_queue
  ///         + spare_blocks > free_blocks
  /// A prompt whose KV is still at its prefill replica is admitted twice. The first time it only
  /// gets its blocks (of which those that seated prompts still need must stay free besides), and
  /// leaves the queue while its KV is sent; the second time, holding them, it gets its seat.
  bool admit(std::int32_t slot, const Admission& admission);
  bool admit(std::int32_t slot, std::int32_t tokens) {
    return admit(slot, Admission{tokens, 0, 0, 0});
  }
  virtual std::int32_t try_admit(std::int32_t slot, const Admission& admission) noexcept;

  /// Takes seat and blocks away (recompute preemption): the request keeps what it emitted and goes
  /// to the front of waiting (or by key). If it was planned in this step, its tokens are given
  /// back. A draining request only releases early: its last token lands anyway; on a prefill
  /// replica its KV is still to be sent, so there the answer is false.
  bool preempt(std::int32_t slot);
  virtual std::int32_t try_preempt(std::int32_t slot) noexcept;

  /// A waiting request fails with Outcome::rejected.
  void reject(std::int32_t slot);
  virtual std::int32_t try_reject(std::int32_t slot) noexcept;

  /// Ask again at this time, also if nothing changed. Holds until the scheduler is asked again.
  void wake_at(double time_s);
  virtual std::int32_t try_wake_at(double time_s) noexcept;

  /// "at 1.25 s, replica 0, plan 17: admit: request 12 is not waiting (it is decoding)"
  std::string refusal_text() const;

 protected:
  friend class Replica;
  friend const std::int32_t* decode_contexts(const Batch& batch) noexcept;
  friend std::vector<std::int32_t> decode_ids(const Batch& batch);
  std::int32_t refuse(const char* verb, Refusal refusal, std::int32_t slot) noexcept;
  bool over_budget(std::int32_t more) const noexcept;
  bool known(std::int32_t slot) const noexcept;
  bool planned(std::int32_t slot) const noexcept;
  std::int32_t walk() noexcept;
  void unseat(std::int32_t slot) noexcept;
  std::int32_t answer(std::int32_t code) const;
  void reset(Picoseconds now, std::int64_t serial);
  void withdraw(std::int32_t slot) noexcept;

  Replica* replica_ = nullptr;
  SchedulerPolicy* policy_ = nullptr;
  PlanView view_;
  std::int64_t serial_ = -1;
  Picoseconds now_ = 0;
  const char* verb_ = "";
  // decodes
  bool whole_ = false;    // every decoder, without a walk
  bool walked_ = false;   // those marked `planned`, the others are skipped
  bool walking_ = false;  // waits for a victim
  std::int32_t cursor_ = -1, limit_ = everybody, walk_count_ = 0;
  std::int32_t single_crossings_ = 0;
  std::vector<std::int32_t> singles_;
  std::vector<PrefillWork> prefills_;
  std::vector<std::int32_t> preempted_;  // slots
  std::vector<std::int32_t> pulled_;     // slots that got blocks for KV that is to come
};

}  // namespace rooflua
