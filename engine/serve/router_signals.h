#pragma once
// The load signals of all replicas, as old as the router declares.

#include <cstdint>
#include <vector>

#include "serve/cluster.h"
#include "serve/replica.h"

namespace rooflua {

class RouterSignals {
 public:
  explicit RouterSignals(std::size_t replicas) : signals_(replicas) {}

  /// Signals are taken at 0, s, 2s, ... from now on. 0: whenever they are read.
  void set_staleness(Picoseconds staleness) { staleness_ = staleness; }
  /// To be called before anything happens at `time`: the state since the last instant is the state
  /// at every tick up to `time`.
  void pass_time(Picoseconds time, const std::vector<Replica>& replicas);
  /// The signals of every replica for a router that is asked now. `outstanding` is never stale: the
  /// router counts its own requests.
  const ReplicaSignals* read(Picoseconds now, const std::vector<Replica>& replicas,
                             const std::vector<std::int32_t>& outstanding,
                             const std::vector<std::int32_t>& group_of);
  /// When the signals were taken.
  Picoseconds taken_at() const { return taken_at_; }

 private:
  void take(const std::vector<Replica>& replicas);

  std::vector<ReplicaSignals> signals_;
  Picoseconds staleness_ = 0, taken_at_ = 0, next_ = 0;
};

}  // namespace rooflua
