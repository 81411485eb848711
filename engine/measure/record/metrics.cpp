#include "measure/record/metrics.h"

#include <limits>

#include "base/error.h"

namespace rooflua {

namespace {

using enum Better;

constexpr Metric of_run[] = {
    {"requests", "requests", "requests", neither, "requests that were sent", &Summary::requests},
    {"completed", "completed", "requests", more, "requests whose tokens all landed",
     &Summary::completed},
    {"failed", "failed", "requests", less, "requests that ended in another way, by outcome",
     &Summary::ended},
    {"preemptions", "preempted", "requests", less, "how often a request lost its seat",
     &Summary::preemptions},
    {"steps", "steps", "steps", neither, "steps of all replicas", &Summary::steps},
    {"duration_s", "duration", "s", less, "first arrival to last completion", &Summary::duration_s},
    {"requests_per_s", "requests/s", "requests/s", more, "completed requests over duration_s",
     &Summary::requests_per_s},
    {"output_tokens_per_s", "tokens/s", "tokens/s", more,
     "output tokens of completed requests over duration_s", &Summary::output_tokens_per_s},
    {"ttft_s", "TTFT", "s", less, "first token - arrival, as the client sees them",
     &Summary::ttft_s, true},
    {"tpot_s", "TPOT", "s", less, "(e2e_s - ttft_s) / (output tokens - 1), of more than one token",
     &Summary::tpot_s, true},
    {"itl_s", "ITL", "s", less, "every gap between two tokens of a request, of all requests",
     &Summary::itl_s},
    {"e2e_s", "E2E", "s", less, "last token - arrival", &Summary::e2e_s, true},
    {"queue_s", "queue", "s", less, "first scheduled - queued at the replica", &Summary::queue_s,
     true},
    {"ttft_parts_s", "TTFT is", "s", less,
     "where it goes, of completed requests on average; the parts add up to the mean: seat, budget, "
     "kv, prefill, decodes, transfer, frontend, gate, route; none in a run of more than 50,000 "
     "requests",
     &Summary::ttft_parts_s},
    {"ttft_parts_slowest_1pct_s", "slow TTFT is", "s", less,
     "the same of the slowest 1 % by TTFT", &Summary::ttft_parts_slowest_1pct_s},
    {"tpot_parts_s", "TPOT is", "s", less, "as ttft_parts_s, of TPOT", &Summary::tpot_parts_s},
    {"tpot_parts_slowest_1pct_s", "slow TPOT is", "s", less,
     "the same of the slowest 1 % by TPOT", &Summary::tpot_parts_slowest_1pct_s},
    {"e2e_parts_s", "E2E is", "s", less, "as ttft_parts_s, of E2E", &Summary::e2e_parts_s},
    {"e2e_parts_slowest_1pct_s", "slow E2E is", "s", less, "the same of the slowest 1 % by E2E",
     &Summary::e2e_parts_slowest_1pct_s},
    {"goodput_per_s", "goodput/s", "requests/s", more,
     "completed requests that hold every limit of the SLO over duration_s; none without an SLO",
     &Summary::goodput_per_s},
    {"slo", "SLO", "", neither, "the limits that were given", &Summary::slo},
    {"kv_used_frac_max", "KV max", "1", less, "largest part of a KV cache in use",
     &Summary::kv_used_frac_max},
    {"idle_frac", "idle", "1", neither,
     "part of the run in which a replica runs no step, the mean over replicas",
     &Summary::idle_frac},
    {"overall_mfu", "MFU", "1", more,
     "arithmetic over the peak of the GPUs and the whole run, from sampled steps; where steps are "
     "sampled: metrics.utilisation, --html, --explain",
     &Summary::mfu},
    {"bandwidth_frac", "bandwidth", "1", more,
     "bytes of operations over what the memory moves in the whole run, from sampled steps as "
     "overall_mfu",
     &Summary::bandwidth_frac},
    {"evidence", "unsupported", "1", less, "shares of step time by what its price rests on",
     &Summary::evidence},
    {"prompt_tokens", "tokens in", "tokens", neither, "prompt tokens of completed requests",
     &Summary::prompt_tokens},
    {"output_tokens", "tokens out", "tokens", neither, "output tokens of completed requests",
     &Summary::output_tokens},
    {"cached_tokens", "cached", "tokens", more, "prompt tokens whose KV was in the prefix cache",
     &Summary::cached_tokens},
    {"wasted_prompt_tokens", "wasted in", "tokens", less,
     "prompt tokens that were computed for requests that were aborted; none where none was",
     &Summary::wasted_prompt_tokens},
    {"wasted_output_tokens", "wasted out", "tokens", less,
     "tokens that aborted requests had got; none where none was", &Summary::wasted_output_tokens},
    {"peak_output_tokens_per_s", "peak tokens/s", "tokens/s", more,
     "most output tokens in a whole second from the first arrival",
     &Summary::peak_output_tokens_per_s},
    {"peak_concurrency", "peak requests", "requests", neither,
     "most requests that were sent and had not ended", &Summary::peak_concurrency},
    {"exact", "exact", "", neither, "quantiles are of kept requests (itl_s: always a histogram)",
     &Summary::exact},
    {"time_s", "time", "s", less, "of kind \"price\": the time of the batches", {}},
};

/// The declaration of a run's metric for another record that has it.
template <class Record>
constexpr MetricOf<Record> same(std::string_view name, Source<Record> source) {
  for (const Metric& metric : of_run) {
    if (metric.name == name)
      return {name, metric.label, metric.unit, metric.better, metric.help, source};
  }
  throw "no metric of a run has this name";  // does not compile
}

using G = GroupSummary;
constexpr MetricOf<G> of_group[] = {
    same<G>("completed", &G::completed),
    same<G>("failed", &G::failed),
    same<G>("prompt_tokens", &G::prompt_tokens),
    same<G>("output_tokens", &G::output_tokens),
    same<G>("cached_tokens", &G::cached_tokens),
    same<G>("requests_per_s", &G::requests_per_s),
    same<G>("output_tokens_per_s", &G::output_tokens_per_s),
    same<G>("goodput_per_s", &G::goodput_per_s),
    {"tokens_per_round", "tokens/round", "tokens", more,
     "1 + accepted drafts over rounds of its completed requests; none without speculation",
     &G::tokens_per_round},
    {"acceptance_rate", "accepted", "1", more,
     "accepted over drafted tokens of its completed requests; none without speculation",
     &G::acceptance_rate},
    same<G>("ttft_s", &G::ttft_s),
    same<G>("tpot_s", &G::tpot_s),
    same<G>("e2e_s", &G::e2e_s),
    same<G>("queue_s", &G::queue_s),
    {"held_s_mean", "held", "s", less,
     "how long its requests were held that a gate held and let go, on average; none where it held "
     "none",
     &G::held_s_mean},
    {"held_s_p99", "held p99", "s", less, "the same, of 100 requests the longest but one",
     &G::held_s_p99},
};

using R = ReplicaSummary;
constexpr MetricOf<R> of_replica[] = {
    same<R>("steps", &R::steps),
    same<R>("preemptions", &R::preemptions),
    {"busy_frac", "busy", "1", neither,
     "part of the run in which a step ran; one request that decodes is enough for 1",
     &R::busy_frac},
    {"load_frac", "load", "1", neither,
     "how full its steps were, over the run: the largest share of seats, token budget or KV blocks",
     &R::load_frac},
    {"decode_batch_mean", "decodes", "requests", neither,
     "decodes of a step that has any, on average", &R::decode_batch_mean},
    same<R>("kv_used_frac_max", &R::kv_used_frac_max),
    {"wait_frac", "waits", "1", less,
     "part of the run in which its steps waited for slower ranks of its group; none without a "
     "group",
     &R::wait_frac},
};

constexpr MetricOf<SessionSummary> of_sessions[] = {
    {"count", "sessions", "sessions", neither, "sessions with a completed turn",
     &SessionSummary::count},
    {"turns", "turns", "turns", neither, "completed turns of a session", &SessionSummary::turns},
    {"duration_s", "duration", "s", less, "first arrival to last completion of a session",
     &SessionSummary::duration_s},
};

constexpr DerivedMetric derived[] = {
    {"completed_frac", "1", more, "completed requests over all", {"completed"}, false, "requests"},
    {"slo_attainment_frac",
     "1",
     more,
     "requests that hold every limit of the SLO over all",
     {"goodput_per_s", "duration_s"},
     true,
     "requests"},
    {"requests_per_s_per_gpu",
     "requests/s",
     more,
     "requests_per_s of one GPU",
     {"requests_per_s"},
     false,
     "gpus"},
    {"output_tokens_per_s_per_gpu",
     "tokens/s",
     more,
     "output_tokens_per_s of one GPU",
     {"output_tokens_per_s"},
     false,
     "gpus"},
    {"goodput_per_s_per_gpu",
     "requests/s",
     more,
     "goodput_per_s of one GPU",
     {"goodput_per_s"},
     false,
     "gpus"},
};

template <class Record>
ColumnOf<Record> column_of(std::span<const MetricOf<Record>> metrics, std::string_view name) {
  for (const MetricOf<Record>& metric : metrics) {
    if (!std::holds_alternative<Statistics Record::*>(metric.source)) {
      if (metric.name == name) return {&metric, nullptr};
      continue;
    }
    for (const Figure& figure : statistic_figures) {
      if (name.size() == metric.name.size() + 1 + figure.name.size() &&
          name.starts_with(metric.name) && name.ends_with(figure.name))
        return {&metric, &figure};
    }
  }
  ROOFLUA_ASSERT(!"a column that no metric declares");
  return {};
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double unsupported(const Summary& summary) {
  return summary.unsupported_share();
}
template <class Record>
double unsupported(const Record&) {
  return none;  // only a run has evidence
}

struct Value {
  const Figure* figure;
  double operator()(std::int64_t value) const { return static_cast<double>(value); }
  double operator()(double value) const { return value; }
  double operator()(const std::optional<double>& value) const { return value.value_or(none); }
  double operator()(const std::optional<std::int64_t>& value) const {
    return value ? static_cast<double>(*value) : none;
  }
  double operator()(const Statistics& value) const { return value.*figure->read; }
  double operator()(bool value) const { return value ? 1 : 0; }
  double operator()(const Slo&) const { return none; }
  double operator()(const OutcomeCounts& value) const { return static_cast<double>(failed(value)); }
  double operator()(const EvidenceShares&) const { return none; }  // needs the whole record
  double operator()(const std::optional<PartSeconds>&) const { return none; }
};

}  // namespace

std::span<const Metric> run_metrics() {
  return of_run;
}

std::span<const MetricOf<GroupSummary>> group_metrics() {
  return of_group;
}

std::span<const MetricOf<ReplicaSummary>> replica_metrics() {
  return of_replica;
}

std::span<const MetricOf<SessionSummary>> session_metrics() {
  return of_sessions;
}

std::span<const DerivedMetric> derived_metrics() {
  return derived;
}

template <class Record>
double ColumnOf<Record>::value(const Record& record) const {
  return std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), std::monostate>) {
          return none;
        } else if constexpr (std::is_same_v<decltype(member), EvidenceShares Record::*>) {
          return unsupported(record);
        } else {
          return Value{figure}(record.*member);
        }
      },
      metric->source);
}

