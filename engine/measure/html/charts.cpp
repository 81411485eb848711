// Charts of a report in HTML: latencies, the engine over time, steps op by op.

#include <algorithm>
#include <cmath>
#include <map>

#include "measure/html/chart/chart.h"
#include "measure/html/parts.h"
#include "measure/html/sections.h"
#include "measure/write/table.h"

namespace rooflua::html {

namespace {

struct Latency {
  const char* key;
  const char* title;
};
constexpr Latency latencies[] = {{"ttft_s", "Time to first token (TTFT)"},
                                 {"tpot_s", "Time per output token (TPOT)"},
                                 {"itl_s", "Gap between two tokens (ITL)"},
                                 {"e2e_s", "Whole request (E2E)"}};

/// The limit of the SLO for a latency, as a line of a chart in that unit; nothing without one.
std::vector<Limit> limits_of(std::string_view latency, const std::vector<Served>& variants,
                             double per_s) {
  const Slo& slo = variants.front().summary.slo;
  const std::optional<double>& limit_s = latency == "ttft_s"   ? slo.ttft_s
                                         : latency == "tpot_s" ? slo.tpot_s
                                                               : slo.e2e_s;
  if (!limit_s || latency == "itl_s") return {};
  const TimeUnit unit = time_unit(*limit_s);
  return {{*limit_s * per_s, "SLO " + figure(*limit_s * unit.per_s) + " " + unit.name}};
}

struct Curve {
  const char* key;
  const char* title;
  const char* unit;
  double factor;
};
constexpr Curve over_time[] = {{"waiting", "Requests waiting", "requests", 1},
                               {"running", "Requests running", "requests", 1},
                               {"kv_used_frac", "KV cache in use", "%", 100},
                               {"step_tokens", "Tokens per step", "tokens", 1},
                               {"output_tokens_per_s", "Output tokens per second", "tokens/s", 1}};

const Json* sketch_part(const Served& variant, const char* part, const char* key) {
  if (variant.drawing == nullptr || !variant.drawing->sketch.is_object()) return nullptr;
  const Json* found = variant.drawing->sketch.find(part);
  return found == nullptr ? nullptr : found->find(key);
}

std::vector<Served> drawn(const std::vector<Served>& variants) {
  const std::size_t count = std::min(variants.size(), most_drawn);
  return {variants.begin(), variants.begin() + static_cast<std::ptrdiff_t>(count)};
}

void note_undrawn(HtmlPage& page, std::size_t count) {
  if (count > most_drawn)
    page.note("Drawn are the first " + std::to_string(most_drawn) + " of " + std::to_string(count) +
              " variants.");
}

std::string quantiles(const Latency& latency, const std::vector<Served>& variants) {
  double least = 1e300, largest = 0;
  std::vector<ChartSeries> curves;
  for (const Served& each : variants) {
    const Json* points = sketch_part(each, "quantiles", latency.key);
    ChartSeries curve{each.name, {}, 0};
    if (points != nullptr && points->is_array()) {
      for (const Json& point : points->items()) {
        curve.points.push_back({point.items()[0].number(), point.items()[1].number(), ""});
        largest = std::max(largest, curve.points.back().y);
        if (curve.points.back().y > 0) least = std::min(least, curve.points.back().y);
      }
    }
    curves.push_back(std::move(curve));
  }
  if (largest == 0) return "";
  const TimeUnit unit = time_unit(largest);
  for (ChartSeries& curve : curves)
    for (ChartPoint& point : curve.points) point.y *= unit.per_s;
  Axis axis{"", unit.name, Axis::Kind::linear, {}, {}};
  if (largest > 20 * least) axis.kind = Axis::Kind::log;
  LineChart chart = quantile_chart(latency.title, axis, std::move(curves));
  chart.limits = limits_of(latency.key, variants, unit.per_s);
  return svg(chart);
}

std::string timeline(const Curve& curve, const std::vector<Served>& variants) {
  LineChart chart;
  chart.title = curve.title;
  chart.x = {"time from the first arrival", "s", Axis::Kind::linear, 0.0, {}};
  chart.y = {"", curve.unit, Axis::Kind::linear, 0.0, {}};
  chart.steps = true;
  bool any = false;
  for (const Served& each : variants) {
    ChartSeries series{each.name, {}, 0};
    const Json* values = sketch_part(each, "timeline", curve.key);
    const Json* bin_s = sketch_part(each, "timeline", "bin_s");
    const Json* end_s = sketch_part(each, "timeline", "end_s");
    if (values != nullptr && bin_s != nullptr && end_s != nullptr) {
      double x = 0, y = 0;
      for (const Json& value : values->items()) {
        y = value.number() * curve.factor;
        any |= y > 0;
        series.points.push_back({x, y, ""});
        x += bin_s->number();
      }
      if (!series.points.empty()) series.points.push_back({end_s->number(), y, ""});
    }
    chart.series.push_back(std::move(series));
  }
  return any ? svg(chart) : "";
}

/// The only parameter that varies, if it is a number with three values or more; else "".
std::string only_number(const std::vector<Served>& variants) {
  if (variants.size() < 3 || !variants[0].parameters->is_object()) return "";
  std::string key;
  for (const Json::Member& member : variants[0].parameters->members()) {
    if (member.key == "seed") continue;  // nothing is a function of it
    std::vector<double> values;
    bool numbers = true, varies = false;
    for (const Served& each : variants) {
      const Json* value = each.parameters->find(member.key);
      numbers &= value != nullptr && value->is_number();
      varies |= value == nullptr || dump_json(*value) != dump_json(member.value);
      if (numbers) values.push_back(value->number());
    }
    if (!varies) continue;
    std::sort(values.begin(), values.end());
    const bool distinct = std::adjacent_find(values.begin(), values.end()) == values.end();
    if (!numbers || !distinct || !key.empty()) return "";
    key = member.key;
  }
  return key;
}

constexpr double two_decades = 100;  // beyond, an axis is logarithmic

struct TrendLine {
  const char* name;
  double (*value)(const Summary&);
};

/// @param x_axis   of the parameter whose path is its label
/// @param latency  "ttft_s": a time, with the limit of the SLO; "": tokens per second
std::string trend(const std::string& title, const Axis& x_axis, std::string_view latency,
                  const std::vector<TrendLine>& lines, const std::vector<Served>& variants) {
  LineChart chart;
  chart.title = title;
  chart.x = x_axis;
  double least = 1e300, largest = 0, low = 1e300, high = 0;
  for (const TrendLine& line : lines) {
    ChartSeries series{line.name, {}, 0};
    for (const Served& each : variants) {
      const double x = each.parameters->find(x_axis.label)->number(), y = line.value(each.summary);
      series.points.push_back({x, y, ""});
      if (std::isfinite(y)) least = std::min(least, y), largest = std::max(largest, y);
      low = std::min(low, x), high = std::max(high, x);
    }
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
    chart.series.push_back(std::move(series));
  }
  chart.y.unit = "tokens/s";
  if (!latency.empty()) {
    const TimeUnit unit = time_unit(largest);
    chart.limits = limits_of(latency, variants, unit.per_s);
    chart.y.unit = unit.name;
    for (ChartSeries& series : chart.series)
      for (ChartPoint& point : series.points) point.y *= unit.per_s;
  }
  if (low > 0 && high > 10 * low) chart.x.kind = Axis::Kind::log;
  chart.x.min = chart.x.kind == Axis::Kind::log ? low / 1.06 : low - 0.02 * (high - low);
  chart.x.max = chart.x.kind == Axis::Kind::log ? high * 1.06 : high + 0.02 * (high - low);
  if (variants.size() <= 8)
    for (const ChartPoint& point : chart.series[0].points) chart.x.ticks.push_back(point.x);
  if (least > 0 && largest > two_decades * least)
    chart.y.kind = Axis::Kind::log;
  else
    chart.y.min = 0;
  chart.dots = true;
  return svg(chart);
}

// --- Steps op by op --------------------------------------------------------------------------

constexpr std::size_t most_ops = 7;  // in their own colour; the rest together

double share_of(const Json& row) {
  return row.find("share")->number();
}

const Json* rows_of(const Served& variant) {
  if (variant.drawing == nullptr || !variant.drawing->breakdown.is_object()) return nullptr;
  const Json* rows = variant.drawing->breakdown.find("rows");
  return rows != nullptr && rows->is_array() && !rows->items().empty() ? rows : nullptr;
}

/// Names of the ops, the largest over all variants first.
std::vector<std::string> largest_ops(const std::vector<Served>& variants) {
  std::map<std::string, double> total;
  for (const Served& each : variants) {
    if (const Json* rows = rows_of(each))
      for (const Json& row : rows->items()) total[row.find("name")->text()] += share_of(row);
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [op, share] : total) order.emplace_back(-share, op);
  std::sort(order.begin(), order.end());
  std::vector<std::string> out;
  for (const auto& [share, op] : order) out.push_back(op);
  return out;
}

std::string op_bars(const std::vector<Served>& variants, const std::vector<std::string>& ops) {
  BarChart chart;
  chart.title = "Time of steps by operation";
  chart.value.label = "share of step time";
  chart.shares = true;
  const bool others = ops.size() > most_ops + 1;
  const std::size_t own = others ? most_ops : ops.size();
  for (std::size_t i = 0; i < own; ++i) chart.segments.push_back({ops[i], ""});
  if (others) chart.segments.push_back({std::to_string(ops.size() - own) + " others", ""});
  for (const Served& each : variants) {
    const Json* rows = rows_of(each);
    if (rows == nullptr) continue;
    Bar bar{each.name, std::vector<double>(chart.segments.size())};
    for (const Json& row : rows->items()) {
      const auto found = std::find(ops.begin(), ops.end(), row.find("name")->text());
      const auto index =
          std::min(static_cast<std::size_t>(found - ops.begin()), chart.segments.size() - 1);
      bar.values[index] += std::max(share_of(row), 0.0);
    }
    chart.bars.push_back(std::move(bar));
  }
  return svg(chart);
}

void op_table(HtmlPage& page, const Served& variant) {
  std::vector<std::vector<std::string>> table{{"operation", "kind", "bound", "rests on", "share"}};
  for (const Json& row : rows_of(variant)->items()) {
    table.push_back({row.find("name")->text(), row.find("kind")->text(), row.find("bound")->text(),
                     row.find("evidence")->text(), percent(share_of(row))});
  }
  page.table(table);
}

}  // namespace

void add_trend(HtmlPage& page, const std::vector<Served>& variants, const Json& parameters) {
  const std::string key = only_number(variants);
  if (key.empty()) return;
  const Axis x{key, unit_of_parameter(parameters, key)};
  page.heading("Against " + key);
  page.charts({trend("Time to first token", x, "ttft_s",
                     {{"TTFT p50", [](const Summary& s) { return s.ttft_s.p50; }},
                      {"TTFT p99", [](const Summary& s) { return s.ttft_s.p99; }}},
                     variants),
               trend("Time per output token", x, "tpot_s",
                     {{"TPOT p50", [](const Summary& s) { return s.tpot_s.p50; }},
                      {"TPOT p99", [](const Summary& s) { return s.tpot_s.p99; }}},
                     variants),
               trend("Output tokens per second", x, "",
                     {{"", [](const Summary& s) { return s.output_tokens_per_s; }}}, variants)});
}

void add_latencies(HtmlPage& page, const std::vector<Served>& variants) {
  std::vector<std::string> figures;
  for (const Latency& latency : latencies) {
    const std::string figure = quantiles(latency, drawn(variants));
    if (!figure.empty()) figures.push_back(figure);
  }
  if (figures.empty()) return;
  page.heading("Latencies");
  page.charts(figures);
  page.note("ITL counts every gap of every request; the others have one value per request.");
  note_undrawn(page, variants.size());
}

void add_timeline(HtmlPage& page, const std::vector<Served>& variants) {
  std::vector<std::string> figures;
  for (const Curve& curve : over_time) {
    const std::string figure = timeline(curve, drawn(variants));
    if (!figure.empty()) figures.push_back(figure);
  }
  if (figures.empty()) return;
  page.heading("Over time");
  page.charts(figures);
  page.note("Means over short spans of time, all replicas together.");
  note_undrawn(page, variants.size());
}

void add_breakdown(HtmlPage& page, const std::vector<Served>& variants) {
  const std::vector<Served> some = drawn(variants);
  const std::vector<std::string> ops = largest_ops(some);
  if (ops.empty()) return;
  page.heading("Where the time of a step goes");
  page.charts({op_bars(some, ops)});
  page.note(
      "From steps that ran at up to 64 evenly spaced moments of busy time, priced again op by op.");
  for (const Served& each : some) {
    if (rows_of(each) == nullptr) continue;
    page.open_details("Operations and evidence" + (each.name.empty() ? "" : ": " + each.name));
    op_table(page, each);
    page.close_details();
  }
  note_undrawn(page, variants.size());
}

}  // namespace rooflua::html
