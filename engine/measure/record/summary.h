#pragma once
// What a run amounted to. An observer that counts as the run goes, and the figures it gives.
//
// Definitions (those of vLLM's serving benchmark), per request, with n output tokens:
//
//     ttft_s  = first token - arrival           (as the client sees them, frontend included)
//     e2e_s   = last token - arrival
//     tpot_s  = (e2e_s - ttft_s) / (n - 1)      only where n > 1
//     queue_s = first scheduled - queued        (the engine's own waiting queue)
//     itl_s   : every gap between two tokens of one request, pooled over requests
//
// Only completed requests enter the first four, and the rates; gaps count from all. mean, std
// (ddof 0) and quantiles (linear) as numpy. Rates divide by duration_s: first arrival to last
// completion. goodput_per_s counts completed requests that hold every limit of the SLO (<=;
// tpot_s is 0 where n <= 1).

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cost/price/ledger.h"
#include "measure/parts/part.h"
#include "measure/record/groups.h"
#include "measure/record/latency_parts.h"
#include "measure/record/quantile.h"
#include "serve/contract/observer.h"
#include "serve/links/wires.h"

namespace rooflua {

struct SummaryOptions;
/// Limits by name or number become limits by class, once the names of classes are known.
/// @throws Error for a name that no class has
void settle_class_slo(SummaryOptions& options);

/// A pool of engines that come and go.
struct PoolOptions {
  std::string name;
  std::vector<std::int32_t> engines;  // the first replica of each
  std::int32_t count = 0;             // of them that are ready at time 0
  double gpus = 1;                    // of an engine
  std::optional<double> dollars_per_gpu_hour;
  std::int32_t first = 0, replicas = 0;  // all of its replicas, ranks of engines counted
};

struct SummaryOptions {
  Slo slo;
  std::map<std::int32_t, Slo> class_slo;  // instead of `slo` for these classes
  std::map<std::string, Slo> named_slo;   // the same by name or number, until classes are known
  std::vector<std::string> classes;       // names by class; "class 3" where there is none
  std::vector<std::string> replicas;      // names by index; "3" where there is none
  std::vector<std::string> links;         // names of the links that are shared
  std::vector<Wires::Wire> wires;         // that they are made of
  std::vector<PoolOptions> pools;
  /// Up to so many completed requests every value is kept and quantiles are exact; beyond, all of
  /// them go into log histograms (LogHistogram::relative_error) and memory stays flat. 0:
  /// histograms from the start.
  std::int64_t exact_requests = std::int64_t{1} << 20;
  /// What the run says of its parts, by their names (parts/part.h): true, or settings.
  Json parts = Json::object();
  /// itl_s has a gap per token: tokens that land together are 0 apart. Else one gap per round.
  bool gap_per_token = false;

  bool has_limits() const { return slo.given() || !class_slo.empty(); }
  /// Whether a completed request holds every limit of its class.
  bool holds(std::int32_t klass, Picoseconds ttft, Picoseconds e2e,
             std::int32_t output_tokens) const;
};

/// What a metric of the scenario gave: one number of the whole run.
struct OwnMetric {
  std::string name, unit;
  double value = 0;  // NaN: it has none
};

struct Summary : LatencyParts {
  std::int64_t requests = 0, completed = 0, preemptions = 0, steps = 0;
  std::array<std::int64_t, outcome_count> ended{};  // by Outcome
  double duration_s = 0, requests_per_s = 0, output_tokens_per_s = 0;
  std::int64_t prompt_tokens = 0, output_tokens = 0, cached_tokens = 0;
  /// Computed for requests that were aborted; nothing where none was.
  std::optional<std::int64_t> wasted_prompt_tokens, wasted_output_tokens;
  Statistics ttft_s, tpot_s, itl_s, e2e_s, queue_s;
  Slo slo;
  std::optional<double> goodput_per_s;  // nothing without an SLO
  double peak_output_tokens_per_s = 0;  // largest of whole seconds from the first arrival
  std::int64_t peak_concurrency = 0;    // requests sent and not ended; departures before arrivals
  double kv_used_frac_max = 0;
  double idle_frac = 0;  // 1 - busy_frac, the mean over replicas
  double seen_s = 0;     // first arrival to the end of the last step
  /// Of the peaks of the GPUs over the whole run, idle time included; nothing where no steps were
  /// sampled.
  std::optional<double> mfu, bandwidth_frac;
  EvidenceShares evidence{};          // shares of step time; sum 1, or all 0
  std::optional<double> noted_frac;   // share of supported step time that notes touch
  bool exact = true;                  // quantiles per request; itl_s never is
  std::vector<GroupSummary> classes;  // empty where there is one class without a name
  std::vector<GroupSummary> tenants;  // empty where no request says its tenant
  std::vector<ReplicaSummary> replicas;
  std::vector<PartFigures> parts;          // in the order of parts()
  std::optional<SessionSummary> sessions;  // nothing without them, or if values are not kept
  std::vector<OwnMetric> own;              // what the scenario's metrics gave (scripts/metrics)