template <class Record>
std::string ColumnOf<Record>::label() const {
  std::string out(metric->label);
  return figure == nullptr ? out : out + " " + std::string(figure->name);
}

template <class Record>
bool ColumnOf<Record>::is_count() const {
  return std::holds_alternative<std::int64_t Record::*>(metric->source) ||
         std::holds_alternative<std::optional<std::int64_t> Record::*>(metric->source) ||
         std::holds_alternative<OutcomeCounts Record::*>(metric->source);
}

template <class Record>
bool ColumnOf<Record>::is_optional() const {
  return std::holds_alternative<std::optional<double> Record::*>(metric->source) ||
         std::holds_alternative<std::optional<std::int64_t> Record::*>(metric->source);
}

template struct ColumnOf<Summary>;
template struct ColumnOf<GroupSummary>;
template struct ColumnOf<ReplicaSummary>;

Column run_column(std::string_view name) {
  return column_of(run_metrics(), name);
}

GroupColumn group_column(std::string_view name) {
  return column_of(group_metrics(), name);
}

ReplicaColumn replica_column(std::string_view name) {
  return column_of(replica_metrics(), name);
}

std::int64_t failed(const OutcomeCounts& ended) {
  std::int64_t out = 0;
  for (const std::int64_t count : ended) out += count;
  return out - ended[static_cast<std::size_t>(Outcome::completed)];
}

}  // namespace rooflua
