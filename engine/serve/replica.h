#pragma once
// One engine: a waiting queue, seats, KV blocks, and at most async_depth steps that are planned and
// not yet over. All mechanism, no opinion: who runs is the scheduler's business, acting through
// a Plan; when things happen is the simulation's.
//
// Decoding requests are not walked. They advance together: `decode_index` counts decode steps, a
// request remembers the index at which it joined. Kept are their number, the sum of their contexts,
// how many of them need a block at each index modulo block_size, and a wheel of the indices at
// which one of them ends. A request that sits out a step, or decodes alone, is shifted by one.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "serve/cluster.h"
#include "serve/kv_cache.h"
#include "serve/observer.h"
#include "serve/plan.h"
#include "serve/policy.h"
#include "serve/request.h"

namespace rooflua {

/// A planned step: queued behind another or running.
struct Step {
  std::int64_t serial = 0;
  Picoseconds planned = 0, start = 0, end = 0;
  Batch batch;
  StepPrice price;
  std::int64_t decode_ordinal = -1;  // decode index before it; -1: no common decode
  std::int32_t waiting = 0, running = 0, used_blocks = 0;
  std::vector<PrefillWork> prefills;
  std::vector<std::int32_t> own_pace;   // slots whose gap is to their own last token
  std::vector<std::int32_t> stamps;     // slots whose last token is this one
  std::vector<std::int32_t> finishing;  // slots, in admission order
  std::vector<std::int32_t> skipped;    // ids
  std::vector<std::int32_t> fills;      // slots: a token of this step ends a block that is planned
  std::int32_t discarded = 0;           // decodes of requests that ended while it was planned
};

class Replica {
 public:
  Replica(std::int32_t index, const ReplicaConfig& config, PrefixIndex prefixes,
          Requests& requests);
  Replica(const Replica&) = default;
  virtual ~Replica() = default;

  /// The same state over another arena (a copied simulation).
  void rebind(Requests& requests);

  const ReplicaView& view() const { return view_; }
  const ReplicaConfig& config() const { return config_; }
  const Request& request(std::int32_t slot) const { return (*requests_)[slot]; }
  const KvCache& kv() const { return kv_; }
  /// Tokens of a waiting request that need not be computed: prefix hits, or KV sent by another
  /// replica.
  std::int32_t cached_tokens(std::int32_t slot) const noexcept;
  /// Tokens at the left that the prompts of two requests have in common, cached or not.
  std::int32_t shared_tokens(std::int32_t slot, std::int32_t other) const noexcept {
    return rooflua::shared_tokens(requests_->progress(slot), requests_->progress(other));
  }
  ReplicaSignals signals() const;

  // --- for the simulation, in the order of a step's life

  /// Joins the waiting queue. The key is fixed here. @pre the sequence fits the cache
  void enqueue(std::int32_t slot, Picoseconds now, SchedulerPolicy& policy);
  /// The KV of an admitted prompt has come: its blocks carry content, and it waits for a seat, in
  /// front of all who hold no blocks. The key is asked for again.
  void receive(std::int32_t slot, SchedulerPolicy& policy);
  /// Keys again, after the policy was swapped.
  void rekey(SchedulerPolicy& policy);
  /// Whether the scheduler must be asked (else the last plan, decode_all(), is repeated).
  bool must_ask(const SchedulerPolicy& policy, Picoseconds now) const;
  /// Fills a plan by asking, or by repeating. @throws Error as the policy or Plan does
  Plan& make_plan(SchedulerPolicy& policy, Picoseconds now);
  Plan& repeat_plan(Picoseconds now);
  /// The batch of the plan, for the step model. Valid until commit.
  const Batch& batch_of(Plan& plan);
  /// Contexts and phases advance; the step joins the queue of planned steps. Tokens are in flight.
  Step& commit(Plan& plan, const StepPrice& price, Picoseconds now);
  std::int32_t planned_steps() const { return planned_steps_; }
  const Step& front() const { return steps_[static_cast<std::size_t>(first_step_)]; }
  bool executing() const { return executing_; }
  Picoseconds end_of_step() const { return front().end; }
  void start_front(Picoseconds now, Picoseconds end);
  /// The running step is over: tokens land, finished requests give back seat and blocks (blocks
  /// only if `keep_blocks`: until release_kept). `gaps` gets the gaps that are not common.
  StepSeen land(Picoseconds now, std::vector<Picoseconds>& gaps, bool keep_blocks);
  void release_kept(std::int32_t slot);
  /// The slot's request is gone for good.
  void forget(std::int32_t slot) { kv_.forget(slot); }
  /// Waiting or seated, whatever: it leaves, with its blocks. Only when nothing is in flight.
  void evict(std::int32_t slot);

