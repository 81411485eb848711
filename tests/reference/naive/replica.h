#pragma once
// The state of the naive simulator, the board that policies read, and its Plan.

#include <memory>
#include <set>
#include <vector>

#include "serve/contract/plan.h"
#include "serve/contract/policy.h"
#include "serve/contract/speculation.h"
#include "serve/core/group.h"
#include "serve/replica/cluster.h"
#include "tests/reference/cases/serving.h"
#include "tests/reference/cases/speculation.h"
#include "tests/reference/engines/block_pool.h"
#include "tests/reference/engines/pipeline.h"
#include "tests/reference/naive/encoder.h"
#include "tests/reference/naive/tiers.h"

namespace rooflua::reference {

/// One request; every number is stored.
struct NaiveRequest {
  const Prompt* given = nullptr;
  int id = -1;
  int slot = -1;  // on the board
  Phase phase = Phase::absent;
  int computed = 0;  // KV, in flight included
  int output = 0;    // tokens, in flight included
  int landed = 0;
  int under_way = 0;                       // tokens that are not landed; counted with stages
  int planned = 0;                         // tokens in the plan at hand
  bool passed = false;                     // decode_all gives it nothing in the plan at hand
  int drafts = 0;                          // that it brings to the next plan
  std::vector<int> flight;                 // tokens of its decodes in flight
  int true_output = 0, true_computed = 0;  // as they will have landed
  int rounds = 0, rounds_landed = 0, drafted = 0, accepted = 0;
  std::shared_ptr<const Curve> curve;
  bool taken = false;  // preempted in the plan at hand
  bool fresh = false;  // admitted in the plan at hand
  bool ever_seated = false;
  int first_hit = 0, seat_hit = 0, preemptions = 0;
  double key = 0;
  Ps scheduled = unset;  // the plan that admitted it first, even if it lost its seat in that plan
  std::vector<int> blocks, hashes;
  std::vector<int> seat;   // blocks besides those of its tokens
  int hashed = 0;          // blocks that carry content
  int state_at = 0;        // blocks in front of the last state that was kept or hit
  int chunks_end = 0;      // tokens after the last chunk that was planned
  int landed_end = 0;      // and after the last one that is over
  int remote = 0;          // KV that another replica computed
  bool away = false;       // its KV is at a prefill replica, and it has no blocks here
  bool held_back = false;  // its KV found no room here at first
  bool loads = false;      // its KV comes from a store
  int flows = 0;           // of its KV that are on their way, at the prefill replica
  bool landed_kv = false;  // its KV is in blocks of this replica, and it has no seat yet

  int sequence() const { return given->plain.prompt + output; }
  int remote_kv() const { return std::min(remote, sequence() - 1); }
};

class NaiveReplica;

/// What policies read. Everything on it is written anew after every operation.
class NaiveBoard : public VisibleReplica {
 public:
  NaiveBoard(const VllmConfig& config, Requests& arena, NaiveReplica& naive);
  std::int32_t cached_tokens(std::int32_t slot) const noexcept override;
  std::int32_t shared_tokens(std::int32_t slot, std::int32_t other) const noexcept override;
  std::int32_t growing_tokens(std::int32_t slot) const noexcept override;
  double new_block(std::int32_t slot) const noexcept override;
  std::int32_t decode_blocks() const noexcept override;
  ReplicaView& numbers() { return board_.view; }

 private:
  NaiveReplica* naive_;
};

class NaivePlan : public Plan {
 public:
  explicit NaivePlan(NaiveReplica& replica) : naive_(&replica) {}
  void begin(SchedulerPolicy& policy, const NaiveBoard& board, Ps now, std::int64_t serial);

  std::int32_t try_decode_all(std::int32_t limit) noexcept override;
  std::int32_t try_shed(std::int32_t victim) noexcept override;
  std::int32_t try_decode(std::int32_t slot, std::int32_t tokens) noexcept override;
  std::int32_t try_prefill(std::int32_t slot, std::int32_t tokens) noexcept override;
  std::int32_t try_admit(std::int32_t slot, const Admission& admission) noexcept override;
  std::int32_t try_encodable(std::int32_t slot, std::int32_t tokens) noexcept override;
  std::int32_t try_preempt(std::int32_t slot) noexcept override;
  std::int32_t try_reject(std::int32_t slot) noexcept override;
  std::int32_t try_wake_at(double time_s) noexcept override;
  bool decoded_together() const { return all_asked_; }
  double wake_s() const { return view_.wake_s; }
  std::int32_t taken_away() const { return view_.preempted + view_.rejected; }

