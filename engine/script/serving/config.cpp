#include "script/serving/config.h"

#include <limits>

#include "base/error.h"
#include "base/fields.h"
#include "spec/figures/rows.h"

namespace rooflua {

namespace {
using enum Stated;
using Listeners = script::ListenerOptions;
constexpr double most_requests = 9007199254740992;

constexpr auto slo_rows =
    rows_of<Slo>(figure<&Slo::ttft_s>("ttft_s", "s", 0, latest_s, open, "time to first token"),
                 figure<&Slo::tpot_s>("tpot_s", "s", 0, latest_s, open, "time per output token"),
                 figure<&Slo::e2e_s>("e2e_s", "s", 0, latest_s, open, "arrival to last token"));

constexpr auto summary_rows = rows_of<SummaryOptions>(
    figure<&SummaryOptions::exact_requests>("exact_requests", "requests", 0, most_requests, open,
                                            "with more, quantiles come from histograms"),
    figure<&SummaryOptions::gap_per_token>("gap_per_token", open,
                                           "itl_s has a gap per token, not per round"));

constexpr auto listener_rows = rows_of<Listeners>(
    figure<&Listeners::why>("why", "1", 0, 2147483647, open, "the request to explain"),
    figure<&Listeners::why_play>("why_play", "1", 0, most_requests, open,
                                 "the play to explain, from 0"),
    figure<&Listeners::expected_requests>("expected_requests", "requests", 0, most_requests, open,
                                          "of the bar"),
    figure<&Listeners::record>("record", open, "what each plan did"),
    figure<&Listeners::journal>("journal", open, "steps and requests are remembered"),
    figure<&Listeners::sketch>("sketch", open, "steps are sampled"),
    figure<&Listeners::keep_requests>("keep_requests", open, "times of every request"),
    figure<&Listeners::caps>("caps", open, "what seats and budget decide is watched"),
    figure<&Listeners::growth>("growth", open, "whether queues grow is watched"),
    figure<&Listeners::plays>("plays", open, "plays are listed"),
    figure<&Listeners::inbox>("inbox", open, "requests come from outside"));

constexpr Word<QuantileLimit::Metric> limit_words[] = {
    {QuantileLimit::Metric::ttft, "ttft", "time to first token"},
    {QuantileLimit::Metric::tpot, "tpot", "time per output token"},
    {QuantileLimit::Metric::e2e, "e2e", "arrival to last token"}};
constexpr auto limit_rows = rows_of<QuantileLimit>(
    word<&QuantileLimit::metric, limit_words>("metric", needed, "what is limited"),
    figure<&QuantileLimit::limit_s>("limit_s", "s", 0, latest_s, needed, "of the metric"),
    figure<&QuantileLimit::most_above>("most_above", "requests", 0, most_requests, needed,
                                       "that may be above it"));
}  // namespace

template <>
const FigureTable& figures<SummaryOptions>() {
  static const auto table =
      table_of<SummaryOptions>("SummaryOptions", "What a summary counts.", summary_rows);
  return table;
}
template <>
const FigureTable& figures<Listeners>() {
  static const auto table =
      table_of<Listeners>("ListenerOptions", "Listeners of a run.", listener_rows);
  return table;
}
template <>
const FigureTable& figures<QuantileLimit>() {
  static const auto table =
      table_of<QuantileLimit>("QuantileLimit", "A limit of a quantile.", limit_rows);
  return table;
}

template <>
const FigureTable& figures<Slo>() {
  static const auto table = table_of<Slo>("Slo", "Limits of a request.", slo_rows);
  return table;
}

}  // namespace rooflua

