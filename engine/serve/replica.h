#pragma once
// One engine: a waiting queue, seats, a decode pool, KV blocks, and a pipeline of steps that are
// planned and not over. The scheduler decides which requests run, acting through a Plan; the
// simulation decides when things happen.
//
// The parts each keep an invariant of their own (waiting_queue.h, seats.h, decode_pool.h,
// pipeline.h, kv_cache.h). The replica moves requests between them: replica.cpp when they come, are
// seated, preempted or sent on; step_cycle.cpp when a step is planned, committed and lands.

#include <cstdint>
#include <span>
#include <vector>

#include "serve/cluster.h"
#include "serve/decode_pool.h"
#include "serve/kv_cache.h"
#include "serve/observer.h"
#include "serve/pipeline.h"
#include "serve/policy.h"
#include "serve/seats.h"
#include "serve/step_plan.h"
#include "serve/waiting_queue.h"

namespace rooflua {

class Replica final : public VisibleReplica {
 public:
  Replica(std::int32_t index, const ReplicaConfig& config, PrefixIndex prefixes,
          Requests& requests);
  Replica(const Replica&) = default;

  /// The same state over another arena (a copied simulation).
  void rebind(Requests& requests);

  const ReplicaConfig& config() const { return config_; }
  const KvCache& kv() const { return kv_; }
  const Seats& seats() const { return seats_; }
  const DecodePool& pool() const { return pool_; }
  std::int32_t cached_tokens(std::int32_t slot) const noexcept override;
  std::int32_t shared_tokens(std::int32_t slot, std::int32_t other) const noexcept override;
  std::int32_t decode_blocks() const noexcept override { return pool_.blocks_needed(); }
  ReplicaSignals signals() const;
  /// Blocks that the admission of a waiting request would take for its whole sequence.
  std::int32_t missing_blocks(std::int32_t slot) const noexcept;

  // --- for the simulation: requests come and go

  /// Joins the waiting queue. The key is fixed here. @pre the sequence fits the cache
  void enqueue(std::int32_t slot, Picoseconds now, SchedulerPolicy& policy);
  /// The KV of an admitted prompt has come: its blocks carry content, and it waits for a seat, in
  /// front of all requests that hold no blocks. The key is asked for again.
  void receive(std::int32_t slot, SchedulerPolicy& policy);
  /// Keys again, after the policy was swapped.
  void rekey(SchedulerPolicy& policy);
  /// The blocks of a prompt whose KV was sent on are free.
  void release_kept(std::int32_t slot);
  /// The slot's request is gone for good.
  void forget(std::int32_t slot) { kv_.forget(slot); }
  /// A waiting or seated request leaves with its blocks. Only when no token of it is in flight.
  void evict(std::int32_t slot);

  /// A request that can never run, or was rejected: it fails once no token of it is in flight.
  struct Failing {
    std::int32_t slot = -1;
    Outcome outcome = Outcome::exceeds_kv_cache;
  };
  std::vector<Failing>& failing() { return failing_; }

  // --- for the simulation: the life of a step, in this order

  /// Whether the scheduler must be asked (else the last plan, decode_all(), is repeated).
  bool must_ask(const SchedulerPolicy& policy, Picoseconds now) const;
  /// Fills a plan by asking, or by repeating. @throws Error as the policy or Plan does
  StepPlan& make_plan(SchedulerPolicy& policy, Picoseconds now);
  StepPlan& repeat_plan(Picoseconds now);
  /// The plan at hand: the one made last.
  const StepPlan& plan() const { return plan_; }
  /// Its batch, for the step model. Valid until commit.
  const Batch& batch_of_plan();
  /// Contexts and phases advance; the step joins the pipeline. Its tokens are in flight.
  void commit(const StepPrice& price, Picoseconds now);
  void start_front(Picoseconds now, Picoseconds end) { pipeline_.start(now, end); }
  /// The running step is over: tokens land, finished requests give back seat and blocks (blocks
  /// only if not `keep_blocks`: release_kept does that). `gaps` gets the gaps that are not common.
  StepDone land(Picoseconds now, std::vector<Picoseconds>& gaps, bool keep_blocks);

  const Pipeline& pipeline() const { return pipeline_; }
  Picoseconds wake() const { return wake_; }
  void wake_at(Picoseconds time) { wake_ = time; }

  // --- for the plan: each is carried out at once. @pre blocks and seats suffice

  Progress& progress(std::int32_t slot) { return board_.progress(slot); }
  /// So many blocks for all decoding requests; the plan with this serial decodes them.
  void grant_all_decodes(std::int32_t blocks, std::int64_t serial);
  void grant_decode(std::int32_t slot);
  /// Blocks for the first `tokens` of a sequence; false: they are not there.
  [[nodiscard]] bool grant_prefill(std::int32_t slot, std::int32_t tokens);
  /// A seat and so many blocks; `ready_tokens` have KV, `planned_tokens` will have it.
  void take_seat(std::int32_t slot, KvCache::Hit hit, std::int32_t ready_tokens,
                 std::int32_t blocks, std::int32_t planned_tokens, Picoseconds now);
  /// The request leaves the queue with blocks, of which `hit` are cached here; its KV is to come.
  void park(std::int32_t slot, KvCache::Hit hit, std::int32_t blocks);
  /// Preemption by the plan with this serial, which took `granted_blocks` for the request.
  void lose_seat(std::int32_t slot, std::int32_t granted_blocks, std::int64_t serial);
  void reject(std::int32_t slot);

  // --- for the batch of the plan at hand (batch.h)

  const std::int32_t* planned_decode_contexts() const;
  std::vector<std::int32_t> planned_decode_ids() const;

 private:
  void sync_blocks() { board_.view.free_blocks = kv_.free_blocks(); }
  void leave_seat(std::int32_t slot);
  void leave_queue(std::int32_t slot);
  void release_blocks(std::int32_t slot, std::int32_t granted_blocks, bool returns);
  void fill_block(std::int32_t slot);
  void fail(std::int32_t slot, Outcome outcome);

  void advance_all(Step& step);
  void advance_singles(Step& step);
  void advance_prefills(Step& step);
  void leave_common_pace(std::int32_t slot);
  void plan_last_token(std::int32_t slot, Step& step);
  void finish(std::int32_t slot);
  void end(std::int32_t slot, bool keep_blocks);
  void discard_row(std::int32_t slot);
  void land_fills(const Step& step);

  ReplicaConfig config_;
  KvCache kv_;
  WaitingQueue queue_;
  Seats seats_;
  DecodePool pool_;
  Pipeline pipeline_;
  StepPlan plan_;
  Batch batch_;  // of the plan at hand
  std::int64_t plans_ = 0;
  bool changed_ = true;      // since the scheduler was asked
  bool repeatable_ = false;  // the last plan was exactly decode_all()
  Picoseconds wake_ = never;
  std::vector<Failing> failing_;
  std::vector<std::int32_t> finished_ids_;
  mutable std::vector<std::int32_t> contexts_;
};

}  // namespace rooflua
