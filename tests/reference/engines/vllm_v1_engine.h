#pragma once
// The state of the transcribed scheduler. Its functions: vllm_v1.cpp has those that plan steps and
// take their results, vllm_v1_blocks.cpp those about blocks, their content, and preemption.

#include <algorithm>
#include <deque>
#include <vector>

#include "tests/reference/engines/block_pool.h"
#include "tests/reference/engines/vllm_v1.h"

namespace rooflua::reference {

enum class VllmStatus { unseen, waiting, preempted, running, finished };

struct VllmRequest {
  const PlainRequest* given = nullptr;
  int id = -1;
  VllmStatus status = VllmStatus::unseen;
  int output = 0;        // tokens that landed
  int computed = 0;      // KV that exists or is in flight
  int under_way = 0;     // with stages only: sampled tokens in flight
  int placeholders = 0;  // async only: tokens in flight, drafts included
  int drafts = 0;        // that it brings to the next step
  int flight = 0;        // rows in flight that sample
  int true_output = 0;   // what the GPU knows: tokens and KV, those in flight as they will land
  int true_computed = 0;
  std::vector<int> blocks;
  std::vector<int> seat;    // blocks besides those of its tokens
  int hashed = 0;           // blocks of it that carry content
  std::vector<int> hashes;  // chain of its full blocks, as far as known
  bool prefilling = false;  // admitted, and its sequence is not complete yet
  bool admitted_before = false;
  int cached = 0, preemptions = 0;

  int num_tokens() const { return given->prompt + output; }
};

class VllmV1 : public Engine {
 public:
  VllmV1(const VllmConfig& config, const std::vector<PlainRequest>& requests)
      : config_(config), pool_(config.blocks, config.prefix_caching), requests_(requests.size()) {
    for (std::size_t id = 0; id < requests.size(); ++id) {
      requests_[id].given = &requests[id];
      requests_[id].id = static_cast<int>(id);
    }
  }

  void arrive(int id) override {
    VllmRequest& r = at(id);
    r.status = VllmStatus::waiting;
    waiting_.push_back(&r);
    sort_waiting();
  }

  Rows schedule(Ps now) override;
  void update(const Rows& rows) override;
  bool took_away() const override { return preempted_somebody_; }

  void report(History& history) const override {
    for (const VllmRequest& r : requests_) {
      Served& served = history.requests[static_cast<std::size_t>(r.id)];
      served.preemptions = r.preemptions;
      served.cached = r.cached;
      history.preemptions += r.preemptions;
      if (r.status != VllmStatus::finished) history.finished = false;
    }
    history.resume_hits = resume_hits_;
    history.ended_waiting = ended_waiting_;
  }

 private:
  VllmRequest& at(int id) { return requests_[static_cast<std::size_t>(id)]; }
  bool async() const { return config_.async_depth == 2 && !config_.stages.several(); }
  int ceil_blocks(int tokens) const {
    return (tokens + config_.block_size - 1) / config_.block_size;
  }

  void schedule_running();
  void schedule_waiting();
  bool exceeds_adapters(int adapter) const;
  int tokens_of_running(const VllmRequest& r) const;
  int stop_at(const VllmRequest& r) const;
  void run_on_gpu(Row& row);
  int accepted(const VllmRequest& r, int drafts, int output) const;
  void propose();
  bool allocate(VllmRequest& r, int tokens, const std::vector<int>& hits, bool is_waiting);
  std::vector<int> lookup(VllmRequest& r);
  void know_hashes(VllmRequest& r);
  void cache_blocks(VllmRequest& r, int tokens);
  VllmRequest* pick_victim();
  void preempt(VllmRequest& r);
  void free_blocks(VllmRequest& r);
  void sort_waiting();
  Row* row_of(const VllmRequest& r);

  VllmConfig config_;
  BlockPool pool_;
  std::vector<VllmRequest> requests_;
  std::deque<VllmRequest*> waiting_;
  std::vector<VllmRequest*> running_;  // in order of admission
  int budget_ = 0;
  Rows scheduled_;
  bool preempted_somebody_ = false;
  int resume_hits_ = 0, ended_waiting_ = 0;
};

}  // namespace rooflua::reference