namespace rooflua::script {

namespace {

/// A table, if it is there, all of whose keys are figures of `into`.
template <class T>
void read_table(const Fields& fields, const char* key, T& into) {
  const auto own = fields.table(key);
  if (!own) return;
  read_figures(*own, into);
  own->finish();
}

/// A list of such tables.
template <class T>
void read_list(const Fields& fields, const char* key, std::vector<T>& into) {
  for (const Fields& each : fields.tables(key)) {
    read_figures(each, into.emplace_back());
    each.finish();
  }
}

StageConfig stage_config(const Fields& fields) {
  StageConfig stages;
  read_figures(fields, stages);
  stages.shares = fields.numbers("shares");
  check_shares(stages, fields.where("") + ".");
  read_list(fields, "links", stages.links);
  fields.finish();
  return stages;
}

ReplicaConfig replica_config(const Fields& fields) {
  ReplicaConfig config;
  read_figures(fields, config);
  const std::vector<double> caps = fields.numbers("context_caps");
  const std::size_t most = config.context_caps.size();
  if (caps.size() > most)
    throw Error(fields.where("context_caps"), "expected at most " + std::to_string(most) +
                                                  ", found " + std::to_string(caps.size()));
  for (std::size_t i = 0; i < caps.size(); ++i) {
    check_range(row_named(figures<ReplicaConfig>(), "context_chunk"), caps[i],
                fields.where("context_caps[" + std::to_string(i + 1) + "]"));
    config.context_caps[i] = static_cast<std::int32_t>(caps[i]);
  }
  if (const auto stages = fields.table("stages")) config.stages = stage_config(*stages);
  if (const auto adapters = fields.table("adapters")) {
    read_figures(*adapters, config.adapters);
    config.adapters.slot_s = adapters->numbers("slot_s");
    config.adapters.fetch_s = adapters->numbers("fetch_s");
    adapters->finish();
  }
  fields.finish();
  return config;
}

TiersConfig tiers_config(const Fields& fields) {
  TiersConfig config;
  read_figures(fields, config);
  for (const Fields& each : fields.tables("stores")) {
    StoreConfig& store = config.stores.emplace_back();
    store.name = each.text("name").value_or("");
    read_figures(each, store);
    store.read = each.texts("read");
    store.write = each.texts("write");
    store.peers = each.texts("peers");
    each.finish();
  }
  fields.finish();
  return config;
}

PoolConfig pool_config(const Fields& fields) {
  PoolConfig pool;
  pool.name = fields.text("name").value_or("");
  pool.first = fields.need_integer("first");
  pool.replicas = fields.need_integer("replicas");
  read_figures(fields, pool);
  if (const auto start = fields.table("start")) {
    read_figures(*start, pool.start);
    pool.start.link = start->texts("link");
    start->finish();
  }
  fields.allow("gpus");
  fields.allow("dollars_per_gpu_hour");
  fields.finish();
  return pool;
}

/// What a summary counts of a pool: engines by their first replica.
PoolOptions pool_options(const Fields& fields, const std::vector<ReplicaConfig>& replicas) {
  PoolOptions out;
  const int first = fields.need_integer("first"), count = fields.need_integer("replicas");
  out.name = fields.text("name").value_or("");
  out.count = fields.need_integer("count");
  out.gpus = fields.number("gpus").value_or(1);
  out.dollars_per_gpu_hour = fields.number("dollars_per_gpu_hour");
  out.first = first;
  out.replicas = count;
  std::int32_t before = -1;
  for (std::int32_t i = first; i < first + count; ++i) {
    const std::int32_t group = replicas[static_cast<std::size_t>(i)].group;
    if (group < 0 || group != before) out.engines.push_back(i);
    before = group;
  }
  return out;
}

ClusterConfig cluster_config(const Fields& fields) {
  ClusterConfig config;
  for (const Fields& each : fields.tables("replicas"))
    config.replicas.push_back(replica_config(each));
  read_table(fields, "frontend", config.frontend);
  if (const auto transfer = fields.table("transfer")) {
    read_figures(*transfer, config.transfer);
    read_list(*transfer, "bounded", config.transfer.bounded);
    config.transfer.path = {transfer->texts("path"), transfer->texts("within")};
    for (const double node : transfer->numbers("encoder_nodes"))
      config.transfer.encoder_nodes.push_back(static_cast<std::int32_t>(node));
    transfer->finish();
  }
  read_table(fields, "disaggregation", config.disaggregation);
  if (const auto tiers = fields.table("tiers")) config.tiers = tiers_config(*tiers);
  if (const auto adapters = fields.table("adapters")) {
    config.adapters.weights = adapters->numbers("weights");
    config.adapters.count = static_cast<std::int32_t>(config.adapters.weights.size()) - 1;
    config.adapters.seed = static_cast<std::uint64_t>(config.replicas.front().seed);
    adapters->finish();
  }
  for (const Fields& each : fields.tables("pools")) config.pools.push_back(pool_config(each));
  for (const Fields& each : fields.tables("links")) {
    LinkConfig& link = config.links.emplace_back();
    link.name = each.text("name").value_or("");
    read_figures(each, link);
    each.finish();
  }
  return config;
}

/// A rate as vLLM's benchmark writes it: a number or "inf".
std::optional<double> rate(const Fields& fields, const char* key) {
  const Json* found = fields.find(key);
  if (found != nullptr && found->is_text() && found->text() == "inf")
    return std::numeric_limits<double>::infinity();
  const auto value = fields.number(key);
  if (value && !(*value >= 0 && *value <= 1e30))
    throw Error(fields.where(key), "expected 0 to 1e+30, found " + json_number(*value));
  return value;
}

VllmBenchOptions bench_options(const Fields& fields) {
  VllmBenchOptions out;
  out.model = fields.text("model").value_or("");
  out.label = fields.text("label").value_or("");
  out.request_rate = rate(fields, "request_rate");
  out.burstiness = rate(fields, "burstiness");
  const auto most = rate(fields, "max_concurrency");
  if (most && *most < 9e18) out.max_concurrency = fields.integer("max_concurrency");
  fields.finish();
  return out;
}

/// What the scenario says of parts of the run, by their names.
Json asked_parts(const Fields& fields) {
  for (const PartRow* part : parts()) fields.allow(part->name);
  fields.finish();
  return fields.object();
}

ListenerOptions listener_options(const Fields& fields) {
  ListenerOptions out;
  read_figures(fields, out);
  out.requests_path = fields.text("requests_path");
  out.rows_path = fields.text("rows_path");
  out.trace_path = fields.text("trace_path");
  out.progress = fields.text("progress");
  if (fields.has("limits")) {
    out.limits.emplace();
    read_list(fields, "limits", *out.limits);
  }
  if (const auto bench = fields.table("bench")) out.bench = bench_options(*bench);
  return out;
}

}  // namespace

ServingConfig serving_config(const Json& given) {
  const Fields fields(given, "");
  ServingConfig out;
  out.cluster = cluster_config(fields);
  read_figures(fields, out.summary);
  read_table(fields, "slo", out.summary.slo);
  for (const Fields& each : fields.tables("class_slo")) {
    read_figures(each, out.summary.named_slo[each.need_text("class")]);
    each.finish();
  }
  out.summary.classes = fields.texts("classes");
  for (const ReplicaConfig& each : out.cluster.replicas) out.summary.replicas.push_back(each.name);
  for (const LinkConfig& each : out.cluster.links) out.summary.links.push_back(each.name);
  if (out.cluster.transfer.over_links() || !out.cluster.tiers.stores.empty())
    out.summary.wires = Wires(out.cluster.links, nodes_of(out.cluster)).all();
  for (const Fields& each : fields.tables("pools"))
    out.summary.pools.push_back(pool_options(each, out.cluster.replicas));
  if (const auto asked = fields.table("parts"))
    out.cluster.asked = out.summary.parts = asked_parts(*asked);
  out.listeners = listener_options(fields);
  out.listeners.pools = out.summary.pools;
  out.closes = fields.boolean("closes", false);
  fields.finish();
  return out;
}

}  // namespace rooflua::script
