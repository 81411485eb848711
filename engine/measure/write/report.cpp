#include "measure/write/report.h"

#include <algorithm>
#include <cmath>

#include "measure/record/metrics.h"
#include "measure/write/evidence_text.h"
#include "measure/write/group_tables.h"
#include "measure/write/run_columns.h"
#include "measure/write/surroundings_text.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

std::string value_in(const TimeUnit& unit, double time_s) {
  return figure(time_s * unit.per_s);
}

void add_latency(Table& table, const std::string& label, const Statistics& s) {
  if (s.count == 0) return;
  const TimeUnit unit = time_unit(s.max);
  table.add({label, unit.name, value_in(unit, s.mean), value_in(unit, s.p50), value_in(unit, s.p90),
             value_in(unit, s.p95), value_in(unit, s.p99), value_in(unit, s.max)});
}

std::string limits(const Slo& slo) {
  std::string out;
  const auto add = [&](const char* label, const std::optional<double>& limit_s) {
    if (limit_s)
      out += (out.empty() ? "" : ", ") + std::string(label) + " <= " + duration(*limit_s);
  };
  add("TTFT", slo.ttft_s);
  add("TPOT", slo.tpot_s);
  add("E2E", slo.e2e_s);
  return out;
}

/// "TTFT <= 500.0 ms; report: TTFT <= 30.00 s"
std::string all_limits(const Summary& s) {
  std::string out = limits(s.slo);
  for (const GroupSummary& group : s.classes) {
    if (group.slo.given()) out += (out.empty() ? "" : "; ") + group.name + ": " + limits(group.slo);
  }
  return out.empty() ? "per class" : out;
}

std::string failures(const Summary& s) {
  std::string out;
  for (const Word<Outcome>& word : outcome_words) {
    const std::int64_t count = s.ended[static_cast<std::size_t>(word.value)];
    if (word.value == Outcome::completed || count == 0) continue;
    out += (out.empty() ? "" : ", ") + grouped(count) + " " + std::string(word.name);
  }
  return out;
}

/// The lines above the latencies: how much was done in how long.
std::string throughput(const Summary& s) {
  std::string out =
      "requests  " + grouped(s.completed) + " of " + grouped(s.requests) + " completed";
  const std::string why = failures(s);
  if (!why.empty()) out += " (" + why + ")";
  out += " in " + duration(s.duration_s) + "\nrates     " + figure(s.requests_per_s) +
         " requests/s, " + figure(s.output_tokens_per_s) + " output tokens/s (peak second " +
         grouped(static_cast<std::int64_t>(s.peak_output_tokens_per_s)) + ")";
  if (s.goodput_per_s)
    out += "\ngoodput   " + figure(*s.goodput_per_s) + " requests/s (" + all_limits(s) + ")";
  out += "\ntokens    " + grouped(s.prompt_tokens) + " in, " + grouped(s.output_tokens) + " out";
  if (s.cached_tokens > 0 && s.prompt_tokens > 0) {
    out += ", " +
           percent(static_cast<double>(s.cached_tokens) / static_cast<double>(s.prompt_tokens)) +
           " of input cached";
  }
  if (s.wasted_prompt_tokens)
    out += "; of aborted requests " + grouped(*s.wasted_prompt_tokens) + " computed and " +
           grouped(s.wasted_output_tokens.value_or(0)) + " out";
  return out + "\n";
}

std::string latencies(const Summary& s) {
  Table table;
  table.left(1);
  table.add({"", "", "mean", "p50", "p90", "p95", "p99", "max"});
  for (const Metric& metric : run_metrics()) {
    if (const auto* member = std::get_if<Statistics Summary::*>(&metric.source))
      add_latency(table, std::string(metric.label), s.*(*member));
  }
  return table.text();
}

constexpr std::string_view replica_columns[] = {"busy_frac", "load_frac", "kv_used_frac_max",
                                                "preemptions", "wait_frac"};

