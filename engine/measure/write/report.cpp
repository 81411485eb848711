#include "measure/write/report.h"

#include <algorithm>
#include <cmath>

#include "measure/record/metrics.h"
#include "measure/write/evidence_text.h"
#include "measure/write/group_tables.h"
#include "measure/write/latency_text.h"
#include "measure/write/parts_text.h"
#include "measure/write/run_columns.h"
#include "measure/write/survivors.h"
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
  out += parts_text(s, PartPosition::before_groups);
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
  out += parts_text(s, PartPosition::among_parts);
  if (s.sessions) {
    out += "\nsessions  " + grouped(s.sessions->count) + ", " + figure(s.sessions->turns.mean) +
           " turns, " + duration(s.sessions->duration_s.mean) + " on average\n";
  }
  return out;
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

std::string report(const Summary& s) {
  std::string out = throughput(s);
  if (s.completed > 0) out += "\n" + latencies(s) + latency_lines(s) + survivors_text(s);
  out += groups(s);
  out += "\nengine    steps: " + grouped(s.steps) + ", preemptions: " + grouped(s.preemptions) +
         ", KV cache at most " + percent(s.kv_used_frac_max) + " full, requests at once at most " +
         grouped(s.peak_concurrency) + ", idle " + percent(s.idle_frac) + "\n";
  if (s.mfu)
    out += "work      MFU " + percent(*s.mfu) + ", memory bandwidth " + percent(*s.bandwidth_frac) +
           " of the run, from sampled steps\n";
  out += parts_text(s, PartPosition::at_end) + own_metrics(s) + "evidence  " +
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

constexpr std::size_t most_differences = 200, most_of_a_value = 60;

/// A value that fits a table: the first characters of a long text, list or object.
std::string cut(const std::string& value) {
  std::size_t end = most_of_a_value;
  if (value.size() <= end) return value;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
  return value.substr(0, end) + "...";
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
  const std::string unlike = unlike_evidence(named(variants));
  return table.text() + "\n" + survivors_text(named(variants)) +
         "unsupported: share of time that is " + unsupported_text(runs) + "\n" +
         (unlike.empty() ? "" : unlike + "\n") + classes_of(variants);
}

std::string report(const Comparison& comparison, double tolerance) {
  auto rows = comparison.differences;
  std::stable_sort(rows.begin(), rows.end(), [](const Difference& a, const Difference& b) {
    return a.relative > b.relative;
  });
  Table table;
  for (std::size_t i = 0; i < std::min(rows.size(), most_differences); ++i) {
    const Difference& row = rows[i];
    table.add({row.path, cut(row.a), cut(row.b),
               std::isfinite(row.relative) ? figure(row.relative) : "differs"});
  }
  const std::string more =
      rows.size() <= most_differences
          ? ""
          : "and " + grouped(static_cast<std::int64_t>(rows.size() - most_differences)) +
                " more, none of them larger\n";
  return table.text() + more + "compared=" + std::to_string(comparison.compared) +
         " mismatched=" + std::to_string(rows.size()) +
         " max_rel=" + json_number(comparison.largest) + " tolerance=" + json_number(tolerance) +
         "\n";
}

}  // namespace rooflua
