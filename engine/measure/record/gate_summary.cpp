// Figures of gates and tenants: requests held, and what each tenant got.

#include <cmath>

#include "measure/record/summary.h"

namespace rooflua {

namespace {

/// Jain's index of values: (sum)^2 / (n x sum of squares). 1: all are equal; 1/n: one has it all.
/// @source R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984
class Jain {
 public:
  void add(double value) {
    sum_ += value;
    squares_ += value * value;
    ++count_;
  }
  double index() const { return squares_ > 0 ? sum_ * sum_ / (count_ * squares_) : 1; }

 private:
  double sum_ = 0, squares_ = 0, count_ = 0;
};

}  // namespace

void SummaryObserver::note_gate(const RequestDone& done, Group& of_class) {
  GateSummary& counts = gate_.counts;
  counts.refused += done.outcome == Outcome::refused;
  counts.expired += done.outcome == Outcome::expired;
  if (done.replica >= 0) ++counts.admitted;
  if (done.held == 0) return;
  ++counts.held;
  if (done.replica < 0) return;
  gate_.wait.add(done.held);
  of_class.held.add(done.held);
  if (done.tenant >= 0) group_of(tenants_, done.tenant).held.add(done.held);
}

void SummaryObserver::tell_held(const Group& group, GroupSummary& out) {
  if (group.held.count() == 0) return;
  const Statistics held_s = group.held.statistics(1e-12);
  out.held_s_mean = held_s.mean;
  out.held_s_p99 = held_s.p99;
}

GateSummary SummaryObserver::gate_summary() const {
  GateSummary out = gate_.counts;
  out.offered = arrived_;
  if (arrived_ > 0)
    out.completed_frac = static_cast<double>(ended_[static_cast<std::size_t>(Outcome::completed)]) /
                         static_cast<double>(arrived_);
  out.held_s = gate_.wait.statistics(1e-12);
  return out;
}

std::vector<GroupSummary> SummaryObserver::tenant_summaries(const GroupSummary& all) const {
  std::vector<GroupSummary> out;
  if (tenants_.empty()) return out;
  std::vector<Places> places = places_by(&Completed::tenant);
  places.resize(tenants_.size());
  for (std::size_t i = 0; i < tenants_.size(); ++i) {
    out.push_back(describe(tenants_[i], &places[i], &all));
    out.back().name = "tenant " + std::to_string(i);
  }
  return out;
}

std::optional<FairnessSummary> SummaryObserver::fairness_summary(const Summary& of) const {
  if (of.tenants.empty()) return std::nullopt;
  FairnessSummary out;
  Jain tokens, ttft;
  for (const GroupSummary& each : of.tenants) {
    if (each.completed + each.failed == 0) continue;
    ++out.tenants;
    tokens.add(static_cast<double>(each.prompt_tokens + 2 * each.output_tokens));
    if (each.completed > 0) ttft.add(each.ttft_s.mean);
  }
  out.jain_tokens = tokens.index();
  out.jain_ttft = ttft.index();
  return out;
}

}  // namespace rooflua