/// What plays amounted to, in two lines.
std::string play_lines(const PlaySummary& plays) {
  std::string out = "plays     " + grouped(plays.completed) + " completed";
  if (plays.failed > 0) out += ", " + grouped(plays.failed) + " failed";
  if (plays.cut > 0) out += ", " + grouped(plays.cut) + " cut";
  return out + ", " + figure(plays.plays_per_hour) + " per hour; " + duration(plays.play_s.mean) +
         " (p99 " + duration(plays.play_s.p99) + "), " + figure(plays.play_turns.mean) +
         " turns\n          critical path: queue " + duration(plays.queue_s.mean) + ", load " +
         duration(plays.load_s.mean) + ", prefill " + duration(plays.prefill_s.mean) + ", decode " +
         duration(plays.decode_s.mean) + ", tools " + duration(plays.tool_s.mean) + "; reuse " +
         percent(plays.reuse) + ", ideal " + percent(plays.reuse_ideal) + "\n";
}

/// What replicas that are split for prefill and decode amounted to, in two lines.
std::string split_line(const SplitSummary& split) {
  std::string out = "split     " + percent(split.split_frac) + " of requests, " +
                    figure(split.kv_bytes / 1e9) + " GB of KV sent, stretch " +
                    figure(split.stretch_mean) + " (max " + figure(split.stretch_max) + ")";
  if (split.recomputed > 0) out += ", " + grouped(split.recomputed) + " computed again";
  return out + "\n          wait for room " + duration(split.room_wait_s.mean) + " (p99 " +
         duration(split.room_wait_s.p99) + "), for KV " + duration(split.kv_wait_s.mean) +
         " (p99 " + duration(split.kv_wait_s.p99) + "); kept after prefill " +
         figure(split.kept_block_s) + " block-seconds\n";
}

std::string groups(const Summary& s) {
  std::string out;
  const auto columns = columns_of_groups({&s});
  const auto header = [&](const std::string& first) {
    std::vector<std::string> row{first};
    for (const GroupColumn& column : columns) row.push_back(column.label());
    return row;
  };
  const auto cells = [&](const GroupSummary& g) {
    std::vector<std::string> row{g.name};
    for (const GroupColumn& column : columns) row.push_back(cell(column, g));
    return row;
  };
  if (!s.classes.empty()) {
    Table table;
    table.add(header("class"));
    for (const GroupSummary& g : s.classes) table.add(cells(g));
    out += "\n" + table.text();
  }
  if (!s.tenants.empty()) {
    Table table;
    table.add(header("tenant"));
    for (const GroupSummary& g : s.tenants)
      if (g.completed + g.failed > 0) table.add(cells(g));
    out += "\n" + table.text();
  }
  if (s.fairness)
    out += "fairness  Jain's index over " + grouped(s.fairness->tenants) + " tenants: tokens " +
           figure(s.fairness->jain_tokens) + ", TTFT " + figure(s.fairness->jain_ttft) + "\n";
  if (s.replicas.size() > 1) {
    Table table;
    auto first = header("replica");
    const bool grouped = std::any_of(s.replicas.begin(), s.replicas.end(),
                                     [](const ReplicaSummary& each) { return each.wait_frac; });
    std::vector<ReplicaColumn> own;
    for (const std::string_view name : replica_columns) {
      own.push_back(replica_column(name));
      if (own.back().is_optional() && !grouped) own.pop_back();
    }
    for (const ReplicaColumn& column : own) first.push_back(column.label());
    table.add(first);
    for (const ReplicaSummary& replica : s.replicas) {
      auto row = cells(replica.requests);
      for (const ReplicaColumn& column : own) row.push_back(cell(column, replica));
      table.add(row);
    }
    out += "\n" + table.text();
  }
  if (!s.links.empty()) {
    Table table;
    table.add(link_labels());
    for (const LinkSummary& link : s.links) table.add(link_cells(link));
    out += "\n" + table.text();
  }
  if (!s.tiers.empty()) {
    Table table;
    table.add(tier_labels());
    for (const TierSummary& tier : s.tiers) table.add(tier_cells(tier));
    out += "\n" + table.text();
  }
  if (s.split) out += "\n" + split_line(*s.split);
  out += surroundings_text(s);
  if (s.plays) out += "\n" + play_lines(*s.plays);
  if (s.sessions) {
    out += "\nsessions  " + grouped(s.sessions->count) + ", " + figure(s.sessions->turns.mean) +
           " turns, " + duration(s.sessions->duration_s.mean) + " on average\n";
  }
  return out;
}

