#include "measure/write/report.h"

#include <algorithm>
#include <cmath>

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
  return out.empty() ? "per class" : out;
}

std::string failures(const Summary& s) {
  std::string out;
  for (int i = 0; i < outcome_count; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    const std::int64_t count = s.ended[static_cast<std::size_t>(i)];
    if (outcome == Outcome::completed || count == 0) continue;
    out += (out.empty() ? "" : ", ") + grouped(count) + " " + std::string(name(outcome));
  }
  return out;
}

std::int64_t failed(const Summary& s) {
  std::int64_t out = 0;
  for (const std::int64_t count : s.ended) out += count;
  return out - s.ended[static_cast<std::size_t>(Outcome::completed)];
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
    out += "\ngoodput   " + figure(*s.goodput_per_s) + " requests/s (" + limits(s.slo) + ")";
  out += "\ntokens    " + grouped(s.prompt_tokens) + " in, " + grouped(s.output_tokens) + " out";
  if (s.cached_tokens > 0 && s.prompt_tokens > 0) {
    out += ", " +
           percent(static_cast<double>(s.cached_tokens) / static_cast<double>(s.prompt_tokens)) +
           " of input cached";
  }
  return out + "\n";
}

std::string latencies(const Summary& s) {
  Table table;
  table.left(1);
  table.add({"", "", "mean", "p50", "p90", "p95", "p99", "max"});
  add_latency(table, "TTFT", s.ttft_s);
  add_latency(table, "TPOT", s.tpot_s);
  add_latency(table, "ITL", s.itl_s);
  add_latency(table, "E2E", s.e2e_s);
  add_latency(table, "queue", s.queue_s);
  return table.text();
}

std::vector<std::string> group_cells(const GroupSummary& g, bool with_goodput) {
  std::vector<std::string> out{g.name,
                               grouped(g.completed),
                               figure(g.requests_per_s),
                               figure(g.output_tokens_per_s),
                               duration(g.ttft_s.p50),
                               duration(g.ttft_s.p99),
                               duration(g.tpot_s.p50),
                               duration(g.e2e_s.mean)};
  if (with_goodput) out.push_back(figure(g.goodput_per_s));
  return out;
}

std::vector<std::string> group_header(const std::string& first, bool with_goodput) {
  std::vector<std::string> out{first,      "completed", "requests/s", "tokens/s",
                               "TTFT p50", "TTFT p99",  "TPOT p50",   "E2E mean"};
  if (with_goodput) out.push_back("goodput/s");
  return out;
}

std::string groups(const Summary& s) {
  std::string out;
  const bool with_goodput = s.goodput_per_s.has_value();
  if (!s.classes.empty()) {
    Table table;
    table.add(group_header("class", with_goodput));
    for (const GroupSummary& g : s.classes) table.add(group_cells(g, with_goodput));
    out += "\n" + table.text();
  }
  if (s.replicas.size() > 1) {
    Table table;
    auto header = group_header("replica", with_goodput);
    header.insert(header.end(), {"busy", "KV max", "preempted"});
    table.add(header);
    for (const ReplicaSummary& replica : s.replicas) {
      auto cells = group_cells(replica.requests, with_goodput);
      cells.insert(cells.end(), {percent(replica.busy_frac), percent(replica.kv_used_frac_max),
                                 grouped(replica.preemptions)});
      table.add(cells);
    }
    out += "\n" + table.text();
  }
  if (s.sessions) {
    out += "\nsessions  " + grouped(s.sessions->count) + ", " + figure(s.sessions->turns.mean) +
           " turns, " + duration(s.sessions->duration_s.mean) + " on average\n";
  }
  return out;
}

/// A column of times that share a unit.
class TimeColumn {
 public:
  TimeColumn(const std::vector<Variant>& variants, double (*value)(const Summary&))
      : value_(value) {
    double largest = 0;
    for (const Variant& variant : variants) {
      const double time_s = value(variant.summary);
      if (std::isfinite(time_s)) largest = std::max(largest, time_s);
    }
    unit_ = time_unit(largest);
  }
  std::string title(const std::string& metric) const { return metric + " " + unit_.name; }
  std::string cell(const Summary& s) const { return value_in(unit_, value_(s)); }

 private:
  double (*value_)(const Summary&);
  TimeUnit unit_{"s", 1};
};

}  // namespace

std::string evidence_line(const std::array<double, evidence_count>& shares) {
  std::string out;
  for (int i = 0; i < evidence_count; ++i) {
    const double share = shares[static_cast<std::size_t>(i)];
    if (share <= 0) continue;
    out += (out.empty() ? "" : ", ") + std::string(name(static_cast<Evidence>(i))) + " " +
           percent(share);
  }
  return out.empty() ? "none: nothing was priced" : out;
}

std::string report(const Summary& s) {
  std::string out = throughput(s);
  if (s.completed > 0) out += "\n" + latencies(s);
  out += groups(s);
  out += "\nengine    steps: " + grouped(s.steps) + ", preemptions: " + grouped(s.preemptions) +
         ", KV cache at most " + percent(s.kv_used_frac_max) + " full, requests at once at most " +
         grouped(s.peak_concurrency) + "\n";
  out += "evidence  " + evidence_line(s.evidence) + "\n";
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

std::string comparison(const std::vector<Variant>& variants) {
  const TimeColumn ttft_p50(variants, [](const Summary& s) { return s.ttft_s.p50; });
  const TimeColumn ttft_p99(variants, [](const Summary& s) { return s.ttft_s.p99; });
  const TimeColumn tpot_p50(variants, [](const Summary& s) { return s.tpot_s.p50; });
  const TimeColumn tpot_p99(variants, [](const Summary& s) { return s.tpot_s.p99; });
  const TimeColumn e2e_mean(variants, [](const Summary& s) { return s.e2e_s.mean; });
  bool with_goodput = false, with_failed = false, with_preempted = false;
  for (const Variant& variant : variants) {
    with_goodput |= variant.summary.goodput_per_s.has_value();
    with_failed |= failed(variant.summary) > 0;
    with_preempted |= variant.summary.preemptions > 0;
  }
  Table table;
  std::vector<std::string> header{"variant",
                                  "req/s",
                                  "tok/s",
                                  ttft_p50.title("TTFT p50"),
                                  ttft_p99.title("TTFT p99"),
                                  tpot_p50.title("TPOT p50"),
                                  tpot_p99.title("TPOT p99"),
                                  e2e_mean.title("E2E mean")};
  if (with_goodput) header.push_back("goodput/s");
  if (with_preempted) header.push_back("preempted");
  if (with_failed) header.push_back("failed");
  header.push_back("unsupported");
  table.add(header);
  table.rule();
  for (const Variant& variant : variants) {
    const Summary& s = variant.summary;
    std::vector<std::string> row{
        variant.name,     figure(s.requests_per_s), figure(s.output_tokens_per_s),
        ttft_p50.cell(s), ttft_p99.cell(s),         tpot_p50.cell(s),
        tpot_p99.cell(s), e2e_mean.cell(s)};
    if (with_goodput) row.push_back(s.goodput_per_s ? figure(*s.goodput_per_s) : "-");
    if (with_preempted) row.push_back(grouped(s.preemptions));
    if (with_failed) row.push_back(grouped(failed(s)));
    row.push_back(percent(s.unsupported_share()));
    table.add(row);
  }
  return table.text() + "\nunsupported: share of time that is extrapolated, stand_in or assumed\n";
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
