#include "measure/record/pool_sketch.h"

#include <algorithm>

namespace rooflua {

PoolSketch::PoolSketch(const std::vector<PoolOptions>& pools) {
  for (const PoolOptions& pool : pools) {
    engines_.insert(engines_.end(), pool.engines.begin(), pool.engines.end());
    counts_[0].now += std::min(pool.count, static_cast<std::int32_t>(pool.engines.size()));
  }
  std::sort(engines_.begin(), engines_.end());
}

void PoolSketch::pass(Picoseconds now) {
  if (now <= since_) return;
  for (Count& each : counts_) each.bins.add(since_, now, each.now);
  since_ = now;
}

void PoolSketch::on_replica(const ReplicaChanged& change, Picoseconds origin) {
  if (!std::binary_search(engines_.begin(), engines_.end(), change.replica)) return;
  if (origin != never) pass(change.time - origin);
  for (const Lifecycle state : {Lifecycle::ready, Lifecycle::starting})
    counts_[place(state)].now += (change.now == state) - (change.before == state);
}

TimeBins PoolSketch::over_time(Lifecycle wanted, Picoseconds end) const {
  const Count& count = counts_[place(wanted)];
  TimeBins out = count.bins;
  if (end > since_) out.add(since_, end, count.now);
  return out;
}

}  // namespace rooflua
