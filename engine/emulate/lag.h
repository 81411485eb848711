#pragma once
// How late tokens leave the program, on the wall clock: it computes the steps, and shares the
// machine with its clients.

#include <cstdint>
#include <vector>

#include "emulate/exposition.h"

namespace rooflua::emulate {

class Lag {
 public:
  /// A token was due so long ago when it was written.
  void add(double lag_s);
  void add_step(double step_s) { steps_.push_back(step_s); }
  /// Looks at what came since the last call. To be called once a second.
  /// @returns whether it is late from now on, and was not before
  bool look();
  /// Whether 1 % of the tokens of the last second came later than 10 % of its median step.
  bool is_late() const { return late_; }
  std::int64_t late_seconds() const { return late_seconds_; }
  const Histogram& histogram() const { return all_; }
  double most_s() const { return most_s_; }

 private:
  std::vector<double> lags_, steps_;  // of this second
  Histogram all_{{0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1}};
  bool late_ = false;
  std::int64_t late_seconds_ = 0;
  double most_s_ = 0;
};

}  // namespace rooflua::emulate
