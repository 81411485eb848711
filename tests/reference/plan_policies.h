#pragma once
// Schedulers for the seams of engine/serve, written against Plan: what a Lua policy does, without
// Lua.

#include "serve/contract/policy.h"
#include "tests/reference/engines/sglang.h"
#include "tests/reference/engines/vllm_v1.h"

namespace rooflua::reference {

/// The rules of vLLM V1 through a Plan. `singly` walks every request, else decodes are one call;
/// `always` asks to be asked at every step.
class VllmThroughPlan : public SchedulerPolicy {
 public:
  VllmThroughPlan(const VllmConfig& config, bool singly, bool always)
      : config_(config), singly_(singly), always_(always) {}

  void plan(const VisibleReplica& replica, Plan& plan) override;
  bool has_key() const override { return config_.by_priority; }
  double key(const Request& request) override { return request.priority; }
  bool has_victim() const override { return config_.by_priority; }
  std::int32_t victim(const VisibleReplica& replica) override;
  bool every_step() const override { return always_; }

 private:
  void run_in_order(const VisibleReplica& replica, Plan& plan);
  bool run_one(const VisibleReplica& replica, Plan& plan, std::int32_t slot);
  void admit_waiting(const VisibleReplica& replica, Plan& plan);
  int chunk(int pending, int budget) const;

  VllmConfig config_;
  bool singly_, always_;
};

/// The rules of SGLang through a Plan. Asked at every step: the ratio decays with decode steps.
class SglangThroughPlan : public SchedulerPolicy {
 public:
  explicit SglangThroughPlan(const SglangConfig& config);
  void plan(const VisibleReplica& replica, Plan& plan) override;
  bool every_step() const override { return true; }

 private:
  void prefill_first(const VisibleReplica& replica, Plan& plan);
  void decode_rest(const VisibleReplica& replica, Plan& plan);
  int max_new_left(const VisibleReplica& replica, std::int32_t slot) const;

  SglangConfig config_;
  double init_ratio_, min_ratio_, ratio_;
  int seats_before_ = 0;
  bool full_ = false;
};

}  // namespace rooflua::reference
