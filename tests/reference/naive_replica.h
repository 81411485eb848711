#pragma once
// The state of the naive simulator, the board on which policies read it, and its Plan.

#include <vector>

#include "serve/replica.h"
#include "tests/reference/block_pool.h"
#include "tests/reference/pipeline.h"
#include "tests/reference/serving_case.h"

namespace rooflua::reference {

/// One request, nothing implied.
struct NaiveRequest {
  const Prompt* given = nullptr;
  int id = -1;
  int slot = -1;  // on the board
  Phase phase = Phase::absent;
  int computed = 0;  // KV, in flight included
  int output = 0;    // tokens, in flight included
  int landed = 0;
  int planned = 0;     // tokens in the plan at hand
  bool taken = false;  // preempted in the plan at hand
  bool fresh = false;  // admitted in the plan at hand
  bool ever_seated = false;
  int first_hit = 0, seat_hit = 0, preemptions = 0;
  double key = 0;
  Ps scheduled = unset;  // the plan that admitted it first, even if it lost its seat in that plan
  std::vector<int> blocks, hashes;
  int hashed = 0;          // blocks that carry content
  int remote = 0;          // KV that another replica computed
  bool away = false;       // it is still there, and has no blocks here
  bool held_back = false;  // there was no room for it here
  bool landed_kv = false;  // it is here, in blocks of this replica, but has no seat yet

  int sequence() const { return given->plain.prompt + output; }
};

class NaiveReplica;

/// What policies read. Only its view and its arena are filled; the rest of it never runs.
class Board : public Replica {
 public:
  Board(const ReplicaConfig& config, Requests& arena, const NaiveReplica& naive)
      : Replica(0, config, PrefixIndex::none, arena), naive_(&naive) {}
  std::int32_t decode_blocks() const noexcept override;

 private:
  const NaiveReplica* naive_;
};

class NaivePlan : public Plan {
 public:
  explicit NaivePlan(NaiveReplica& replica) : naive_(&replica) {}
  void begin(SchedulerPolicy& policy, Replica& board, Ps now, std::int64_t serial);

  std::int32_t try_decode_all(std::int32_t limit) noexcept override;
  std::int32_t try_shed(std::int32_t victim) noexcept override;
  std::int32_t try_decode(std::int32_t slot) noexcept override;
  std::int32_t try_prefill(std::int32_t slot, std::int32_t tokens) noexcept override;
  std::int32_t try_admit(std::int32_t slot, const Admission& admission) noexcept override;
  std::int32_t try_preempt(std::int32_t slot) noexcept override;
  std::int32_t try_reject(std::int32_t slot) noexcept override;
  std::int32_t try_wake_at(double time_s) noexcept override;
  bool decoded_together() const { return all_asked_; }
  double wake_s() const { return view_.wake_s; }
  std::int32_t taken_away() const { return view_.preempted + view_.rejected; }

 private:
  std::int32_t walk_on();
  bool give_token(NaiveRequest& r);
  void take_away(NaiveRequest& r);
  bool bursts(int more) const;
  bool waits_for_victim() const { return at_hand_ != nullptr; }

  NaiveReplica* naive_;
  NaiveRequest* at_hand_ = nullptr;  // needs a block while a victim is asked for
  int most_ = 0, given_ = 0;
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

  // --- for a cluster
  /// Another replica holds the KV of all but the last of its prompt's tokens.
  void arrive_without_kv(int id);
  /// Who got blocks for such KV in the last plan, in that order.
  const std::vector<int>& pulled() const { return pulled_; }
  /// The KV has come.
  void receive(int id);
  /// Who ended in the last update; on a prefill replica it keeps its blocks until they are
  /// released.
  const std::vector<int>& ended() const { return ended_; }
  void release_kept(int id);
  /// How much of that request's prompt is cached here now.
  int hit_tokens(int id) {
    return static_cast<int>(lookup(requests_[static_cast<std::size_t>(id)]).size()) *
           config_.block_size;
  }
  const NaiveRequest& request(int id) const { return requests_[static_cast<std::size_t>(id)]; }
  bool idle() const { return running_.empty() && waiting_.empty(); }
  /// When it wants to be asked again; unset: only when something happens.
  Ps wake() const;
  ReplicaSignals signals() const;

 private:
  friend class NaivePlan;
  friend class Board;
  NaiveRequest* at_slot(int slot);
  int stop_at(const NaiveRequest& r) const;
  int longest_output(const NaiveRequest& r) const;
  int ceil_blocks(int tokens) const;
  int tokens_planned() const;
  void queue(NaiveRequest& r, bool front);
  int owed_to_prompts() const;

  void know_hashes(NaiveRequest& r);
  std::vector<int> lookup(NaiveRequest& r);
  void cache_blocks(NaiveRequest& r, int tokens);
  void release(NaiveRequest& r);

  /// Rebuilds everything that a policy can read.
  void show();
  void show_list(const std::vector<NaiveRequest*>& list, std::int32_t& head, std::int32_t& tail);
  void show_request(NaiveRequest& r);

  VllmConfig config_;
  Role role_;
  SchedulerPolicy* policy_;
  BlockPool pool_;
  std::vector<NaiveRequest> requests_;
  std::vector<NaiveRequest*> waiting_, running_;
  std::vector<int> pulled_, ended_;
  Requests arena_;
  Board board_;
  NaivePlan plan_;
  std::int64_t serial_ = 0;
  int decode_steps_ = 0;  // in which decode_all had somebody to run
  Ps now_ = 0;
  int resume_hits_ = 0, ended_waiting_ = 0;
};

}  // namespace rooflua::reference
