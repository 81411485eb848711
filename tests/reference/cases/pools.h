#pragma once
// Pools of a random question to a cluster: engines that come and go as an autoscaler wants.

#include <vector>

#include "serve/contract/autoscaler.h"
#include "serve/replica/pool.h"
#include "tests/reference/plain.h"

namespace rooflua::reference {

struct PoolCase {
  int first = 0, replicas = 0;
  int count = 0, min = 0, max = 0;      // engines: at first, at least, at most
  Ps interval = 1, provision = 0, init = 0, grace = 0;  // 0: none
  Drain drain = Drain::finish;
  std::uint64_t seed = 0;
};

/// What the autoscaler of a case sees of a pool.
struct PoolLook {
  Ps now = 0;
  int pool = 0, ready = 0, starting = 0, draining = 0, failed = 0, wanted = 0, held = 0;
  struct Member {
    int replica = 0, waiting = 0, running = 0, outstanding = 0;
  };
  std::vector<Member> members;
};

/// How many engines it wants, and which ready one goes (a place; -1: it does not say). Both follow
/// from all that is seen.
int scale(const PoolCase& pool, const PoolLook& look);
int drained(const PoolCase& pool, const PoolLook& look);

/// The same for the engine.
class CaseAutoscaler : public AutoscalerPolicy {
 public:
  explicit CaseAutoscaler(const PoolCase& pool) : pool_(pool) {}
  std::int32_t scale(const PoolView& pool) override;
  std::int32_t drain(const PoolView& pool, std::span<const PoolMember> candidates) override;
  double interval_s() const override;
  double window_s() const override { return 1; }

 private:
  const PoolCase& pool_;
};

}  // namespace rooflua::reference
