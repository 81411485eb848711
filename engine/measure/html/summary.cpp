// Tables of a report in HTML: what every variant gave, and how far it is from the first.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/numbers/digits.h"
#include "measure/html/chart/chart.h"
#include "measure/html/chart/parts.h"
#include "measure/html/choice.h"
#include "measure/html/parts.h"
#include "measure/record/metrics.h"
#include "measure/write/evidence_text.h"
#include "measure/write/report.h"
#include "measure/write/run_columns.h"

namespace rooflua::html {

namespace {

std::vector<RunColumn> shown(const std::vector<Served>& variants) {
  std::vector<const Summary*> runs;
  for (const Served& each : variants) runs.push_back(&each.summary);
  return summary_columns(runs);
}

/// "+4.2 %", "x3.1" where that says more, "0 %" for the same.
std::string difference(double value, double reference) {
  if (!std::isfinite(value) || !std::isfinite(reference)) return "-";
  if (value == reference) return "0 %";
  if (reference == 0) return "from 0";
  const double ratio = value / reference;
  if (ratio >= 99.5) return "x" + grouped(std::llround(ratio));
  if (ratio >= 3) return "x" + significant(ratio, 3);
  char text[40];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * (ratio - 1));
  const std::string_view rounded(text);
  return rounded == "+0.0 %" || rounded == "-0.0 %" ? "0.0 %" : text;
}

}  // namespace

/// Not what no variant has, nor counts that are all 0.
std::vector<RunColumn> summary_columns(const std::vector<const Summary*>& runs) {
  return run_columns({{"requests_per_s"},
                      {"output_tokens_per_s"},
                      {"goodput_per_s"},
                      {"ttft_s_mean"},
                      {"ttft_s_p50"},
                      {"ttft_s_p99"},
                      {"tpot_s_mean"},
                      {"tpot_s_p50"},
                      {"tpot_s_p99"},
                      {"itl_s_p99"},
                      {"e2e_s_mean"},
                      {"e2e_s_p99"},
                      {"queue_s_mean"},
                      {"kv_used_frac_max"},
                      {"preemptions"},
                      {"completed"},
                      {"failed"},
                      {"evidence"}},
                     runs, Empty::drop);
}

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

