#pragma once
// The scenario's clock, which goes with the wall clock.

#include <chrono>
#include <cstdint>

namespace rooflua::emulate {

class Clock {
 public:
  /// @param speed  seconds of the scenario in a second of the wall; > 0
  explicit Clock(double speed) : speed_(speed) {}

  double wall_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// Whole microseconds of the scenario that have passed.
  std::int64_t now_us() const { return static_cast<std::int64_t>(wall_s() * speed_ * 1e6); }
  /// When that is on the wall, counted from the start.
  double wall_of(double scenario_s) const { return scenario_s / speed_; }

 private:
  double speed_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rooflua::emulate
