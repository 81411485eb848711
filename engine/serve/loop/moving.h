#pragma once
// Experts that move: the load of the fullest rank in each step of an engine (contract/experts.h).
// In a period every step has the same load, so that prices of steps ahead stay right; a new period
// ends them.

#include <cstdint>

namespace rooflua {

struct RankGroup;
class Simulation;

class Moving {
 public:
  /// @pre the simulation has experts that move
  explicit Moving(Simulation& simulation) : s_(simulation) {}

  /// Writes into the planned batches of a group what its experts do in this step.
  void weigh(const RankGroup& group);
  /// Steps of a replica that steps alone, from here on, that are of the same period.
  std::int32_t left(std::int32_t index) const;
  /// So many of them were taken, each with so many tokens. @pre no more than left()
  void pass(std::int32_t index, std::int64_t steps, std::int64_t tokens);

 private:
  Simulation& s_;
};

}  // namespace rooflua
