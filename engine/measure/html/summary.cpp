// Tables of a report in HTML: what every variant gave, and how far it is from the first.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "measure/html/chart/chart.h"
#include "measure/html/parts.h"
#include "measure/write/report.h"
#include "measure/write/table.h"

namespace rooflua::html {

namespace {

enum class Kind { rate, time, share, count };

struct Metric {
  const char* label;
  Kind kind;
  double (*value)(const Summary&);
};

constexpr double none = std::numeric_limits<double>::quiet_NaN();

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all{
      {"requests/s", Kind::rate, [](const Summary& s) { return s.requests_per_s; }},
      {"tokens/s", Kind::rate, [](const Summary& s) { return s.output_tokens_per_s; }},
      {"goodput/s", Kind::rate, [](const Summary& s) { return s.goodput_per_s.value_or(none); }},
      {"TTFT mean", Kind::time, [](const Summary& s) { return s.ttft_s.mean; }},
      {"TTFT p50", Kind::time, [](const Summary& s) { return s.ttft_s.p50; }},
      {"TTFT p99", Kind::time, [](const Summary& s) { return s.ttft_s.p99; }},
      {"TPOT mean", Kind::time, [](const Summary& s) { return s.tpot_s.mean; }},
      {"TPOT p50", Kind::time, [](const Summary& s) { return s.tpot_s.p50; }},
      {"TPOT p99", Kind::time, [](const Summary& s) { return s.tpot_s.p99; }},
      {"ITL p99", Kind::time, [](const Summary& s) { return s.itl_s.p99; }},
      {"E2E mean", Kind::time, [](const Summary& s) { return s.e2e_s.mean; }},
      {"E2E p99", Kind::time, [](const Summary& s) { return s.e2e_s.p99; }},
      {"queue mean", Kind::time, [](const Summary& s) { return s.queue_s.mean; }},
      {"KV max", Kind::share, [](const Summary& s) { return s.kv_used_frac_max; }},
      {"preempted", Kind::count,
       [](const Summary& s) { return static_cast<double>(s.preemptions); }},
      {"completed", Kind::count, [](const Summary& s) { return static_cast<double>(s.completed); }},
      {"failed", Kind::count,
       [](const Summary& s) {
         double out = -static_cast<double>(s.completed);
         for (const std::int64_t count : s.ended) out += static_cast<double>(count);
         return out;
       }},
      {"unsupported", Kind::share, [](const Summary& s) { return s.unsupported_share(); }},
  };
  return all;
}

/// Only what says something: not what no variant has, nor counts that are all 0.
std::vector<Metric> shown(const std::vector<Served>& variants) {
  std::vector<Metric> out;
  for (const Metric& metric : metrics()) {
    bool any = false;
    for (const Served& each : variants) {
      const double value = metric.value(each.summary);
      any |= std::isfinite(value) && (metric.kind != Kind::count || value != 0);
    }
    if (any) out.push_back(metric);
  }
  return out;
}

TimeUnit unit_of(const Metric& metric, const std::vector<Served>& variants) {
  double largest = 0;
  for (const Served& each : variants) {
    const double value = metric.value(each.summary);
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return time_unit(largest);
}

std::string cell(const Metric& metric, const TimeUnit& unit, double value) {
  if (!std::isfinite(value)) return "-";
  if (metric.kind == Kind::time) return figure(value * unit.per_s);
  if (metric.kind == Kind::share) return percent(value);
  if (metric.kind == Kind::count) return grouped(static_cast<std::int64_t>(value));
  return figure(value);
}

std::string title(const Metric& metric, const TimeUnit& unit) {
  return metric.kind == Kind::time ? std::string(metric.label) + " " + unit.name : metric.label;
}

/// "+4.2 %", "x3.1" where that says more, "0 %" for the same.
std::string difference(double value, double reference) {
  if (!std::isfinite(value) || !std::isfinite(reference)) return "-";
  if (value == reference) return "0 %";
  if (reference == 0) return "from 0";
  const double ratio = value / reference;
  if (ratio >= 99.5) return "x" + grouped(std::llround(ratio));
  char text[40];
  std::snprintf(text, sizeof text, ratio >= 3 ? "x%.3g" : "%+.1f %%",
                ratio >= 3 ? ratio : 100 * (ratio - 1));
  const std::string_view rounded(text);
  return rounded == "+0.0 %" || rounded == "-0.0 %" ? "0.0 %" : text;
}

std::string name_of(const Served& variant) {
  return variant.name.empty() ? "run" : variant.name;
}

}  // namespace

void add_header(HtmlPage& page, const std::string& source) {
  std::istringstream lines(source);
  std::string line, question;
  std::vector<std::vector<std::string>> parts;
  bool open = true;  // an empty line ends a section; what is not the next one is for other readers
  while (std::getline(lines, line) && line.rfind("---", 0) == 0) {
    line.erase(0, line.rfind("--- ", 0) == 0 ? 4 : 3);
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) {
      open = parts.empty();
      continue;
    }
    if (line[begin] == '@') break;
    const std::size_t label = line.find("  ");
    const bool labelled =
        begin == 0 && label != std::string::npos && label < 12 && line.find(' ') == label;
    if (labelled) {
      const std::size_t text = line.find_first_not_of(' ', label);
      parts.push_back({line.substr(0, label), text == std::string::npos ? "" : line.substr(text)});
      open = true;
    } else if (!open) {
      continue;
    } else if (!parts.empty()) {
      parts.back()[1] += " " + line.substr(begin);
    } else {
      question += (question.empty() ? "" : " ") + line.substr(begin);
    }
  }
  if (!question.empty()) page.lead(question);
  page.definitions(parts);
}

