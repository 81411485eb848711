// Replicas and links that fail: what is lost, and when the run is back.

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// What failures of replicas cost.
struct FaultFigures {
  std::int64_t failures = 0, lost_requests = 0, lost_tokens = 0, recomputed_tokens = 0,
               failed_transfers = 0;
  double availability = 1, degraded_s = 0;
  std::optional<double> recovery_s;
};

constexpr PartMetric fault_metrics[] = {
    {"failures", "failures", "failures", less, "replicas that failed", in<&FaultFigures::failures>},
    {"availability", "available", "1", more,
     "part of the replicas' time in which they had not failed and did not start again",
     in<&FaultFigures::availability>},
    {"lost_requests", "lost", "requests", less, "requests that ended with their replica",
     in<&FaultFigures::lost_requests>},
    {"lost_tokens", "lost tokens", "tokens", less,
     "computed or generated for these requests, and not kept", in<&FaultFigures::lost_tokens>},
    {"recomputed_tokens", "recomputed", "tokens", less,
     "prompt tokens that the next attempts of their clients computed",
     in<&FaultFigures::recomputed_tokens>},
    {"failed_transfers", "failed transfers", "transfers", less,
     "transfers of KV that stood still on a link for timeout_s",
     in<&FaultFigures::failed_transfers>},
    {"degraded_s", "degraded", "s", less,
     "sum over the wires of links: time in which they carried less than all of their bytes/s",
     in<&FaultFigures::degraded_s>},
    {"recovery_s", "recovery", "s", less,
     "first failure to 95 % of the good requests/s before it, over 30 s; 0: it never fell below",
     in<&FaultFigures::recovery_s>},
};

std::string fault_text(const FaultFigures& f) {
  std::string out = "faults    " + grouped(f.failures) + " replicas failed, " +
                    percent(f.availability) + " available; " + grouped(f.lost_requests) +
                    " requests and " + grouped(f.lost_tokens) + " tokens lost, " +
                    grouped(f.recomputed_tokens) + " prompt tokens computed again";
  if (f.degraded_s > 0)
    out += "; links degraded for " + duration(f.degraded_s) + ", " + grouped(f.failed_transfers) +
           " transfers failed";
  if (f.recovery_s) out += "; 95 % of the goodput after " + duration(*f.recovery_s);
  return out + "\n";
}

class FaultCounter final : public CounterOf<FaultCounter> {
 public:
  explicit FaultCounter(const SummaryOptions& options) : replicas_(options.replicas.size()) {}

  void on_replica(const ReplicaChanged& change) override {
    if (change.now == Lifecycle::failed) {
      ++counts_.failures;
      first_ = std::min(first_, change.time);
      down_since_.emplace(change.replica, change.time);
      return;
    }
    const auto down = down_since_.find(change.replica);
    if (change.now == Lifecycle::starting || down == down_since_.end()) return;
    down_ += change.time - down->second;
    down_since_.erase(down);
  }

  void on_link(const LinkChanged& change) override {
    const auto since = degraded_since_.find(change.wire);
    const bool was = since != degraded_since_.end();
    if (change.factor < 1) first_ = std::min(first_, change.time);
    if (!was && change.factor < 1) degraded_since_.emplace(change.wire, change.time);
    if (!was || change.factor < 1) return;
    degraded_ += change.time - since->second;
    degraded_since_.erase(since);
  }

  void on_failed_transfer(const TransferSeen&) override { ++counts_.failed_transfers; }

  void on_end(const RequestDone& done, bool is_good) override {
    const std::int32_t origin = done.origin >= 0 ? done.origin : done.id;
    if (done.attempt > 0 && done.scheduled != never && lost_.contains(origin))
      counts_.recomputed_tokens += done.outcome == Outcome::completed
                                       ? done.prompt_tokens - done.cached_tokens
                                       : done.computed_tokens;
    if (done.outcome == Outcome::replica_lost) {
      ++counts_.lost_requests;
      counts_.lost_tokens += done.computed_tokens + (done.keeps_output ? 0 : done.output_tokens);
      if (done.is_retried) lost_.insert(origin);
    }
    if (!done.is_retried && done.outcome != Outcome::replica_lost) lost_.erase(origin);
    if (!is_good) return;
    const auto place = static_cast<std::size_t>(done.last_token / one_second);
    if (place >= good_.size()) good_.resize(place + 1);
    ++good_[place];
  }

  std::vector<std::any> figures(const Summary&, const RunSpan& span) const override {
    FaultFigures out = counts_;
    const Picoseconds end = span.first_arrival == never ? 0 : span.first_arrival + span.seen();
    const double all =
        static_cast<double>(span.seen()) * static_cast<double>(std::max<std::size_t>(1, replicas_));
    const double down = static_cast<double>(until(end, down_since_, down_));
    if (all > 0) out.availability = std::clamp(1 - down / all, 0.0, 1.0);
    out.degraded_s = seconds(until(end, degraded_since_, degraded_));
    out.recovery_s = recovery_s(span.first_arrival);
    return {out};
  }

 private:
  using Since = std::map<std::int32_t, Picoseconds>;
  static constexpr Picoseconds one_second = 1'000'000'000'000;
  static constexpr std::size_t window = 30;  // seconds of a rate

  static Picoseconds until(Picoseconds end, const Since& since, Picoseconds before) {
    for (const auto& [each, from] : since) before += std::max<Picoseconds>(0, end - from);
    return before;
  }

  /// In whole seconds, after whole ones.
  std::optional<double> recovery_s(Picoseconds first_arrival) const {
    if (first_ == never) return std::nullopt;
    const auto from = static_cast<std::size_t>(first_arrival / one_second);
    const auto failed = static_cast<std::size_t>(first_ / one_second);
    if (failed <= from || failed >= good_.size()) return std::nullopt;
    const auto good = [&](std::size_t first, std::size_t last) {
      const auto begin = good_.begin();
      return static_cast<double>(std::accumulate(begin + static_cast<std::ptrdiff_t>(first),
                                                 begin + static_cast<std::ptrdiff_t>(last),
                                                 std::int64_t{0}));
    };
    const double before = good(from, failed) / static_cast<double>(failed - from);
    bool fell = false;
    // The last answers of a run come ever more seldom: nothing is sent any more.
    for (std::size_t end = failed + window; end + window <= good_.size(); ++end) {
      const bool is_back = good(end - window, end) >= 0.95 * before * window;
      if (fell && is_back) return static_cast<double>(end - failed);
      fell = fell || !is_back;
    }
    if (fell) return std::nullopt;
    return 0;
  }

  std::size_t replicas_;
  FaultFigures counts_;                // shares are not set
  Since down_since_, degraded_since_;  // by replica, by wire
  Picoseconds first_ = never, down_ = 0, degraded_ = 0;
  std::unordered_set<std::int32_t> lost_;  // origins
  std::vector<std::int64_t> good_;         // requests that completed well, by second
};

}  // namespace

extern const PartRow faults_part = {.name = "faults",
                                    .help = "What failures of replicas cost; with the key faults.",
                                    .metrics = fault_metrics,
                                    .empty = empty<FaultFigures>,
                                    .text = says<fault_text>,
                                    .in_report = {.rank = 8},
                                    .on_page = {.rank = 2},
                                    .counter = where_asked<FaultCounter>};

}  // namespace rooflua