/// "drafts    12,345 rounds, 2.310 tokens each, 43.7 % of drafts accepted ..."
std::string speculation_line(const Summary& s) {
  if (!s.speculation) return "";
  const SpeculationSummary& spec = *s.speculation;
  std::string out = "drafts    " + grouped(spec.rounds) + " rounds of " +
                    figure(spec.tokens_per_round) + " tokens, " + percent(spec.acceptance_rate) +
                    " of drafts accepted";
  if (!spec.accepted_by_position.empty()) {
    out += " (by position";
    for (const double share : spec.accepted_by_position) out += " " + percent(share);
    out += ")";
  }
  return out + ", " + percent(spec.wasted_share) + " of verified tokens lost, " +
         percent(spec.draft_time_share) + " of the time drafts\n";
}

/// "metrics   decode_batch_p50 12.00 requests": one line for each metric of the scenario.
std::string own_metrics(const Summary& s) {
  std::string out;
  for (const OwnMetric& each : s.own) {
    const std::string unit = each.unit.empty() || each.unit == "1" ? "" : " " + each.unit;
    out += (out.empty() ? "metrics   " : "          ") + each.name + " " + figure(each.value) +
           unit + "\n";
  }
  return out;
}

}  // namespace

std::vector<std::string> link_labels() {
  std::vector<std::string> out{"link"};
  for (const auto& metric : link_metrics())
    out.emplace_back(metric.unit == "bytes" ? "GB" : metric.label);
  return out;
}

std::vector<std::string> link_cells(const LinkSummary& link) {
  std::vector<std::string> out{link.name};
  for (const auto& metric : link_metrics()) {
    const double value = LinkColumn{&metric}.value(link);
    if (metric.unit == "bytes")
      out.push_back(figure(value / 1e9));
    else
      out.push_back(cell(LinkColumn{&metric}, link));
  }
  return out;
}

std::vector<std::string> tier_labels() {
  return {"tier",      "hits %",  "from peers %", "loaded GB",    "load p50 ms", "load p99 ms",
          "stored GB", "skipped", "evicted",      "most used GB", "of GB"};
}

std::vector<std::string> tier_cells(const TierSummary& tier) {
  const auto hits = static_cast<double>(tier.hit_tokens + tier.peer_hit_tokens);
  const double of_peers =
      hits > 0 ? tier.hit_frac * static_cast<double>(tier.peer_hit_tokens) / hits : 0;
  const auto ms = [&](double time_s) {
    return tier.loads > 0 ? figure(time_s * 1000) : std::string("-");
  };
  return {tier.name,
          figure(100 * tier.hit_frac),
          figure(100 * of_peers),
          figure(tier.loaded_bytes / 1e9),
          ms(tier.load_s.p50),
          ms(tier.load_s.p99),
          figure(tier.stored_bytes / 1e9),
          grouped(tier.skipped_stores),
          grouped(tier.evictions),
          figure(tier.used_bytes_max / 1e9),
          figure(tier.capacity_bytes / 1e9)};
}

