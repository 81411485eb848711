#include "serve/core/router_signals.h"

namespace rooflua {

RouterSignals::RouterSignals(const std::vector<std::int32_t>& group_of,
                             const std::vector<ReplicaConfig>& replicas)
    : signals_(group_of.size()), is_changed_(group_of.size(), 0) {
  for (std::size_t i = 0; i < group_of.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    signals_[i].group = group_of[i];
    signals_[i].role = replicas[i].role;
    changed(index);
  }
}

void RouterSignals::set_candidates(const std::array<std::vector<std::int32_t>, 2>& candidates) {
  places_.assign(signals_.size(), -1);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    least_[stage] = LeastIndex(candidates[stage].size());
    for (std::size_t place = 0; place < candidates[stage].size(); ++place) {
      const std::int32_t index = candidates[stage][place];
      places_[static_cast<std::size_t>(index)] = static_cast<std::int32_t>(place);
      least_[stage].add(static_cast<std::int32_t>(place), outstanding(index));
    }
  }
}

void RouterSignals::set_reports(bool reports) {
  if (reports == reports_) return;
  reports_ = reports;
  reported_.clear();
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    if (reports)
      reported_.push_back({signals_[i].kv_used_frac, signals_[i].waiting, signals_[i].running});
    changed(static_cast<std::int32_t>(i));
  }
}

void RouterSignals::take(const std::vector<Replica>& replicas) {
  for (const std::int32_t index : changed_) {
    ReplicaSignals& signals = at(index);
    const std::int32_t outstanding = signals.outstanding, group = signals.group;
    signals = replicas[static_cast<std::size_t>(index)].signals(landing_);
    signals.outstanding = outstanding;
    signals.group = group;
    is_changed_[static_cast<std::size_t>(index)] = 0;
    if (!reports_) continue;
    const Report& told = reported_[static_cast<std::size_t>(index)];
    signals.waiting = told.waiting;
    signals.running = told.running;
    signals.kv_used_frac = told.kv_used_frac;
  }
  changed_.clear();
}

void RouterSignals::pass_time(Picoseconds time, const std::vector<Replica>& replicas) {
  if (staleness_ == 0 || time < next_) return;
  taken_at_ = time - time % staleness_;
  next_ = taken_at_ + staleness_;
  take(replicas);
}

const ReplicaSignals* RouterSignals::read(Picoseconds now, const std::vector<Replica>& replicas) {
  if (staleness_ == 0) {
    taken_at_ = now;
    take(replicas);
  }
  return signals_.data();
}

}  // namespace rooflua