 private:
  std::int32_t walk_on();
  std::int32_t walk_rows();
  bool give_token(NaiveRequest& r, int tokens);
  int budget_left() const;
  void take_away(NaiveRequest& r);
  bool bursts(int more) const;
  bool waits_for_victim() const { return at_hand_ != nullptr; }

  NaiveReplica* naive_;
  NaiveRequest* at_hand_ = nullptr;  // needs a block while a victim is asked for
  int most_ = 0, given_ = 0;
  int given_tokens_ = 0, wish_ = 0;
  bool all_asked_ = false;
};

class NaiveReplica : public Engine {
 public:
  NaiveReplica(const ServingCase& question, SchedulerPolicy& policy, Role role = Role::both);

  void arrive(int id) override;
  Rows schedule(Ps now) override;
  void update(const Rows& rows) override;
  bool took_away() const override { return plan_.taken_away() > 0; }
  void report(History& history) const override;

  void use_encoder(NaiveEncoder* encoder) { encoder_ = encoder; }

  // --- for a cluster
  /// Another replica holds the KV of all but the last of its prompt's tokens.
  void arrive_without_kv(int id);
  /// Requests that got blocks for such KV in the last plan, in that order.
  const std::vector<int>& pulled() const { return pulled_; }
  /// The KV has come.
  void receive(int id);
  /// Requests that ended in the last update; on a prefill replica they keep their blocks until
  /// release_kept.
  const std::vector<int>& ended() const { return ended_; }
  void release_kept(int id);

  // --- KV that is sent before its prompt is computed
  /// Blocks for the whole prompt; false: there is no room, or another request waits for some.
  bool reserve(int id);
  /// The prompt is computed elsewhere, and its KV comes into reserved blocks.
  void adopt(int id);
  void count_flows(int id, int more) { requests_[static_cast<std::size_t>(id)].flows += more; }
  /// Out of its seat; its blocks stay until release_kept().
  void leave_with_blocks(int id);
  /// Requests that lost their seat in the last plan.
  std::vector<int> preempted() const;

  // --- stores outside the GPU
  void use_tiers(NaiveTiers* tiers, std::size_t replica) {
    tiers_ = tiers;
    place_ = replica;
  }
  /// Requests that got blocks for KV of stores in the last plan, in that order; receive() ends it.
  const std::vector<int>& loading() const { return loading_; }
  /// Requests that wait outside of the queue until something arrives come back to it.
  void ask_again();
  bool has_deferred() const { return !deferred_.empty(); }
  /// Requests that got a seat in the last plan, in that order.
  std::vector<int> seated() const;
  /// Blocks with the content of its first tokens stay taken until unpin().
  std::vector<int> pin(int id, int tokens);
  void unpin(const std::vector<int>& blocks) { pool_.free_all(blocks); }
  /// Content that left in the last plan.
  std::vector<NaiveTiers::Lost> take_lost();

