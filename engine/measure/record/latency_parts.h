#pragma once
// Where the time of requests goes: every picosecond between the arrival of a completed request and
// its last token is one of a few parts. It counts for all requests while a run goes: a replica has
// clocks that say how long its queue waited for what, and a request reads them when it comes and
// when it leaves, so a step costs the same whatever the number of requests.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/vocabulary.h"
#include "serve/contract/observer.h"

namespace rooflua {

enum class LatencyPart : std::int32_t {
  seat,
  budget,
  kv,
  prefill,
  decodes,
  transfer,
  frontend,
  gate,
  route
};
inline constexpr int latency_part_count = 9;
inline constexpr Word<LatencyPart> latency_part_words[] = {
    {LatencyPart::seat, "seat", "it waited, and every seat of its replica was taken"},
    {LatencyPart::budget, "budget",
     "it waited for its turn: the step had no tokens left, or its scheduler admitted none"},
    {LatencyPart::kv, "kv",
     "it waited for KV blocks, or computed again what it had lost with its seat"},
    {LatencyPart::prefill, "prefill",
     "its prompt was computed, or a step with prompts of others ran beside its decode or when it "
     "came"},
    {LatencyPart::decodes, "decodes", "a step of decodes only ran: its own, or when it came"},
    {LatencyPart::transfer, "transfer", "its KV came from another replica or from a store"},
    {LatencyPart::frontend, "frontend", "before its queue, and between its steps and its client"},
    {LatencyPart::gate, "gate", "a gate held it"},
    {LatencyPart::route, "route", "no replica was ready for it, or no rank of its engine free"},
};
static_assert(in_order(latency_part_words));

/// Time by part, in ps or in s.
using PartTimes = std::array<Picoseconds, latency_part_count>;
using PartSeconds = std::array<double, latency_part_count>;

/// Means over completed requests. The parts of each add up to the mean of TTFT, TPOT, E2E. Nothing
/// where there are no requests, or more than are counted.
struct LatencyParts {
  std::optional<PartSeconds> ttft_parts_s, tpot_parts_s, e2e_parts_s;
  /// Of the slowest 1 % by that metric, at least of one.
  std::optional<PartSeconds> ttft_parts_slowest_1pct_s, tpot_parts_slowest_1pct_s,
      e2e_parts_slowest_1pct_s;
};

PartSeconds in_seconds(const PartTimes& parts);

/// Counts them. Copyable.
class LatencyPartsCounter {
 public:
  /// More requests than this are not counted: each takes memory.
  static constexpr std::int64_t most_requests = 50'000;
  struct Ended {
    std::int32_t id = -1, output_tokens = 0;
    PartTimes to_first{}, all{};  // their sums are TTFT and E2E
  };

  /// @param only  the request to count; nothing: all
  explicit LatencyPartsCounter(std::optional<std::int32_t> only = {}) : only_(only) {}

  void on_arrival(const Request& request, Picoseconds now);
  void on_queued(const Request& request, Picoseconds now);
  void on_preempt(const Request& request, Picoseconds now);
  void on_step(const StepDone& step);
  void on_steps(const StepsDone& done);
  void on_transfer(const TransferSeen& transfer);
  void on_load(const Request& request, Picoseconds now);
  void on_loaded(const Request& request, Picoseconds now);
  void on_computed(const Request& request, Picoseconds now);
  void on_kv(const Request& request, Picoseconds now);
  void on_held(const Request& request, Picoseconds now);
  void on_no_replica(const Request& request);
  void on_passed(const Request& request, Picoseconds now);
  void on_done(const RequestDone& done);

  /// In the order of their ends.
  const std::vector<Ended>& ended() const { return ended_; }
  /// Null: it has not completed, or is not counted.
  const Ended* find_ended(std::int32_t id) const;
  LatencyParts parts() const;
  /// Adds what another one counted of other requests.
  void add(const LatencyPartsCounter& other);
  template <class Archive>
  void pass(Archive& archive) {
    archive(ended_, has_too_many_);
  }

 private:
  enum class Phase { away, held, unrouted, pending, waiting, loading, seated, decoding, preempted };
  struct Live {
    Phase phase = Phase::away;
    std::int32_t replica = -1;
    std::int32_t reached = 0;  // tokens whose KV was computed at least once
    bool has_token = false;    // preempted: steps under way then may have a token of it
    bool has_base = false;     // `base` says from where the clocks of its replica count for it
    Picoseconds since = 0;     // the time before this moment is counted
    Picoseconds asked = 0;     // steps that were planned before this moment could not have it
    PartTimes base{};
    PartTimes parts{};
    PartTimes wait{};  // of `parts`: since it was queued last
    /// When steps completed its prompt, and `parts` then. One of them gave the first token: of a
    /// prompt that is computed elsewhere, or whose replica failed, not always the first.
    Picoseconds computed = never;
    PartTimes to_computed{};
    std::vector<std::pair<Picoseconds, PartTimes>> computed_again;
  };
  /// Of a replica: how long requests that wait, and such that decode, spent on what.
  struct Clocks {
    Picoseconds until = 0;
    PartTimes waiting{}, decoding{};
    std::vector<std::int32_t> joining;  // ids that no clock counts for yet, or no more
  };
  /// What clocks need of a step.
  struct Passed {
    Picoseconds planned = 0, start = 0, end = 0;
    LatencyPart came = LatencyPart::decodes;  // for a request that came when it was planned
    LatencyPart waiting = LatencyPart::budget, decoding = LatencyPart::decodes;
  };

  Live* find(std::int32_t id) {
    const auto index = static_cast<std::size_t>(id);
    return index < places_.size() && places_[index] >= 0
               ? &live_[static_cast<std::size_t>(places_[index])]
               : nullptr;
  }
  Live& open(std::int32_t id);
  void close(std::int32_t id);
  PartTimes to_first(const Live& live, Picoseconds first_token) const;
  Clocks& clocks_of(std::int32_t replica) {
    const auto index = static_cast<std::size_t>(replica);
    if (index >= clocks_.size()) [[unlikely]]
      add_clocks(index + 1);
    return clocks_[index];
  }
  void add_clocks(std::size_t count);
  static void idle(Clocks& clocks, Picoseconds until);
  void land(const StepDone& step, Clocks& clocks, const Passed& passed_step);
  static Passed passed(const StepDone& step);
  static void count(Live& live, LatencyPart part, Picoseconds until);
  static void count_wait(Live& live, LatencyPart part, Picoseconds until);
  static void read(Live& live, const PartTimes& clock, Picoseconds until);
  void watch(std::int32_t id, std::int32_t replica);
  void wait_from(Live& live, std::int32_t id, std::int32_t replica, Picoseconds now);
  void settle(Live& live, Picoseconds now);
  void join(Clocks& clocks, const Passed& step);
  bool is_apart(Live& live, Clocks& clocks, const Passed& step);
  void advance(Clocks& clocks, const Passed& step);
  void land(const StepDone& step, const PrefillWork& chunk, const Clocks& clocks);

  std::optional<std::int32_t> only_;
  std::int64_t arrived_ = 0;
  bool has_too_many_ = false;
  std::vector<std::int32_t> places_;  // in live_, by id; -1: it is not there
  std::vector<Live> live_;
  std::vector<std::int32_t> free_;  // places in live_
  std::vector<Clocks> clocks_;
  std::vector<Ended> ended_;
};

}  // namespace rooflua
