#pragma once
// Policies in C++, for tests only: the engine itself has none.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "serve/loop/simulation.h"

namespace rooflua::test {

/// vLLM V1 at its simplest: decodes, then chunks of seated prompts, then the head of the queue.
class Fcfs : public SchedulerPolicy {
 public:
  std::int32_t chunk = 0;      // long_prefill_token_threshold; 0 = none
  bool full_must_fit = false;  // scheduler_reserve_full_isl
  std::int32_t watermark = 0;  // blocks
  bool hold_prompt = false;    // Sarathi
  bool hold_all = false;       // Orca: prompt + max_output_tokens
  bool whole_batches = false;  // static batching
  bool always = false;         // asked at every step
  bool singly = false;         // decode() for each instead of decode_all()
  std::int64_t asked = 0;

  bool every_step() const override { return always; }

  void plan(const VisibleReplica& replica, Plan& plan) override {
    ++asked;
    const ReplicaView& v = replica.view();
    const std::int32_t budget = v.max_num_batched_tokens > 0 ? v.max_num_batched_tokens : 1 << 30;
    const bool may_admit = !whole_batches || v.seats == 0;
    if (singly) {
      decode_each(replica, plan, budget);
    } else {
      plan.decode_all(v.decodes > budget ? budget : Plan::no_limit);
    }
    if (!continue_prompts(replica, plan, budget)) return;
    if (plan.view().preempted > 0 || !may_admit) return;
    while (v.waiting > 0 && plan.view().tokens < budget) {
      const std::int32_t slot = v.waiting_head;
      const Request& r = replica.request(slot);
      const std::int32_t sequence = r.prompt_tokens + r.emitted_tokens;
      Admission wish;
      wish.tokens = piece(sequence - replica.cached_tokens(slot), budget - plan.view().tokens);
      wish.fit_tokens = full_must_fit ? sequence : 0;
      wish.hold_tokens = hold_all      ? r.prompt_tokens + r.max_output_tokens
                         : hold_prompt ? sequence
                                       : 0;
      wish.spare_blocks = v.seats > 0 ? watermark : 0;
      if (!plan.admit(slot, wish)) break;
    }
  }

 private:
  std::int32_t piece(std::int32_t pending, std::int32_t left) const {
    return std::min({pending, left, chunk > 0 ? chunk : pending});
  }

  void decode_each(const VisibleReplica& replica, Plan& plan, std::int32_t budget) const {
    const ReplicaView& v = replica.view();
    for (std::int32_t slot = v.running_head; slot >= 0 && plan.view().tokens < budget;) {
      while (replica.request(slot).phase == Phase::decoding && !plan.decode(slot)) {
        const std::int32_t victim = v.running_tail;
        plan.preempt(victim);
        if (victim == slot) return;
      }
      slot = replica.request(slot).next;
    }
  }

  bool continue_prompts(const VisibleReplica& replica, Plan& plan, std::int32_t budget) const {
    const ReplicaView& v = replica.view();
    std::int32_t slot = v.prefilling_head;
    while (slot >= 0 && plan.view().tokens < budget) {
      const Request& r = replica.request(slot);
      const std::int32_t tokens = piece(pending_tokens(v, r), budget - plan.view().tokens);
      while (!plan.prefill(slot, tokens)) {
        const std::int32_t victim = v.running_tail;
        if (!plan.preempt(victim) || victim == slot) return false;  // its KV is still to be sent
      }
      slot = r.next_prefilling;
    }
    return true;
  }
};

/// base + per_token * tokens + per_context * decode context, in seconds.
class LinearSteps : public StepModel {
 public:
  explicit LinearSteps(double base = 1, double per_token = 0, double per_context = 0)
      : base_s(base), per_token_s(per_token), per_context_s(per_context) {}
  double base_s, per_token_s, per_context_s;
  void price(const Batch& batch, StepPrice& price) override {
    price.time_s =
        base_s + per_token_s * batch.tokens + per_context_s * batch.decode_context_tokens;
    price.evidence_s[static_cast<int>(Evidence::assumed)] = price.time_s;
  }
};

/// Two of three requests.
class SplitsSome : public Decider {
 public:
  bool split(const Request& request, const PairView&) override { return request.id % 3 > 0; }
};

/// Keeps all that observers are told, in words: one line per step such as
///     "0..1: d2 x1 p0:16+0 p1:8+32* w1 u4"
/// (start..end in s; decodes; of these discarded, if any; prefills id:new+context, * completes;
/// waiting; used blocks)
class Recorder : public Observer {
 public:
  bool reads_prices() const override { return false; }
  std::vector<std::string> steps;
  std::vector<RequestDone> done;
  std::vector<std::string> preempted;
  std::vector<Picoseconds> gaps;

  void on_step(const StepDone& seen) override {
    char text[64];
    std::snprintf(text, sizeof text, "%g..%g:", seconds(seen.start), seconds(seen.end));
    std::string line = text;
    if (seen.batch->decodes > 0) line += " d" + std::to_string(seen.batch->decodes);
    if (seen.discarded > 0) line += " x" + std::to_string(seen.discarded);
    for (const PrefillWork& p : seen.prefills)
      line += " p" + std::to_string(p.id) + ":" + std::to_string(p.new_tokens) + "+" +
              std::to_string(p.context_tokens) + (p.completes != 0 ? "*" : "");
    line += " w" + std::to_string(seen.waiting) + " u" + std::to_string(seen.used_blocks);
    steps.push_back(line);
    for (std::int32_t i = 0; i < seen.common_gaps; ++i) gaps.push_back(seen.common_gap);
    gaps.insert(gaps.end(), seen.other_gaps.begin(), seen.other_gaps.end());
  }
  void on_preempt(const Request& request, Picoseconds now) override {
    char text[32];
    std::snprintf(text, sizeof text, "%g:%d", seconds(now), request.id);
    preempted.push_back(text);
  }
  void on_done(const RequestDone& request) override { done.push_back(request); }

  /// The request with this id.
  const RequestDone& of(std::int32_t id) const {
    return *std::find_if(done.begin(), done.end(),
                         [&](const RequestDone& d) { return d.id == id; });
  }
};

inline RequestSpec spec(double arrival_s, std::int32_t prompt, std::int32_t output) {
  RequestSpec s;
  s.arrival_s = arrival_s;
  s.prompt_tokens = prompt;
  s.output_tokens = output;
  s.max_output_tokens = output;
  return s;
}

/// One replica, one scheduler, steps of one second unless told otherwise.
struct Bench {
  ClusterConfig cluster;
  Fcfs scheduler;
  LinearSteps model;
  Recorder recorder;
  std::vector<SchedulerPolicy*> schedulers;

  Bench(std::int32_t blocks, std::int32_t budget, std::int32_t block_size = 16) {
    ReplicaConfig replica;
    replica.kv_blocks = blocks;
    replica.block_size = block_size;
    replica.max_num_batched_tokens = budget;
    cluster.replicas = {replica};
  }
  ReplicaConfig& replica() { return cluster.replicas.front(); }
  Bindings bindings(Workload& workload) {
    Bindings b;
    b.schedulers.assign(cluster.replicas.size(), &scheduler);
    b.steps.assign(cluster.replicas.size(), &model);
    b.workload = &workload;
    b.observers = {&recorder};
    return b;
  }
  Totals run(std::vector<RequestSpec> specs) {
    ListedWorkload workload(std::move(specs));
    return simulate(cluster, bindings(workload));
  }
};

}  // namespace rooflua::test
