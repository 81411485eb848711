// Figures of replicas that fail: what is lost.

#include <algorithm>
#include <numeric>

#include "measure/record/summary.h"

namespace rooflua {

namespace {
constexpr Picoseconds one_second = 1'000'000'000'000;
constexpr std::size_t window = 30;  // one_seconds of a rate
}  // namespace

void SummaryObserver::note_failure(const ReplicaChanged& change) {
  if (change.now == Lifecycle::failed) {
    ++faults_.counts.failures;
    faults_.first = std::min(faults_.first, change.time);
    faults_.down_since.emplace(change.replica, change.time);
    return;
  }
  const auto down = faults_.down_since.find(change.replica);
  if (change.now == Lifecycle::starting || down == faults_.down_since.end()) return;
  faults_.down += change.time - down->second;
  faults_.down_since.erase(down);
}

void SummaryObserver::on_link(const LinkChanged& change) {
  const auto since = faults_.degraded_since.find(change.wire);
  const bool was = since != faults_.degraded_since.end();
  if (change.factor < 1) faults_.first = std::min(faults_.first, change.time);
  if (!was && change.factor < 1) faults_.degraded_since.emplace(change.wire, change.time);
  if (!was || change.factor < 1) return;
  faults_.degraded += change.time - since->second;
  faults_.degraded_since.erase(since);
}

void SummaryObserver::on_failed_transfer(const TransferSeen&) {
  ++faults_.counts.failed_transfers;
}

void SummaryObserver::note_lost(const RequestDone& done, bool is_good) {
  const std::int32_t origin = done.origin >= 0 ? done.origin : done.id;
  if (done.attempt > 0 && done.scheduled != never && faults_.lost.contains(origin))
    faults_.counts.recomputed_tokens += done.outcome == Outcome::completed
                                            ? done.prompt_tokens - done.cached_tokens
                                            : done.computed_tokens;
  if (done.outcome == Outcome::replica_lost) {
    ++faults_.counts.lost_requests;
    faults_.counts.lost_tokens +=
        done.computed_tokens + (done.keeps_output ? 0 : done.output_tokens);
    if (done.is_retried) faults_.lost.insert(origin);
  }
  if (!done.is_retried && done.outcome != Outcome::replica_lost) faults_.lost.erase(origin);
  if (!is_good) return;
  const auto place = static_cast<std::size_t>(done.last_token / one_second);
  if (place >= faults_.good.size()) faults_.good.resize(place + 1);
  ++faults_.good[place];
}

/// In whole seconds, after whole ones.
std::optional<double> SummaryObserver::recovery_s() const {
  if (faults_.first == never) return std::nullopt;
  const auto from = static_cast<std::size_t>(first_arrival_ / one_second);
  const auto failed = static_cast<std::size_t>(faults_.first / one_second);
  if (failed <= from || failed >= faults_.good.size()) return std::nullopt;
  const auto good = [&](std::size_t first, std::size_t last) {
    const auto begin = faults_.good.begin();
    return static_cast<double>(std::accumulate(begin + static_cast<std::ptrdiff_t>(first),
                                               begin + static_cast<std::ptrdiff_t>(last),
                                               std::int64_t{0}));
  };
  const double before = good(from, failed) / static_cast<double>(failed - from);
  bool fell = false;
  // The last answers of a run come ever more seldom: nothing is sent any more.
  for (std::size_t end = failed + window; end + window <= faults_.good.size(); ++end) {
    const bool is_back = good(end - window, end) >= 0.95 * before * window;
    if (fell && is_back) return static_cast<double>(end - failed);
    fell = fell || !is_back;
  }
  if (fell) return std::nullopt;
  return 0;
}

FaultSummary SummaryObserver::fault_summary() const {
  FaultSummary out = faults_.counts;
  const Picoseconds end = first_arrival_ == never ? 0 : first_arrival_ + seen();
  Picoseconds down = faults_.down;
  for (const auto& [replica, since] : faults_.down_since)
    down += std::max<Picoseconds>(0, end - since);
  const double all = static_cast<double>(seen()) *
                     static_cast<double>(std::max<std::size_t>(1, options_.replicas.size()));
  if (all > 0) out.availability = std::clamp(1 - static_cast<double>(down) / all, 0.0, 1.0);
  Picoseconds degraded = faults_.degraded;
  for (const auto& [wire, since] : faults_.degraded_since)
    degraded += std::max<Picoseconds>(0, end - since);
  out.degraded_s = seconds(degraded);
  out.recovery_s = recovery_s();
  return out;
}

}  // namespace rooflua
