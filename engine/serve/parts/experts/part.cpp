// Experts that move: the load of the fullest rank in each step of an engine (contract/experts.h).
// In a period every step has the same load, so that prices of steps ahead stay right; a new period
// ends them.

#include "serve/core/part.h"

#include <vector>

#include "base/error.h"
#include "serve/contract/experts.h"

namespace rooflua {

namespace {

/// Where an engine is in its period.
struct ExpertSteps {
  ExpertPeriod period;
  std::int32_t left = 0;               // steps of the period to come
  std::int64_t steps = 0, tokens = 0;  // since the policy was asked
};

class ExpertsPart final : public Part, public OnStep {
 public:
  ExpertsPart(Core& core, std::vector<ExpertSteps> engines)
      : core_(core), engines_(std::move(engines)) {}

  std::unique_ptr<Part> copy(Core& core, Loop&) const override {
    return std::make_unique<ExpertsPart>(core, engines_);
  }
  std::string obstacle() const override { return "experts move between ranks"; }

  void weighs(const RankGroup& group) override;
  std::int64_t same_for(std::int32_t replica) const override { return of(replica).left; }
  void took(std::int32_t replica, Picoseconds end, std::int64_t tokens) override;

 private:
  const ExpertSteps& of(std::int32_t replica) const {
    return engines_[static_cast<std::size_t>(core_.engine_of(replica))];
  }

  Core& core_;
  std::vector<ExpertSteps> engines_;
};

void ExpertsPart::weighs(const RankGroup& group) {
  const std::int32_t engine = core_.engine_of(group.members.front());
  ExpertSteps& own = engines_[static_cast<std::size_t>(engine)];
  const bool begins = own.left == 0;
  if (begins) {
    own.period = core_.bindings.experts->next(engine, seconds(core_.now), own.steps,
                                              static_cast<double>(own.tokens));
    const ExpertPeriod& made = own.period;
    ROOFLUA_ASSERT(made.steps >= 1 && made.load >= 1 && made.stall_s >= 0);
    own.left = made.steps;
    own.steps = own.tokens = 0;
  }
  for (const std::int32_t index : group.members) {
    Batch& batch = core_.at(index).planned_batch();
    const bool counts = begins && index == group.members.front();
    batch.expert_load = own.period.load;
    batch.expert_stall_s = begins ? own.period.stall_s : 0;
    batch.expert_moved_bytes = counts ? own.period.moved_bytes : 0;
    batch.expert_rebalanced = counts ? own.period.rebalanced : 0;
    own.tokens += batch.tokens;
    if (begins) core_.runs[static_cast<std::size_t>(index)].forget();
  }
  --own.left;
  ++own.steps;
}

void ExpertsPart::took(std::int32_t replica, Picoseconds, std::int64_t tokens) {
  ExpertSteps& own = engines_[static_cast<std::size_t>(core_.engine_of(replica))];
  --own.left;
  ++own.steps;
  own.tokens += tokens;
}

}  // namespace

std::unique_ptr<Part> make_experts(Core& core, Loop&) {
  return std::make_unique<ExpertsPart>(core, std::vector<ExpertSteps>(core.groups.size()));
}

}  // namespace rooflua
