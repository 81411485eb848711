#pragma once
// Experts of an engine whose popularity drifts, and which move from rank to rank.

#include <cstdint>

namespace rooflua {

/// What is the same for the next steps of an engine.
struct ExpertPeriod {
  std::int32_t steps = 1;       // that it lasts; >= 1
  double load = 1;              // tokens of the fullest rank over those of a balanced one; >= 1
  double stall_s = 0;           // that its first step waits for experts that move
  double moved_bytes = 0;       // that ranks receive, all of them together
  std::int32_t rebalanced = 0;  // 1: a balancer placed experts anew
};

/// One per run.
class ExpertPolicy {
 public:
  virtual ~ExpertPolicy() = default;
  /// Asked in front of the first step of an engine, and whenever a period is over.
  /// @param engine  from 0: ranks that step together are one
  /// @param steps   of the engine since it was asked last
  /// @param tokens  that these ran on all ranks
  virtual ExpertPeriod next(std::int32_t engine, double now_s, std::int64_t steps,
                            double tokens) = 0;
};

}  // namespace rooflua
