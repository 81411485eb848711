#pragma once
// How many engines of all pools were ready, and how many started, over a run.

#include <array>
#include <vector>

#include "measure/record/summary.h"
#include "measure/record/time_bins.h"

namespace rooflua {

class PoolSketch {
 public:
  explicit PoolSketch(const std::vector<PoolOptions>& pools);

  bool empty() const { return engines_.empty(); }
  void on_replica(const ReplicaChanged& change, Picoseconds origin);
  /// What holds up to `end`, counted from the origin.
  /// @param wanted  Lifecycle::ready or Lifecycle::starting
  TimeBins over_time(Lifecycle wanted, Picoseconds end) const;

 private:
  struct Count {
    double now = 0;
    TimeBins bins;
  };
  static std::size_t place(Lifecycle state) { return state == Lifecycle::ready ? 0 : 1; }
  void pass(Picoseconds now);

  std::vector<std::int32_t> engines_;  // the first replica of each, in order
  std::array<Count, 2> counts_;        // ready, starting
  Picoseconds since_ = 0;              // from the origin
};

}  // namespace rooflua
