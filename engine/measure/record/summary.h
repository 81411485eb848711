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
#include "measure/record/quantile.h"
#include "measure/record/summary_parts.h"
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
  std::vector<PoolOptions> pools;
  std::vector<Wires::Wire> wires;  // that they are made of
  /// Up to so many completed requests every value is kept and quantiles are exact; beyond, all of
  /// them go into log histograms (LogHistogram::relative_error) and memory stays flat. 0:
  /// histograms from the start.
  std::int64_t exact_requests = std::int64_t{1} << 20;
  bool split = false;     // whether prefill and decode replicas are summed up
  bool clients = false;   // whether attempts are summed up by client
  bool faults = false;    // whether failures are summed up
  bool gate = false;      // whether a gate is
  bool adapters = false;  // whether adapters are
  bool experts = false;   // whether experts are that move
  /// itl_s has a gap per token: tokens that land together are 0 apart. Else one gap per round.
  bool gap_per_token = false;
};

/// What a metric of the scenario gave: one number of the whole run.
struct OwnMetric {
  std::string name, unit;
  double value = 0;  // NaN: it has none
};

struct Summary {
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
  std::optional<SpeculationSummary> speculation;  // nothing without
  std::vector<LinkSummary> links;                 // as declared; empty where nothing goes over any
  std::vector<TierSummary> tiers;                 // as declared; empty where there are none
  std::optional<SplitSummary> split;              // nothing where SummaryOptions do not ask
  std::optional<PlaySummary> plays;               // nothing without
  std::optional<GateSummary> gate;                // nothing without
  std::optional<FairnessSummary> fairness;        // nothing where no request says its tenant
  std::optional<ClientSummary> clients;           // nothing where SummaryOptions do not ask
  std::optional<FaultSummary> faults;             // the same
  std::optional<AdapterSummary> adapters;         // the same
  std::optional<ExpertSummary> experts;           // the same
  std::vector<PoolSummary> pools;                 // empty where no engine comes or goes
  std::optional<SessionSummary> sessions;         // nothing without them, or if values are not kept
  std::vector<OwnMetric> own;  // what the scenario's metrics gave (scripts/metrics)

  /// The share of time that is extrapolated, stand_in or assumed, or that a note of the model
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
  void on_arrival(const Request& request, Picoseconds now) override;
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

  /// What is known so far.
  Summary summary() const;

  // --- several processes each simulate a part of the replicas (serve/loop/sharing.h):
  // divided_summary.cpp

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
    LogHistogram held;                                   // of those that a gate held and let go
    void add(const Group& other);                        // all but `held`
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
  void add(const StepDone& step, ReplicaCount& count);
  void note_time(Picoseconds start, Picoseconds end, ReplicaCount& count);
  void note_tokens(Picoseconds end, std::int32_t tokens);
  void count_rows(const StepDone& step);
  static void note_load(const StepDone& step, const std::array<std::int32_t, 6>& load,
                        ReplicaCount& count);
  ReplicaCount& count_of(std::int32_t replica);
  bool good(const RequestDone& done, const Completed& request) const;
  void keep(const Completed& request);
  void stop_keeping();
  void distribute(const Completed& request);

  Summary sum_up() const;
  Picoseconds duration() const;
  Picoseconds seen() const;
  Group all_requests() const;
  std::vector<Places> places_by(std::int32_t Completed::*group) const;
  /// @param places  of the group's requests; null: every kept request
  GroupSummary describe(const Group& group, const Places* places, const GroupSummary* all) const;
  void describe_kept(const Places* places, GroupSummary& out) const;
  std::vector<GroupSummary> class_summaries(const GroupSummary& all) const;
  std::vector<ReplicaSummary> replica_summaries(const GroupSummary& all) const;
  std::optional<SessionSummary> session_summary() const;

