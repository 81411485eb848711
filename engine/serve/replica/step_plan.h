#pragma once
// The engine's plan: one step of one replica, checked operation by operation and carried out at
// once on the replica's queue, seats, blocks and decode pool.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "serve/contract/batch.h"
#include "serve/contract/plan.h"
#include "serve/replica/replica_state.h"

namespace rooflua {

class StepPlan final : public Plan {
 public:
  /// An empty plan, to be filled by `policy`.
  void begin(ReplicaState& replica, SchedulerPolicy& policy, Picoseconds now, std::int64_t serial);
  /// The policy is done. @throws Error if decode_all still waits for a victim
  void end();
  /// Every decoding request and nothing else, without asking. @pre blocks suffice
  void repeat(ReplicaState& replica, Picoseconds now, std::int64_t serial);
  /// The same where the replica speculates: `demand` and `takers` are what RaggedPool::demand()
  /// just found.
  void repeat(ReplicaState& replica, Picoseconds now, std::int64_t serial,
              const RaggedPool::Demand& demand, std::span<const RaggedPool::Taker> takers);

  std::int32_t try_decode_all(std::int32_t limit) noexcept override;
  std::int32_t try_shed(std::int32_t victim_slot) noexcept override;
  std::int32_t try_decode(std::int32_t slot, std::int32_t tokens) noexcept override;
  std::int32_t try_prefill(std::int32_t slot, std::int32_t tokens) noexcept override;
  std::int32_t try_admit(std::int32_t slot, const Admission& admission) noexcept override;
  const rooflua_tier_found* found() const noexcept override;
  void answer_load(std::int32_t tokens, double patience_s) noexcept override;
  std::int32_t try_encodable(std::int32_t slot, std::int32_t tokens) noexcept override;
  std::int32_t try_preempt(std::int32_t slot) noexcept override;
  std::int32_t try_reject(std::int32_t slot) noexcept override;
  std::int32_t try_wake_at(double time_s) noexcept override;

  std::int64_t serial() const { return serial_; }
  /// Whether this request is in the step.
  bool holds(std::int32_t slot) const noexcept;
  /// Whether the plan is exactly decode_all() without a limit that bound.
  bool is_decode_all() const;
  /// Every decoding request was planned by decode_all, without a walk.
  bool decodes_everyone() const { return everyone_; }
  /// decode_all walked: the requests that it did not reach are left out of the common step.
  bool walked() const { return walked_; }
  /// Requests that decode() planned.
  std::span<const std::int32_t> singles() const { return singles_; }
  std::span<const std::int32_t> preempted() const { return preempted_; }
  struct Pulled {
    std::int32_t slot = -1;
    std::int32_t cached_tokens = 0;  // found in the prefix cache here
  };
  /// Requests that got blocks for KV that is to come.
  std::span<const Pulled> pulled() const { return pulled_; }
  /// Requests whose KV is loaded from stores from now on. The queue has them no longer, or they
  /// have a seat already (LoadOverlap::layers).
  std::span<const std::int32_t> loading() const { return loading_; }
  const std::vector<PrefillWork>& prefills() const { return prefills_; }
  /// The decodes of a replica that speculates. Where the rows are implied, every member of the pool
  /// has one with all its drafts, and rows() is empty before write_rows().
  bool implies_rows() const { return implied_; }
  void write_rows();
  std::vector<Row>& rows() { return rows_; }
  const std::vector<Row>& rows() const { return rows_; }
  const RowSums& row_sums();
  /// Requests that were held for their adapter in this plan, for the first time.
  std::int32_t held() const { return held_; }
  std::int32_t take_held() { return std::exchange(held_, 0); }
  /// The prefills move to `into`, whose memory the next plan takes over.
  void move_prefills(std::vector<PrefillWork>& into) { prefills_.swap(into); }

 private:
  // planned_rows.cpp
  std::int32_t walk_rows() noexcept;
  std::int32_t decode_row(std::int32_t slot, std::int32_t tokens) noexcept;
  void add_row(std::int32_t slot, std::int32_t tokens, std::int32_t blocks) noexcept;
  void withdraw_row(std::int32_t slot) noexcept;
  bool take_all_rows() noexcept;
  void add_all_rows(const RaggedPool::Demand& demand,
                    std::span<const RaggedPool::Taker> takers) noexcept;
  std::int32_t budget_left() const noexcept;

  bool lacks_adapter(std::int32_t slot) noexcept;
  template <bool tiers>
  std::int32_t admit_as(std::int32_t slot, const Admission& wish) noexcept;
  // loads.cpp
  std::int32_t load(std::int32_t slot, const Admission& wish, KvCache::Hit hit,
                    std::int32_t& loaded) noexcept;
  std::int32_t park_for_load(std::int32_t slot, const Admission& wish, KvCache::Hit hit,
                             std::int32_t tokens) noexcept;
  static constexpr std::int32_t loads_nothing = -9;
  TierPolicy* tier_policy() const override;

  void clear();
  bool over_budget(std::int32_t more) const noexcept;
  bool known(std::int32_t slot) const noexcept;
  std::int32_t walk() noexcept;
  void add_decode(std::int32_t slot) noexcept;
  void add_prefill(const PrefillWork& work) noexcept;
  void withdraw(std::int32_t slot) noexcept;

  ReplicaState* on_ = nullptr;  // the replica that is acted on
  bool everyone_ = false;       // decode_all gave every decoding request what it may have
  bool walked_ = false;
  bool needs_victim_ = false;  // the walk waits for try_shed
  std::int32_t cursor_ = -1, limit_ = no_limit, walk_count_ = 0;
  std::int32_t single_blocks_ = 0;  // that decode() took
  std::vector<std::int32_t> singles_;
  std::vector<Row> rows_;
  bool implied_ = false;
  std::vector<RaggedPool::Taker> takers_;  // of the demand that was asked for last
  RowSums row_sums_;                       // of the rows, if they are summed
  bool summed_ = false;
  std::int32_t walk_tokens_ = 0;     // that decode_all gave to rows
  std::int32_t at_hand_tokens_ = 0;  // of the request at the cursor, once they are fixed
  bool cut_ = false;                 // the limit or the budget bound decode_all
  std::vector<PrefillWork> prefills_;
  std::vector<std::int32_t> preempted_, loading_;  // slots
  std::vector<Pulled> pulled_;
  std::int32_t held_ = 0;  // for their adapter, since take_held()
};

}  // namespace rooflua