namespace {

BarChart evidence_chart(const std::vector<std::string>& names,
                        const std::vector<EvidenceShares>& shares) {
  BarChart chart;
  chart.title = "What the time rests on";
  chart.value.label = "share of time";
  chart.shares = true;
  for (const EvidenceWord& word : evidence_words) {
    const auto i = static_cast<std::size_t>(word.value);
    const std::string each(word.name);
    if (std::any_of(shares.begin(), shares.end(), [&](const auto& row) { return row[i] > 0; }))
      chart.segments.push_back({each, "e-" + each});
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    Bar bar{names[i], {}};
    for (const BarPart& segment : chart.segments)
      bar.values.push_back(shares[i][static_cast<std::size_t>(*parse_evidence(segment.name))]);
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

}  // namespace

namespace {

using Parts = std::optional<PartSeconds> LatencyParts::*;

/// A bar of each variant.
std::optional<BarChart> latency_chart(const std::string& title, const std::vector<Served>& variants,
                                      Parts parts) {
  BarChart chart;
  chart.title = title;
  chart.value = {title.substr(0, title.find(' ')), "ms"};
  for (const Word<LatencyPart>& word : latency_part_words) {
    const auto has = [&](const Served& each) {
      const auto& of = each.summary.*parts;
      return of && (*of)[static_cast<std::size_t>(word.value)] > 0;
    };
    if (std::any_of(variants.begin(), variants.end(), has))
      chart.segments.push_back(
          {std::string(word.name), style_of(0, static_cast<std::size_t>(word.value))});
  }
  if (chart.segments.empty()) return std::nullopt;
  for (const Served& each : variants) {
    Bar bar{name_of(each), {}};
    const PartSeconds of = (each.summary.*parts).value_or(PartSeconds{});
    for (const BarPart& segment : chart.segments)
      bar.values.push_back(
          of[static_cast<std::size_t>(*value_named(latency_part_words, segment.name))] * 1e3);
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

void add_latency_parts(HtmlPage& page, const std::vector<Served>& variants, Choice& choice) {
  std::vector<std::string> charts;
  const auto add = [&](const std::string& title, Parts parts) {
    if (auto chart = latency_chart(title, variants, parts))
      charts.push_back(choice.drawn(std::move(*chart)));
  };
  add("TTFT goes into", &Summary::ttft_parts_s);
  add("TTFT of the slowest 1 % goes into", &Summary::ttft_parts_slowest_1pct_s);
  add("TPOT goes into", &Summary::tpot_parts_s);
  add("TPOT of the slowest 1 % goes into", &Summary::tpot_parts_slowest_1pct_s);
  if (charts.empty()) return;
  page.charts(charts);
  std::string words;
  for (const Word<LatencyPart>& word : latency_part_words)
    words += (words.empty() ? "" : "; ") + std::string(word.name) + ": " + std::string(word.help);
  page.note(words + ".");
}

}  // namespace

std::string evidence_bars(const std::vector<std::string>& names,
                          const std::vector<EvidenceShares>& shares) {
  return svg(evidence_chart(names, shares));
}

/// Which requests of which variants failed, and of what.
void add_failures(HtmlPage& page, const std::vector<Served>& variants) {
  std::vector<std::vector<std::string>> rows{{"variant", "failed", "of what"}};
  for (const Served& each : variants) {
    for (const Word<Outcome>& word : outcome_words) {
      const std::int64_t count = each.summary.ended[static_cast<std::size_t>(word.value)];
      if (word.value == Outcome::completed || count == 0) continue;
      rows.push_back({name_of(each), std::to_string(count), std::string(word.name)});
    }
  }
  if (rows.size() > 1) page.table(rows);
}

void add_summary(HtmlPage& page, const std::vector<Served>& variants, Choice& choice) {
  page.heading("Summary");
  std::vector<std::vector<std::string>> rows{{"variant"}};
  const std::vector<RunColumn> columns = shown(variants);
  for (const RunColumn& column : columns) rows[0].push_back(column.title());
  for (const Served& each : variants) {
    rows.push_back({name_of(each)});
    for (const RunColumn& column : columns) rows.back().push_back(column.cell(each.summary));
  }
  const bool many = variants.size() > most_listed;
  if (many) page.open_details(std::to_string(variants.size()) + " variants");
  page.table(rows);
  if (many) page.close_details();
  add_failures(page, variants);
  std::vector<const Summary*> runs;
  for (const Served& each : variants) runs.push_back(&each.summary);
  add_parts(page, variants);
  page.note("unsupported: share of time that is " + unsupported_text(runs) + ".");
  std::vector<std::string> whole_names;
  std::vector<NamedSummary> all;
  for (const Served& each : variants) whole_names.push_back(name_of(each));
  for (std::size_t i = 0; i < variants.size(); ++i)
    all.push_back({whole_names[i], &variants[i].summary});
  if (const std::string unlike = unlike_evidence(all); !unlike.empty()) page.note(unlike + ".");
  std::vector<std::string> names;
  std::vector<EvidenceShares> shares;
  for (const Served& each : variants) {
    names.push_back(name_of(each));
    shares.push_back(each.summary.evidence);
  }
  const bool priced = std::any_of(shares.begin(), shares.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](double share) { return share > 0; });
  });
  if (priced) {
    page.charts({choice.drawn(evidence_chart(names, shares))});
    choice.note(page);
  } else {
    page.note("Nothing was priced: no step ran.");
  }
  add_latency_parts(page, variants, choice);
}

void add_differences(HtmlPage& page, const std::vector<Served>& variants) {
  if (variants.size() < 2) return;
  page.heading("Differences to the first variant");
  page.note(
      "Relative to " + name_of(variants[0]) +
      ". One run each, with the same random numbers: a difference within the noise of another "
      "seed is not a difference.");
  std::vector<std::vector<std::string>> rows{{"variant"}};
  std::vector<RunColumn> columns;
  for (const RunColumn& column : shown(variants)) {
    if (column.kind == RunColumn::Kind::count || column.kind == RunColumn::Kind::share) continue;
    columns.push_back(column);
    rows[0].push_back(column.label);
  }
  for (std::size_t i = 1; i < variants.size(); ++i) {
    rows.push_back({name_of(variants[i])});
    for (const RunColumn& column : columns)
      rows.back().push_back(
          difference(column.value(variants[i].summary), column.value(variants[0].summary)));
  }
  const bool many = variants.size() > most_listed;
  if (many) page.open_details(std::to_string(variants.size() - 1) + " differences");
  page.table(rows);
  if (many) page.close_details();
}

}  // namespace rooflua::html
