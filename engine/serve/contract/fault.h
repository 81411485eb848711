#pragma once
// What fails in a cluster, and when.

#include <cstdint>
#include <limits>
#include <optional>

namespace rooflua {

struct Fault {
  enum class Kind : std::int32_t { fail, slow };
  double time_s = 0;  // not before the fault in front of it
  Kind kind = Kind::fail;
  std::int32_t replica = 0;
  /// Of `fail`: until it is repaired, and starts again; infinity: never. Of `slow`: until it is as
  /// fast as before.
  double for_s = std::numeric_limits<double>::infinity();
  double factor = 1;  // of `slow`: its steps take so many times as long
};

class FaultPolicy {
 public:
  virtual ~FaultPolicy() = default;
  /// The next fault, asked at the start and when the one before has come. Nothing: there is none,
  /// and it is not asked again.
  /// @param now_s     the time of the fault before
  /// @param replicas  how many there are
  virtual std::optional<Fault> next(double now_s, std::int32_t replicas) = 0;
  /// How long routers believe that a replica is ready which has failed.
  virtual double detect_s() const { return 0; }
  /// What is sent there meanwhile ends as replica_lost after so long.
  virtual double connect_s() const { return 0; }
};

}  // namespace rooflua
