#pragma once
// A scheduler that draws at random: every operation of a plan, in any order, on any request.

#include "serve/contract/policy.h"
#include "tests/reference/cases/serving.h"

namespace rooflua::reference {

/// Its choices follow from the seed, the number of plans so far and positions in lists, never from
/// slots. It plans something whenever it can.
class Chaos : public SchedulerPolicy {
 public:
  explicit Chaos(std::uint64_t seed) : seed_(seed), dice_(seed) {}

  void plan(const VisibleReplica& replica, Plan& plan) override;
  bool has_key() const override { return seed_ % 4 == 0; }
  double key(const Request& request) override;
  bool has_victim() const override { return seed_ % 3 == 0; }
  std::int32_t victim(const VisibleReplica& replica) override;
  bool every_step() const override { return true; }

 private:
  void preempt_somebody(const VisibleReplica& replica, Plan& plan);
  void decode_some(const VisibleReplica& replica, Plan& plan);
  void prefill_some(const VisibleReplica& replica, Plan& plan);
  void admit_some(const VisibleReplica& replica, Plan& plan);
  void do_something(const VisibleReplica& replica, Plan& plan);
  int left(const VisibleReplica& replica, const Plan& plan) const;

  std::uint64_t seed_;
  Dice dice_;
  bool asked_all_ = false;  // of decodes that may all be left out by max_model_len
};

}  // namespace rooflua::reference