  /// Puts figures of a part after those of parts before it.
  void add(const PartRow& part, std::any figures);
  /// The share of time that is extrapolated, stand_in, modelled or assumed, or that a note of the model
  /// touches: what --strict limits.
  double unsupported_share() const;
};

/// A run among others.
struct NamedSummary {
  std::string_view name;
  const Summary* summary = nullptr;
};

/// (e2e - ttft) / (n - 1); 0 for a single token, as the goodput of vLLM's benchmark has it.
double tpot_ps(Picoseconds ttft, Picoseconds e2e, std::int32_t output_tokens);

/// How full a step is, in [0, 1]: the largest of its shares of seats, of the token budget and of KV
/// blocks. A limit that a replica does not have does not count.
double fill_of_step(const StepDone& step);

/// Copyable, so that a fork of a live run has its own.
class SummaryObserver : public Observer {
 public:
  explicit SummaryObserver(SummaryOptions options = {});

  bool reads_prices() const override { return false; }
  bool reads_waits() const override { return true; }
  void on_arrival(const Request& request, Picoseconds now) override;
  void on_queued(const Request& request, Picoseconds now) override {
    latency_.on_queued(request, now);
  }
  void on_load(const Request& request, Picoseconds now) override { latency_.on_load(request, now); }
  void on_loaded(const Request& request, Picoseconds now) override {
    latency_.on_loaded(request, now);
  }
  void on_computed(const Request& request, Picoseconds now) override {
    latency_.on_computed(request, now);
  }
  void on_kv(const Request& request, Picoseconds now) override { latency_.on_kv(request, now); }
  void on_held(const Request& request, Picoseconds now) override { latency_.on_held(request, now); }
  void on_no_replica(const Request& request) override { latency_.on_no_replica(request); }
  void on_passed(const Request& request, Picoseconds now) override {
    latency_.on_passed(request, now);
  }
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_step(const StepDone& step) override;
  void on_steps(const StepsDone& done) override;
  void expect_step(std::int32_t replica) const override;
  void on_transfer(const TransferSeen& transfer) override;
  void on_blocks(const BlocksChanged& blocks) override;
  void on_replica(const ReplicaChanged& change) override;
  void on_link(const LinkChanged& change) override;
  void on_failed_transfer(const TransferSeen& transfer) override;
  void on_scale(const ScaleAsked& asked) override;
  void on_done(const RequestDone& done) override;
  void on_row(const RowSent& row) override;
  void on_play(const PlayDone& play) override;

  /// What is known so far. `run`: the simulation, which knows some of it; null: there is none.
  Summary summary(const Simulation* run = nullptr) const;
  /// Where the time of a request went that completed; null: it is not counted.
  const LatencyPartsCounter::Ended* latency_of(std::int32_t id) const {
    return latency_.find_ended(id);
  }
  /// The part that keeps the run in one process (PartCounters::undivided).
  std::string_view undivided() const { return counters_.undivided(); }

  // --- several processes each simulate a part of the replicas (serve/loop/sharing.h)

  /// From now on it counts for packed(). @pre it was told of nothing
  void count_part() { part_.emplace(); }
  /// What it counted, as bytes for add_part() of an observer with the same options.
  std::string packed();
  /// Adds what an observer counted that was told of the same arrivals and of other replicas.
  /// @throws Error if the bytes are not whole
  void add_part(std::string_view bytes);

