#pragma once
// Replicas that fail, are repaired and are slow in a random question to a cluster.

#include <cstddef>
#include <optional>
#include <vector>

#include "serve/contract/clock.h"
#include "serve/contract/fault.h"
#include "tests/reference/plain.h"

namespace rooflua::reference {

struct CaseFault {
  Ps time = 0;
  int replica = 0;
  Ps lasts = unset;  // until it is repaired, or as fast as before; unset: for ever
  int factor = 0;    // 0: it fails; else its steps take so many times as long
};

struct FaultCase {
  std::vector<CaseFault> list;  // by time
  Ps detect = 0, connect = 0;
};

/// The same for the engine.
class CaseFaults : public FaultPolicy {
 public:
  explicit CaseFaults(const FaultCase& faults) : faults_(faults) {}
  std::optional<Fault> next(double now_s, std::int32_t replicas) override;
  double detect_s() const override { return seconds(faults_.detect); }
  double connect_s() const override { return seconds(faults_.connect); }

 private:
  const FaultCase& faults_;
  std::size_t place_ = 0;
};

}  // namespace rooflua::reference
