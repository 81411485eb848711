#pragma once
// One step, as a scheduler proposes it. An operation either happens at once (seat, blocks, budget:
// later calls see it), or says no and changes nothing, or is refused because it makes no sense.
// A refusal ends the run with an Error that says what the scheduler did.
//
// Contexts and phases advance when the plan is complete, before the step runs, so that a plan never
// sees its own progress. The last one-token chunk of a resumed request is a prefill.
//
// Plan is the interface. The engine implements it in replica/step_plan.h, the naive simulator in
// tests/reference/naive/plan.cpp.

#include <cstdint>
#include <string>

#include "border.h"
#include "serve/contract/clock.h"
#include "serve/contract/words.h"

namespace rooflua {

class SchedulerPolicy;
class TierPolicy;
class VisibleReplica;

/// Options of admit(). All lengths are tokens of the request's sequence, hits included.
struct Admission {
  std::int32_t tokens = 0;  // to compute in this step, >= 1; at most what has no KV
  std::int32_t hold_tokens =
      0;  // hold blocks for this many at once: the whole prompt (Sarathi),
          // prompt + max_output_tokens (Orca, TRT-LLM); 0 = what this step needs
  std::int32_t fit_tokens = 0;    // say no unless this many would fit; nothing more is held for it
                                  // (scheduler_reserve_full_isl)
  std::int32_t spare_blocks = 0;  // and this many blocks stay free besides (watermark)
};

/// Numbers of the plan so far (border.h).
using PlanView = rooflua_plan_view;

/// Every operation comes twice. `try_...` never throws (for callers across a language border):
/// 1 = done, 0 = no and nothing changed, -1 = refused, see view().refusal. The others return a
/// bool or a count, and throw the refusal as an Error that names time, replica, plan and request.
class Plan {
 public:
  virtual ~Plan() = default;

  static constexpr std::int32_t no_limit = -1;
  static constexpr std::int32_t asks_victim = -2;
  static constexpr std::int32_t asks_load = -3;
  static constexpr std::int32_t all_tokens = -1;

  const PlanView& view() const { return view_; }

  /// The tokens of one step for every decoding request that is not planned yet, or for the first
  /// `limit` tokens by admission. O(1) when blocks suffice and the limit does not bind (such a
  /// plan is repeated while nothing changes, see policy.h). When blocks do not suffice, requests
  /// are visited in admission order and seats are taken away as in vLLM: while the request at hand
  /// needs a block and none is free, the victim (default: the tail of the running list) is
  /// preempted; a victim that was planned in this step gives its tokens back; if the victim is the
  /// request at hand, the walk ends there.
  /// A replica that speculates visits every request: it gets its pending token and its drafts, cut
  /// at the end by the limit and the budget; none where max_model_len leaves no room before its
  /// rows in flight land.
  /// @returns how many requests decode
  std::int32_t decode_all(std::int32_t limit = no_limit);
  /// As decode_all; asks_victim when the policy chooses victims: answer with try_shed until it no
  /// longer asks. -1 = refused.
  virtual std::int32_t try_decode_all(std::int32_t limit) noexcept = 0;
  virtual std::int32_t try_shed(std::int32_t victim_slot) noexcept = 0;

  /// The same for one decoding request; false if it needs a block and none is free. `tokens`: at
  /// most so many of those that it may have, 1 + draft_tokens; all_tokens: as many as the budget
  /// leaves. True, and nothing is planned, where max_model_len leaves no room.
  bool decode(std::int32_t slot, std::int32_t tokens = all_tokens);
  virtual std::int32_t try_decode(std::int32_t slot, std::int32_t tokens) noexcept = 0;

  /// The next `tokens` of a seated request's sequence; false if the blocks are not there.
  bool prefill(std::int32_t slot, std::int32_t tokens);
  virtual std::int32_t try_prefill(std::int32_t slot, std::int32_t tokens) noexcept = 0;

  /// Seat, blocks and the first chunk, or nothing at all. Prefix hits (KV that is cached or came
  /// from another replica) are taken first; tokens count what is computed beyond them. False if
  /// the request was preempted by this plan, a token of it is on its way through stages, there is
  /// no seat, or
  ///     ceil(max(held, fit) / block_size) - hit_blocks + hit_blocks_in_free_queue
  ///         + seat_blocks + spare_blocks > free_blocks
  /// where the replica's seat_blocks are taken besides, for windows and recurrent states.
  /// A prompt whose KV is still at its prefill replica is admitted twice. The first time it only
  /// gets its blocks (those that seated prompts still need must stay free besides), and leaves the
  /// queue while its KV is sent. The second time, holding them, it gets its seat. So is one of
  /// which stores have KV (stores/tiers.h), where its policy loads it.
  bool admit(std::int32_t slot, const Admission& admission);
  bool admit(std::int32_t slot, std::int32_t tokens) {
    return admit(slot, Admission{tokens, 0, 0, 0});
  }
  /// asks_load where stores have something of the request: its replica's TierPolicy must be asked
  /// about found(), its answer given to answer_load(), and try_admit be called again.
  virtual std::int32_t try_admit(std::int32_t slot, const Admission& admission) noexcept = 0;
  virtual const rooflua_tier_found* found() const noexcept { return nullptr; }
  virtual void answer_load(std::int32_t tokens, double patience_s) noexcept {
    (void)tokens, (void)patience_s;
  }

  /// How many of the next `tokens` of a prompt, those after its hits, may be planned beside what is:
  /// 0, or up to an item whose encoder pass has no budget or no room in this step. Nothing changes.
  std::int32_t encodable(std::int32_t slot, std::int32_t tokens);
  virtual std::int32_t try_encodable(std::int32_t slot, std::int32_t tokens) noexcept {
    return (void)slot, tokens;
  }

  /// Takes seat and blocks away (recompute preemption): the request keeps what it emitted and goes
  /// to the front of the queue (or by key). If it was planned in this step, its tokens are given
  /// back. A finishing request only releases its blocks early: its last token lands anyway. On a
  /// prefill replica its KV is still to be sent, so there the answer is false.
  bool preempt(std::int32_t slot);
  virtual std::int32_t try_preempt(std::int32_t slot) noexcept = 0;

  /// A waiting request fails with Outcome::rejected.
  void reject(std::int32_t slot);
  virtual std::int32_t try_reject(std::int32_t slot) noexcept = 0;

  /// Ask again at this time, also if nothing changed. Holds until the scheduler is asked again.
  void wake_at(double time_s);
  virtual std::int32_t try_wake_at(double time_s) noexcept = 0;

  /// "at 1.25 s, replica 1, plan 17: admit(request 12, decoding): only a waiting request ..."
  std::string refusal_text() const;

 protected:
  /// The policy that is asked about a request of which stores have something; null: no stores.
  virtual TierPolicy* tier_policy() const { return nullptr; }

  Plan() = default;
  Plan(const Plan&) = default;
  Plan& operator=(const Plan&) = default;

  /// An empty plan of that replica. `policy`: is asked for victims; null: none is asked.
  void begin(const VisibleReplica& replica, SchedulerPolicy* policy, Picoseconds now,
             std::int64_t serial);
  std::int32_t refuse(const char* verb, Refusal refusal, std::int32_t slot) noexcept;
  /// The status of an operation. @throws Error if it is a refusal
  std::int32_t answer(std::int32_t status) const;

  PlanView view_;
  const VisibleReplica* replica_ = nullptr;
  SchedulerPolicy* policy_ = nullptr;
  std::int64_t serial_ = -1;  // per replica, from 0
  Picoseconds now_ = 0;

 private:
  const char* verb_ = "";
};

}  // namespace rooflua
