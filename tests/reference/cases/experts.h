#pragma once
// Experts that drift in a random question to a cluster: what the fullest rank of an engine has to
// do in the steps of a period, and what its first step waits for.

#include <cmath>

#include "serve/contract/experts.h"
#include "tests/reference/cases/serving.h"

namespace rooflua::reference {

struct ExpertCase {
  std::uint64_t seed = 0;
  Ps token = 0;  // per token of a step and eighth of load above 1; 0: no expert drifts

  struct Period {
    int steps = 1, eighths = 0;
    Ps stall = 0;
  };
  /// Follows from all that a policy is told.
  Period next(int engine, Ps now, std::int64_t steps, std::int64_t tokens) const {
    Dice dice(seed + 31 * static_cast<std::uint64_t>(engine) + static_cast<std::uint64_t>(now) +
              1009 * static_cast<std::uint64_t>(steps) + 17 * static_cast<std::uint64_t>(tokens));
    Period out;
    out.steps = dice.between(1, dice.chance(50) ? 3 : 20);
    out.eighths = dice.between(0, 8);
    if (dice.chance(30)) out.stall = dice.between(1, 3000);
    return out;
  }
};

/// The same for the engine.
class CaseExperts : public ExpertPolicy {
 public:
  explicit CaseExperts(const ExpertCase& experts) : experts_(experts) {}
  ExpertPeriod next(std::int32_t engine, double now_s, std::int64_t steps, double tokens) override {
    const ExpertCase::Period made = experts_.next(engine, std::llround(now_s * 1e12), steps,
                                                  static_cast<std::int64_t>(tokens));
    return {made.steps, 1 + made.eighths / 8.0, seconds(made.stall), 0, made.stall > 0 ? 1 : 0};
  }

 private:
  const ExpertCase& experts_;
};

}  // namespace rooflua::reference
