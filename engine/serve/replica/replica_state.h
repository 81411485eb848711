#pragma once
// What one engine holds: its waiting queue, seats, decode pool, KV blocks and planned steps.
//
// The parts each keep an invariant of their own (waiting_queue.h, seats.h, lanes/lanes.h,
// contract/pipeline.h, kv/kv_cache.h). This class moves requests between them: when they come, are
// seated, preempted or sent on. A plan (step_plan.h) acts on it; replica.h adds the life of a step.
//
// A request that has KV here (held_blocks or kept_blocks > 0) holds config.seat_blocks besides.
// They are taken and given back with the blocks of the KV, and never carry content.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "serve/adapters/slots.h"
#include "serve/contract/pipeline.h"
#include "serve/contract/policy.h"
#include "serve/contract/visible_replica.h"
#include "serve/kv/kv_cache.h"
#include "serve/lanes/lanes.h"
#include "serve/replica/cluster.h"
#include "serve/replica/seats.h"
#include "serve/replica/waiting_queue.h"

namespace rooflua {

inline constexpr std::int32_t first_pin = 1 << 30;  // names of pins are no slots

class ItemRoom;
class Tiers;

class ReplicaState : public VisibleReplica {
 public:
  ReplicaState(std::int32_t index, const ReplicaConfig& config, PrefixIndex prefixes,
               Requests& requests);

  const ReplicaConfig& config() const { return config_; }
  const KvCache& kv() const { return kv_; }
  const Seats& seats() const { return seats_; }
  const DecodePool& pool() const { return pool_; }
  /// Whether decoding requests may advance by different numbers. Then `ragged()` has them and the
  /// pool is empty.
  bool is_ragged() const { return ragged_.has_value(); }
  const RaggedPool& ragged() const { return *ragged_; }
  std::int32_t cached_tokens(std::int32_t slot) const noexcept override;
  std::int32_t shared_tokens(std::int32_t slot, std::int32_t other) const noexcept override;
  std::int32_t growing_tokens(std::int32_t slot) const noexcept override;
  double new_block(std::int32_t slot) const noexcept override;
  std::int32_t decode_blocks() const noexcept override {
    return is_ragged() ? ragged_->demand().blocks : pool_.blocks_needed();
  }
  /// @param landing  whether landing_prompts is wanted, which costs a look at the planned steps
  ReplicaSignals signals(bool landing) const;
  /// Whether the empty cache has room for a request of so many tokens.
  bool could_hold(std::int64_t tokens) const noexcept {
    return blocks_for(tokens, config_.block_size) <= config_.kv_blocks - config_.seat_blocks;
  }
  /// Blocks that the admission of a waiting request would take for its whole sequence.
  std::int32_t missing_blocks(std::int32_t slot) const noexcept;

  /// Where routers look for cached prefixes; null: none does.
  void tell(PrefixHolders* holders) { kv_.tell(holders, view().index); }
  /// Stores beside its blocks; null: there are none. Again after a copy.
  void use_tiers(Tiers* tiers);
  Tiers* tiers() const { return tiers_; }
  /// What says how much of a prompt with items a step may have; null: no request has items. Again
  /// after a copy.
  void use_items(const ItemRoom* items) { items_ = items; }
  const ItemRoom* items() const { return items_; }
  /// So many requests more, of so many tokens, wait for a rank of its engine and count as its own.
  void wait_outside(std::int32_t requests, std::int32_t tokens) {
    outside_requests_ += requests;
    outside_tokens_ += tokens;
  }
  /// Requests that wait here, or outside.
  std::int32_t queued() const { return view().waiting + outside_requests_; }
  double queued_tokens() const { return view().waiting_tokens + outside_tokens_; }
  /// What its scheduler reads of the ranks that step together; null: it steps alone.
  void see_group(const rooflua_group_view* group) { board_.view.group = group; }

  /// Null: it has no adapters.
  AdapterSlots* adapters() { return adapters_ ? &*adapters_ : nullptr; }
  const AdapterSlots* adapters() const { return adapters_ ? &*adapters_ : nullptr; }

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
  /// Blocks for a whole prompt that a prefill replica computes, so that its KV can come before the
  /// request does. @returns how many it has; 0: there is no room, or others wait for room
  std::int32_t reserve(std::int32_t slot);
  /// Its prompt is computed, and its KV on its way into reserved blocks.
  void adopt(std::int32_t slot, std::int32_t blocks);
  /// Reserved blocks are free. @param blocks  what reserve() said
  void cancel(std::int32_t slot, std::int32_t blocks);
  /// A prompt that waits here with KV elsewhere has lost that KV: it is computed here.
  void lose_remote(std::int32_t slot);
  /// A request of which KV is still read gives up its seat and keeps its blocks.
  /// @param unknown_tokens  as in evict()
  void leave_with_blocks(std::int32_t slot, std::int32_t unknown_tokens);
  /// Those blocks are free.
  void release_left(std::int32_t slot);
  /// All content of the cache is lost. @pre no block is in use
  void lose_content() {
    kv_.lose_content();
    if (adapters_) adapters_->lose();
    changed_ = true;
  }
  /// The slot's request is gone for good.
  void forget(std::int32_t slot) { kv_.forget(slot); }
  /// Cached blocks that a write into a store reads, until it ends.
  void pin(std::int32_t name, std::int32_t slot, std::int32_t tokens);
  void unpin(std::int32_t name);
  /// Content that left its blocks since the last call, where its policy writes it back.
  LostRuns take_lost() { return kv_.take_lost(); }
  /// Requests whose policy wants to be asked again come back to the queue.
  void ask_again();
  /// A waiting or seated request leaves with its blocks. Only when no token of it is in flight, but
  /// for rows that do not land.
  /// @param unknown_tokens  of its context: they come from rows that do not land, so they are no
  ///                        content
  void evict(std::int32_t slot, std::int32_t unknown_tokens = 0);
  /// Its KV, for which it holds blocks, came in vain: they are free, and only those that were
  /// cached here before carry content.
  void refuse_kv(std::int32_t slot);