  /// Slots that can never run (or were rejected), to be failed once nothing of theirs is in flight.
  struct Doomed {
    std::int32_t slot = -1;
    Outcome outcome = Outcome::exceeds_kv_cache;
  };
  std::vector<Doomed>& doomed() { return doomed_; }
  std::span<const std::int32_t> preempted_now() const { return plan_.preempted_; }
  /// Slots that got blocks in the plan at hand and whose KV is to be sent now.
  std::span<const std::int32_t> pulled_now() const { return plan_.pulled_; }
  /// Blocks that the admission of a waiting request would take for its whole sequence.
  std::int32_t missing_blocks(std::int32_t slot) const noexcept;
  /// Blocks that decode_all() would take now, in a plan that decoded nobody yet.
  virtual std::int32_t decode_blocks() const noexcept { return crossings_now(); }
  Picoseconds wake() const { return wake_; }
  void wake_at(Picoseconds time) { wake_ = time; }

 private:
  friend class Plan;
  friend const std::int32_t* decode_contexts(const Batch& batch) noexcept;
  friend std::vector<std::int32_t> decode_ids(const Batch& batch);
  friend std::int32_t decode_context_max(const Batch& batch) noexcept;

  // lists
  void append_running(std::int32_t slot);
  void unlink(std::int32_t slot, std::int32_t& head, std::int32_t& tail);
  void append_prefilling(std::int32_t slot);
  void leave_prefilling(std::int32_t slot);
  bool holds_blocks(std::int32_t slot) const;
  void give_key(std::int32_t slot, SchedulerPolicy& policy);
  void insert_waiting(std::int32_t slot, bool front);
  void leave_waiting(std::int32_t slot);
  void quit_waiting(std::int32_t slot);
  void sync_blocks() { view_.free_blocks = kv_.free_blocks(); }

  // the decoding aggregate
  void join_decoders(std::int32_t slot);
  void leave_decoders(std::int32_t slot);
  void shift(std::int32_t slot, std::int32_t steps);
  void own_pace_from_now(std::int32_t slot);
  void schedule_event(std::int32_t slot);
  void cancel_event(std::int32_t slot);
  void turn_wheel(Step& step);
  void count_crossing(Progress& progress, std::int32_t phase);
  void outgrow(std::int32_t slot);
  bool crosses_now(std::int32_t slot) const;
  void count_filling(std::int32_t slot, std::int32_t phase);
  void fill_all(std::int64_t plan);
  void fill(std::int32_t slot);
  bool token_in_flight(std::int32_t slot) const;
  std::int32_t crossings_now() const;

  // commit
  void advance_common(Plan& plan, Step& step);
  void advance_singles(Plan& plan, Step& step);
  void advance_prefills(Step& step);

  void reach(std::int32_t slot, Step& step);
  void plan_last(std::int32_t slot, Step& step);
  void drain(std::int32_t slot);
  void end(std::int32_t slot, bool keep_blocks);
  void discard_row(std::int32_t slot);
  Step& step_at(std::int32_t place);

  // seats
  std::int32_t reserved_blocks() const noexcept;
  void park(std::int32_t slot, KvCache::Hit hit, std::int32_t blocks);
  void take_seat(std::int32_t slot, KvCache::Hit hit, std::int32_t ready_tokens,
                 std::int32_t blocks, Picoseconds now);
  void lose_seat(std::int32_t slot, std::int32_t granted_blocks, std::int64_t serial);
  void leave_seat(std::int32_t slot);
  void release_blocks(std::int32_t slot, std::int32_t granted_blocks, bool returns);
  void doom(std::int32_t slot, Outcome outcome);

  std::int32_t index_;
  ReplicaConfig config_;
  Requests* requests_;
  KvCache kv_;
  ReplicaView view_;
  Plan plan_;
  Batch batch_;

  std::int64_t decode_index_ = 0;
  std::int32_t phase_ = 0;  // decode_index_ modulo block_size
  std::int64_t plans_ = 0;
  std::int64_t seats_given_ = 0;
  std::vector<std::int32_t> crossings_;             // by decode index modulo block_size
  std::vector<std::int32_t> wheel_;                 // heads of lists, by event_at modulo its size
  std::vector<std::int32_t> fresh_;                 // decoding, and not yet at the common pace
  std::vector<std::vector<std::int32_t>> fillers_;  // slots by Progress::filling; mostly none
  Picoseconds common_token_ = 0;                    // when the common decodes' last token landed
  using Place = std::tuple<bool, double, std::int32_t>;  // holds no blocks, key, id
  std::map<Place, std::int32_t> by_key_;                 // -> slot
  std::int32_t last_holder_ = -1;  // without keys: of those who wait holding blocks
  bool keyed_ = false;

  std::array<Step, 2> steps_;
  std::int32_t first_step_ = 0, planned_steps_ = 0;
  bool executing_ = false;
  bool changed_ = true;
  bool repeatable_ = false;  // the last plan was exactly decode_all()
  Picoseconds wake_ = never;
  std::vector<Doomed> doomed_;
  std::vector<std::int32_t> finished_ids_;
  mutable std::vector<std::int32_t> contexts_;
};

}  // namespace rooflua