  /// The request is aborted: it leaves the queue or its seat, and its blocks are free. They keep
  /// the content that is known.
  void leave(int id);
  /// Nothing is cached any more. @pre no request is here
  void forget() { pool_.forget(); }
  /// Blocks that were taken for KV are free when it has come; what was cached here before is cached
  /// still.
  void refuse(int id);
  /// How much of that request's prompt is cached here now.
  int whole_hit_tokens(int id) {
    return static_cast<int>(lookup(requests_[static_cast<std::size_t>(id)]).size()) *
           config_.block_size;
  }
  /// Of a request that has blocks and was not computed here.
  int cached_tokens(int id) const { return request(id).hashed * config_.block_size; }
  /// Whether its last token has landed.
  bool is_over(int id) const { return request(id).landed == stop_at(request(id)); }
  const NaiveRequest& request(int id) const { return requests_[static_cast<std::size_t>(id)]; }
  bool idle() const { return running_.empty() && waiting_.empty() && deferred_.empty(); }
  /// Whether it waits or has a seat here.
  bool has(const NaiveRequest& r) const {
    return std::count(waiting_.begin(), waiting_.end(), &r) > 0 ||
           std::count(running_.begin(), running_.end(), &r) > 0;
  }
  /// When it wants to be asked again; unset: only when something happens.
  Ps wake() const;
  ReplicaSignals signals() const;
  /// What its policy reads of its group from now on.
  void see_group(const GroupView* group) { board_.numbers().group = group; }
  /// Of requests with a seat that are not known to end.
  std::set<int> adapters_in_use() const;
  bool has_prompt() const;
  bool decodes() const;
  bool has_seat() const {
    return config_.max_num_seqs == 0 || static_cast<int>(running_.size()) < config_.max_num_seqs;
  }

 private:
  friend class NaivePlan;
  friend class NaiveBoard;
  NaiveRequest* at_slot(int slot);
  int stop_at(const NaiveRequest& r) const;
  int longest_output(const NaiveRequest& r) const;
  int ceil_blocks(int tokens) const;
  int tokens_planned() const;
  bool speculates() const { return config_.speculates(); }
  /// Tokens as if every draft in flight were accepted.
  int optimistic(const NaiveRequest& r) const;
  int most_tokens(const NaiveRequest& r) const;
  int missing_blocks(const NaiveRequest& r, int tokens) const;
  void propose();
  void resolve(NaiveRequest& r, Row& row);
  void land(NaiveRequest& r, const Row& row);
  void open(NaiveRequest& r);
  void ask_key(NaiveRequest& r);
  void queue(NaiveRequest& r, bool front);
  int owed_to_prompts() const;
  int needed_beside_loaded(const NaiveRequest& r, int has) const;
  int found_in_stores(NaiveRequest& r, int gpu) const;

  void know_hashes(NaiveRequest& r);
  std::vector<int> lookup(NaiveRequest& r);
  /// The same without the question for a state.
  std::vector<int> growing_hits(NaiveRequest& r);
  std::vector<int> state_of(const NaiveRequest& r, int full);
  bool has_state(const NaiveRequest& r, int full);
  void keep_state(NaiveRequest& r, int full);
  void use_state(const NaiveRequest& r, int full);
  int hit_tokens(NaiveRequest& r);
  void plan_chunk(NaiveRequest& r, int tokens);
  void land_chunk(const Row& row);
  void cache_blocks(NaiveRequest& r, int tokens);
  void cache_rest(NaiveRequest& r, int tokens);
  /// `returns`: it was preempted and asks for its blocks again.
  void release(NaiveRequest& r, bool returns = false);

  /// Rebuilds everything that a policy can read.
  void show();
  void show_list(const std::vector<NaiveRequest*>& list, std::int32_t& head, std::int32_t& tail);
  void show_request(NaiveRequest& r);

  VllmConfig config_;
  Role role_;
  SchedulerPolicy* policy_;
  CaseSpeculator speculator_;
  CaseAcceptance acceptance_;
  BlockPool pool_;
  std::vector<NaiveRequest> requests_;
  std::vector<NaiveRequest*> waiting_, running_, deferred_;
  std::vector<int> pulled_, loading_, ended_;
  NaiveEncoder* encoder_ = nullptr;
  std::vector<NaiveEncoder::Chunk> chunks_;  // of the plan at hand, in its order
  std::vector<int> gone_;                    // who lost its seat in it
  NaiveTiers* tiers_ = nullptr;
  std::size_t place_ = 0;  // what the tiers call this one
  Requests arena_;
  NaiveBoard board_;
  NaivePlan plan_;
  std::int64_t serial_ = 0;
  int decode_steps_ = 0;  // steps in which decode_all ran at least one request
  Ps now_ = 0;
  bool states_wait_ = false;                                // until all decodes have blocks
  std::vector<std::pair<NaiveRequest*, int>> late_states_;  // that wait
  int resume_hits_ = 0, ended_waiting_ = 0;
};

}  // namespace rooflua::reference