std::string report(const Summary& s) {
  std::string out = throughput(s);
  if (s.completed > 0) out += "\n" + latencies(s) + survivors_text(s);
  out += groups(s);
  out += "\nengine    steps: " + grouped(s.steps) + ", preemptions: " + grouped(s.preemptions) +
         ", KV cache at most " + percent(s.kv_used_frac_max) + " full, requests at once at most " +
         grouped(s.peak_concurrency) + ", idle " + percent(s.idle_frac) + "\n";
  if (s.mfu)
    out += "work      MFU " + percent(*s.mfu) + ", memory bandwidth " + percent(*s.bandwidth_frac) +
           " of the run, from sampled steps\n";
  out += speculation_line(s) + own_metrics(s) + "evidence  " +
         evidence_line(s.evidence, s.noted_frac) + "\n";
  if (!s.exact) out += "quantiles are from histograms, within 0.1 %\n";
  return out;
}

std::string report(const Result& result) {
  std::string out = result.title.empty() ? "" : result.title + "\n\n";
  if (result.variants.size() == 1) {
    if (!result.variants[0].name.empty()) out += result.variants[0].name + "\n\n";
    return out + report(result.variants[0].summary);
  }
  return out + comparison(result.variants);
}

namespace {

constexpr std::size_t most_class_lines = 60;  // of a table with a row per variant and class

std::vector<NamedSummary> named(const std::vector<Variant>& variants) {
  std::vector<NamedSummary> out;
  for (const Variant& each : variants) out.push_back({each.name, &each.summary});
  return out;
}

/// Variants class by class; "" where their requests have no classes.
std::string classes_of(const std::vector<Variant>& variants) {
  const auto rows = rows_of_groups(named(variants), &Summary::classes, "class");
  if (rows.empty()) return "";
  if (rows.size() - 1 > most_class_lines)
    return "\nby class: " + grouped(static_cast<std::int64_t>(rows.size() - 1)) +
           " rows, which --json and --html have\n";
  Table table;
  table.left(1);
  table.add(rows.front());
  table.rule();
  for (std::size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
  return "\n" + table.text() + "\n";
}

}  // namespace

std::string comparison(const std::vector<Variant>& variants) {
  std::vector<const Summary*> runs;
  for (const Variant& variant : variants) runs.push_back(&variant.summary);
  const std::vector<RunColumn> columns = run_columns({{"requests_per_s", "req/s"},
                                                      {"output_tokens_per_s", "tok/s"},
                                                      {"ttft_s_p50"},
                                                      {"ttft_s_p99"},
                                                      {"tpot_s_p50"},
                                                      {"tpot_s_p99"},
                                                      {"e2e_s_mean"},
                                                      {"goodput_per_s"},
                                                      {"preemptions"},
                                                      {"failed"},
                                                      {"evidence"}},
                                                     runs, Empty::keep);
  Table table;
  std::vector<std::string> header{"variant"};
  for (const RunColumn& column : columns) header.push_back(column.title());
  table.add(header);
  table.rule();
  for (const Variant& variant : variants) {
    std::vector<std::string> row{variant.name};
    for (const RunColumn& column : columns) row.push_back(column.cell(variant.summary));
    table.add(row);
  }
  return table.text() + "\n" + survivors_text(named(variants)) +
         "unsupported: share of time that is " + unsupported_text(runs) + "\n" +
         classes_of(variants);
}

std::string report(const Comparison& comparison, double tolerance) {
  auto rows = comparison.differences;
  std::stable_sort(rows.begin(), rows.end(), [](const Difference& a, const Difference& b) {
    return a.relative > b.relative;
  });
  Table table;
  for (const Difference& row : rows) {
    table.add(
        {row.path, row.a, row.b, std::isfinite(row.relative) ? figure(row.relative) : "differs"});
  }
  return table.text() + "compared=" + std::to_string(comparison.compared) +
         " mismatched=" + std::to_string(rows.size()) +
         " max_rel=" + json_number(comparison.largest) + " tolerance=" + json_number(tolerance) +
         "\n";
}

}  // namespace rooflua