  /// A request that can never run, or was rejected: it fails once no token of it is in flight.
  struct Failing {
    std::int32_t slot = -1;
    Outcome outcome = Outcome::exceeds_kv_cache;
  };
  const std::vector<Failing>& failing() const { return failing_; }
  /// Those of which no token is in flight; they are failing no longer.
  std::vector<Failing> take_failing();

  /// Whether the layers are in several stages.
  bool has_stages() const { return flight_.has_value(); }
  /// Whether a token of the request is on its way through the stages: then it is not planned,
  /// admitted or ended before that token lands. Without stages the order of plans sees to that.
  bool awaits_token(std::int32_t slot) const noexcept;

  // --- for the plan: each is carried out at once. @pre blocks and seats suffice

  Progress& progress(std::int32_t slot) { return board_.progress(slot); }
  /// So many blocks for all decoding requests; the plan with this serial decodes them.
  void grant_all_decodes(std::int32_t blocks, std::int64_t serial);
  void grant_decode(std::int32_t slot);
  /// Blocks for a row of a replica that speculates; more of the sequence is known content.
  void grant_row(std::int32_t slot, std::int32_t blocks);
  void know_row(std::int32_t slot) { know_content(slot, request(slot).context_tokens + 1); }
  /// The same for all members of the pool, but that the rest of their content is known only when
  /// the step is committed. `blocks`: of all takers.
  void grant_rows(std::span<const RaggedPool::Taker> takers, std::int32_t blocks);
  /// Blocks for the first `tokens` of a sequence; false: they are not there.
  [[nodiscard]] bool grant_prefill(std::int32_t slot, std::int32_t tokens);
  /// A seat and so many blocks; `ready_tokens` have KV, `planned_tokens` will have it.
  void take_seat(std::int32_t slot, KvCache::Hit hit, std::int32_t ready_tokens,
                 std::int32_t blocks, std::int32_t planned_tokens, Picoseconds now);
  /// The request leaves the queue with blocks, of which `hit` are cached here; its KV is to come.
  void park(std::int32_t slot, KvCache::Hit hit, std::int32_t blocks);
  /// The request leaves the queue until something arrives in a store.
  void defer(std::int32_t slot);
  void defer_no_longer(std::int32_t slot) { std::erase(deferred_, slot); }
  bool has_deferred() const { return !deferred_.empty(); }
  /// Preemption by the plan with this serial, which took `granted_blocks` for the request.
  void lose_seat(std::int32_t slot, std::int32_t granted_blocks, std::int64_t serial);
  void reject(std::int32_t slot);

 protected:
  /// The same state over another arena (a copied simulation).
  void rebind(Requests& requests);
  void leave_seat(std::int32_t slot);
  /// A request in a seat that no later plan has needs its adapter no longer.
  void leave_adapter(std::int32_t slot) {
    if (adapters_) adapters_->unseat(board_.progress(slot).adapter);
  }
  void leave_queue(std::int32_t slot);
  void leave_common_pace(std::int32_t slot);
  void release_blocks(std::int32_t slot, std::int32_t granted_blocks, bool returns);
  /// The numbers of requests in phase in_flight, without this one.
  void not_in_flight(std::int32_t slot);
  /// @returns whether a block is full now that others may ask for
  bool know_content(std::int32_t slot, std::int32_t tokens);
  bool shares_output(std::int32_t slot) const;
  /// Tokens of the sequence whose KV came from elsewhere and is of use: not that of the last one.
  std::int32_t remote_tokens(std::int32_t slot) const {
    const Request& r = request(slot);
    return std::min(board_.progress(slot).remote_tokens, r.prompt_tokens + r.emitted_tokens - 1);
  }
  void land_chunks(const std::vector<PrefillWork>& prefills, bool is_over);

  ReplicaConfig config_;
  KvCache kv_;
  WaitingQueue queue_;
  Seats seats_;
  DecodePool pool_;
  std::optional<RaggedPool> ragged_;
  Pipeline pipeline_;
  bool changed_ = true;  // since the scheduler was asked
  std::vector<Failing> failing_;
  std::optional<Flight> flight_;  // where there are several stages
  std::optional<AdapterSlots> adapters_;
  Tiers* tiers_ = nullptr;
  const ItemRoom* items_ = nullptr;
  std::vector<std::int32_t> deferred_;
  std::vector<Filled> filled_;  // by the plan at hand, where stores get answers as they fill chunks
  std::int32_t outside_requests_ = 0;
  double outside_tokens_ = 0;

 private:
  void join_queue(std::int32_t slot, SchedulerPolicy& policy);
  void sync_blocks() { board_.view.free_blocks = kv_.free_blocks(); }
  void take_first_blocks(std::int32_t slot, KvCache::Hit hit, std::int32_t blocks);
  void fill_block(std::int32_t slot);
  bool stores_answers() const;
  void fill_chunk(std::int32_t slot, std::int32_t tokens);
  void plan_content(std::int32_t slot, std::int32_t tokens);
  void give_up_writes(std::int32_t slot);
  void land_chunk(const PrefillWork& work);
  void hold_more(std::int32_t slot, std::int32_t blocks);
  std::int32_t content_tokens(std::int32_t slot) const;
  void fail(std::int32_t slot, Outcome outcome);
};

}  // namespace rooflua
