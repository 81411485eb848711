#include "serve/router_signals.h"

namespace rooflua {

void RouterSignals::take(const std::vector<Replica>& replicas) {
  for (std::size_t i = 0; i < replicas.size(); ++i) signals_[i] = replicas[i].signals();
}

void RouterSignals::pass_time(Picoseconds time, const std::vector<Replica>& replicas) {
  if (staleness_ == 0 || time < next_) return;
  taken_at_ = time - time % staleness_;
  next_ = taken_at_ + staleness_;
  take(replicas);
}

const ReplicaSignals* RouterSignals::read(Picoseconds now, const std::vector<Replica>& replicas,
                                          const std::vector<std::int32_t>& outstanding,
                                          const std::vector<std::int32_t>& group_of) {
  if (staleness_ == 0) {
    taken_at_ = now;
    take(replicas);
  }
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    signals_[i].outstanding = outstanding[i];
    signals_[i].group = group_of[i];
  }
  return signals_.data();
}

}  // namespace rooflua