 private:
  struct Completed {
    Picoseconds ttft, e2e, queue;
    std::int32_t output_tokens, klass, replica, tenant;
  };
  struct Distributions {
    LogHistogram ttft, tpot, e2e, queue;
    void add(const Completed& request);
    void add(const Distributions& other);
    template <class Archive>
    void pass(Archive& archive);
  };
  struct Group {
    GroupSummary counts;
    std::int64_t rounds = 0, drafted = 0, accepted = 0;  // of completed requests
    Distributions distributions;                         // used beyond exact_requests
    void add(const Group& other);
    template <class Archive>
    void pass(Archive& archive);
  };
  struct ReplicaCount {
    std::int64_t steps = 0, decode_steps = 0, decodes = 0, preemptions = 0;
    Picoseconds busy = 0, until = 0;  // until: the end of the last step
    double loaded_ps = 0;             // time of steps, each times its fill
    double kv_used_frac_max = 0;
    std::array<std::int32_t, 6> load{};  // of the last step: what `fill` depends on
    double fill = 0;                     // fill_of_step() of such a step
    double waited_s = 0;                 // for slower ranks, synchronisation included
    bool grouped = false;                // it steps with other ranks
    EvidenceSeconds evidence_s;
    void add(const ReplicaCount& other);
  };
  struct Session {
    std::int64_t turns = 0;
    Picoseconds first = 0, last = 0;
    void add(const Session& other);
  };
  using Places = std::vector<std::int32_t>;  // in kept_

  static Group& group_of(std::vector<Group>& groups, std::int32_t index);
  static void count(const RequestDone& done, bool is_good, Group& group);
  template <class Told>
  void forward(PartEvent event, void (PartCounter::*tell)(const Told&), const Told& told);
  void add(const StepDone& step);
  void note_time(Picoseconds start, Picoseconds end, ReplicaCount& count);
  void note_tokens(Picoseconds end, std::int32_t tokens);
  static void note_load(const StepDone& step, const std::array<std::int32_t, 6>& load,
                        ReplicaCount& count);
  ReplicaCount& count_of(std::int32_t replica);
  void keep(const Completed& request);
  void stop_keeping();
  void distribute(const Completed& request);

  Summary sum_up() const;
  Group all_requests() const;
  std::vector<Places> places_by(std::int32_t Completed::*group) const;
  /// @param places  of the group's requests; null: every kept request
  GroupSummary describe(const Group& group, const Places* places, const GroupSummary* all) const;
  void describe_kept(const Places* places, GroupSummary& out) const;
  std::vector<GroupSummary> class_summaries(const GroupSummary& all) const;
  std::vector<ReplicaSummary> replica_summaries(const GroupSummary& all) const;
  std::vector<GroupSummary> tenant_summaries(const GroupSummary& all) const;
  std::optional<SessionSummary> session_summary() const;

  SummaryOptions options_;
  std::int64_t arrived_ = 0, in_flight_ = 0, peak_in_flight_ = 0;
  RunSpan span_;  // of the requests that count
  std::array<std::int64_t, outcome_count> ended_{};
  std::optional<std::int64_t> wasted_prompt_tokens_, wasted_output_tokens_;
  std::vector<Group> classes_, replicas_;
  std::vector<Group> tenants_;  // empty until a request says one
  std::vector<ReplicaCount> replica_counts_;
  LogHistogram itl_;
  std::vector<std::int64_t> gaps_;  // of the steps at hand
  std::int64_t second_ = -1, second_tokens_ = 0, peak_tokens_ = 0;
  /// Where it counts a part of the replicas: what must be added up over the parts before it has a
  /// largest value.
  struct Part {
    std::map<std::int64_t, std::int64_t> tokens;  // by second, where there are any
    std::vector<std::int32_t> ends;               // that came when so many requests had been sent
  };
  std::optional<Part> part_;
  void begin_second(std::int64_t second);
  void add_kept(const SummaryObserver& other);
  void look_for_peaks();
  template <class Archive>
  void pass(Archive& archive);
  bool keeping_ = true;
  std::vector<Completed> kept_;
  std::map<std::int32_t, Session> sessions_;
  LatencyPartsCounter latency_;
  PartCounters counters_;
  std::unordered_set<std::int32_t> warm_;  // ids of requests under way that no metric counts
  bool warming_ = false;                   // only such requests have been sent
  bool is_warm(std::int32_t id) const { return !warm_.empty() && warm_.contains(id); }
  void forget_steps();
  mutable std::optional<Summary> told_;  // the last answer, while nothing has happened since
};

}  // namespace rooflua