  SummaryOptions options_;
  std::int64_t arrived_ = 0, in_flight_ = 0, peak_in_flight_ = 0;
  Picoseconds first_arrival_ = never, last_completion_ = 0, last_step_end_ = 0;
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
  /// Rates and shares of `counts` are not set; its positions are counts.
  struct Speculation {
    bool used = false;
    SpeculationSummary counts;
    std::int64_t row_tokens = 0;
    double draft_s = 0, step_s = 0;
  } speculation_;
  std::optional<SpeculationSummary> speculation_summary() const;
  std::vector<LinkSummary> link_summaries_;  // mean and share are not set: their sums
  std::vector<double> wire_bytes_;
  std::vector<LinkSummary> link_summaries() const;
  std::vector<LogHistogram> load_times_;  // by store
  std::vector<TierSummary> tier_summaries() const;
  /// Means are not set: their sums.
  struct Split {
    SplitSummary counts;
    std::int64_t completed = 0, computed = 0, transfers = 0;
    LogHistogram room_wait, kv_wait;
  } split_;
  struct PlayCounts {
    bool used = false;
    PlaySummary counts;
    std::int64_t prompt_tokens = 0, cached_tokens = 0, ideal_tokens = 0;
    LogHistogram time, turns, queue, load, prefill, decode, tool;
  } plays_;
  /// A question whose first attempt failed. Times are those of the client.
  struct Question {
    Picoseconds first_sent = 0, first_token = never;  // of tokens that it kept
    std::int64_t attempts = 0;                        // that ended
  };
  struct Clients {
    ClientSummary counts;  // means are not set
    std::int64_t retried = 0, attempts = 0, good = 0;
    LogHistogram ttft, e2e;
    std::map<std::int32_t, Question> open;  // by origin
  } clients_;
  struct Faults {
    FaultSummary counts;                                 // shares are not set
    std::map<std::int32_t, Picoseconds> down_since;      // by replica
    std::map<std::int32_t, Picoseconds> degraded_since;  // by wire
    Picoseconds first = never, down = 0, degraded = 0;
    std::unordered_set<std::int32_t> lost;  // origins
    std::vector<std::int64_t> good;         // requests that completed well, by second
  } faults_;
  void note_failure(const ReplicaChanged& change);
  void note_lost(const RequestDone& done, bool is_good);
  std::optional<double> recovery_s() const;
  FaultSummary fault_summary() const;
  void note_attempt(const RequestDone& done);
  ClientSummary client_summary() const;
  struct PoolCount {
    void pass(Picoseconds now);
    std::array<std::int32_t, 5> engines{};  // by Lifecycle
    std::array<double, 5> times{};          // the same, in engine seconds
    Picoseconds since = 0, short_since = never;
    std::int32_t peak = 0, lowest = 0, wanted = 0;
    std::int64_t starts = 0, stops = 0, changes = 0;
    std::map<std::int32_t, Picoseconds> started;  // by replica
    LogHistogram start, lag;
    std::vector<bool> missed;  // by second of sending
  };
  void note_pools(const RequestDone& done, bool is_good);
  std::vector<PoolCount> pools_;
  void open_pools();
  std::vector<PoolSummary> pool_summaries(const GroupSummary& all) const;
  std::unordered_set<std::int32_t> warm_;  // ids of requests under way that no metric counts
  bool warming_ = false;                   // only such requests have been sent
  bool is_warm(std::int32_t id) const { return !warm_.empty() && warm_.contains(id); }
  void forget_steps();
  std::optional<PlaySummary> play_summary() const;
  struct GateCounts {
    GateSummary counts;
    LogHistogram wait;
  } gate_;
  struct AdapterCounts {
    std::int64_t steps = 0, loads = 0, held = 0, adapters = 0, tokens = 0, of_all = 0;
    std::int32_t most = 0;
    double load_s = 0;
  } adapters_;
  void note_adapters(const Batch& batch, std::int64_t steps);
  AdapterSummary adapter_summary() const;
  struct ExpertCounts {
    std::int64_t steps = 0, rebalancings = 0, in_a_row = 0;
    double moved_bytes = 0, stall_s = 0, load = 0, same = 0, most = 1;
  } experts_;
  void note_experts(const Batch& batch, std::int64_t steps);
  ExpertSummary expert_summary() const;
  void note_gate(const RequestDone& done, Group& of_class);
  static void tell_held(const Group& group, GroupSummary& out);
  GateSummary gate_summary() const;
  std::vector<GroupSummary> tenant_summaries(const GroupSummary& all) const;
  std::optional<FairnessSummary> fairness_summary(const Summary& of) const;
  void note_transfer(const TransferSeen& transfer);
  void note_split(const RequestDone& done);
  SplitSummary split_summary() const;
  mutable std::optional<Summary> told_;  // the last answer, while nothing has happened since
};

}  // namespace rooflua