std::string evidence_bars(const std::vector<std::string>& names,
                          const std::vector<std::array<double, evidence_count>>& shares) {
  BarChart chart;
  chart.title = "What the time rests on";
  chart.value.label = "share of time";
  chart.shares = true;
  for (int i = 0; i < evidence_count; ++i) {
    const std::string each(name(static_cast<Evidence>(i)));
    bool any = false;
    for (const auto& row : shares) any |= row[static_cast<std::size_t>(i)] > 0;
    if (any) chart.segments.push_back({each, "e-" + each});
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    Bar bar{names[i], {}};
    for (const BarPart& segment : chart.segments)
      bar.values.push_back(shares[i][static_cast<std::size_t>(*parse_evidence(segment.name))]);
    chart.bars.push_back(std::move(bar));
  }
  return svg(chart);
}

/// Which requests of which variants failed, and of what.
void add_failures(HtmlPage& page, const std::vector<Served>& variants) {
  std::vector<std::vector<std::string>> rows{{"variant", "failed", "of what"}};
  for (const Served& each : variants) {
    for (int i = 0; i < outcome_count; ++i) {
      const auto outcome = static_cast<Outcome>(i);
      const std::int64_t count = each.summary.ended[static_cast<std::size_t>(i)];
      if (outcome == Outcome::completed || count == 0) continue;
      rows.push_back({name_of(each), std::to_string(count), std::string(name(outcome))});
    }
  }
  if (rows.size() > 1) page.table(rows);
}

void add_summary(HtmlPage& page, const std::vector<Served>& variants) {
  page.heading("Summary");
  std::vector<std::vector<std::string>> rows{{"variant"}};
  const std::vector<Metric> columns = shown(variants);
  for (const Metric& metric : columns) rows[0].push_back(title(metric, unit_of(metric, variants)));
  for (const Served& each : variants) {
    rows.push_back({name_of(each)});
    for (const Metric& metric : columns)
      rows.back().push_back(cell(metric, unit_of(metric, variants), metric.value(each.summary)));
  }
  const bool many = variants.size() > most_listed;
  if (many) page.open_details(std::to_string(variants.size()) + " variants");
  page.table(rows);
  if (many) page.close_details();
  add_failures(page, variants);
  page.note("unsupported: share of time that is extrapolated, stand_in or assumed.");
  std::vector<std::string> names;
  std::vector<std::array<double, evidence_count>> shares;
  for (const Served& each : variants) {
    if (names.size() == most_drawn) break;
    names.push_back(name_of(each));
    shares.push_back(each.summary.evidence);
  }
  const bool priced = std::any_of(shares.begin(), shares.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](double share) { return share > 0; });
  });
  if (priced) {
    page.charts({evidence_bars(names, shares)});
  } else {
    page.note("Nothing was priced: no step ran.");
  }
}

void add_differences(HtmlPage& page, const std::vector<Served>& variants) {
  if (variants.size() < 2) return;
  page.heading("Differences to the first variant");
  page.note(
      "Relative to " + name_of(variants[0]) +
      ". One run each, with the same random numbers: a difference within the noise of another "
      "seed is not a difference.");
  std::vector<std::vector<std::string>> rows{{"variant"}};
  std::vector<Metric> columns;
  for (const Metric& metric : shown(variants)) {
    if (metric.kind == Kind::count || metric.kind == Kind::share) continue;
    columns.push_back(metric);
    rows[0].push_back(metric.label);
  }
  for (std::size_t i = 1; i < variants.size(); ++i) {
    rows.push_back({name_of(variants[i])});
    for (const Metric& metric : columns)
      rows.back().push_back(
          difference(metric.value(variants[i].summary), metric.value(variants[0].summary)));
  }
  const bool many = variants.size() > most_listed;
  if (many) page.open_details(std::to_string(variants.size() - 1) + " differences");
  page.table(rows);
  if (many) page.close_details();
}

}  // namespace rooflua::html
