#pragma once
// What fails in a cluster, and when.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace rooflua {

struct Fault {
  enum class Kind : std::int32_t { fail, slow, link };
  double time_s = 0;  // not before the fault in front of it
  Kind kind = Kind::fail;
  std::int32_t replica = 0;  // of `link`: whose wires; -1: all of them
  std::string link;          // of `link`: its name
  /// Of `fail`: until it is repaired, and starts again; infinity: never. Of `slow`: until it is as
  /// fast as before. Of `link`: until it carries as much as before.
  double for_s = std::numeric_limits<double>::infinity();
  /// Of `slow`: its steps take so many times as long. Of `link`: from 0 to 1, it carries this part of
  /// its bytes/s; 0: whatever is on it stands still.
  double factor = 1;
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
  /// A transfer fails that stands still for so long.
  virtual double timeout_s() const { return std::numeric_limits<double>::infinity(); }
  /// Whether a request whose KV failed to come ends as replica_lost. Else its prompt is computed
  /// where it waits.
  virtual bool ends_requests() const { return false; }
};

}  // namespace rooflua
