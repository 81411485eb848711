// Charts of a report in HTML: latencies, the engine over time, steps op by op.

#include <algorithm>
#include <cmath>
#include <map>

#include "measure/html/chart/chart.h"
#include "measure/html/choice.h"
#include "measure/html/parts.h"
#include "measure/html/trend.h"
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
                               {"output_tokens_per_s", "Output tokens per second", "tokens/s", 1},
                               {"ready", "Replicas that are ready", "replicas", 1},
                               {"starting", "Replicas that start", "replicas", 1}};

const Json* sketch_part(const Served& variant, const char* part, const char* key) {
  if (variant.drawing == nullptr || !variant.drawing->sketch.is_object()) return nullptr;
  const Json* found = variant.drawing->sketch.find(part);
  return found == nullptr ? nullptr : found->find(key);
}

std::string quantiles(const Latency& latency, const std::vector<Served>& variants, Choice& choice) {
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
  chart.limits = slo_limits(latency.key, variants, unit.per_s);
  return choice.drawn(std::move(chart));
}

std::string timeline(const Curve& curve, const std::vector<Served>& variants, Choice& choice) {
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
  return any ? choice.drawn(std::move(chart)) : "";
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

std::string op_bars(const std::vector<Served>& variants, const std::vector<std::string>& ops,
                    Choice& choice) {
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
    Bar bar{each.name, std::vector<double>(chart.segments.size())};
    for (const Json& row : rows == nullptr ? Json::Array() : rows->items()) {
      const auto found = std::find(ops.begin(), ops.end(), row.find("name")->text());
      const auto index =
          std::min(static_cast<std::size_t>(found - ops.begin()), chart.segments.size() - 1);
      bar.values[index] += std::max(share_of(row), 0.0);
    }
    chart.bars.push_back(std::move(bar));
  }
  return choice.drawn(std::move(chart));
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

void add_latencies(HtmlPage& page, const std::vector<Served>& variants, Choice& choice) {
  std::vector<std::string> figures;
  for (const Latency& latency : latencies) {
    const std::string figure = quantiles(latency, variants, choice);
    if (!figure.empty()) figures.push_back(figure);
  }
  if (figures.empty()) return;
  page.heading("Latencies");
  page.charts(figures);
  page.note("ITL counts every gap of every request; the others have one value per request.");
  choice.note(page);
}

void add_timeline(HtmlPage& page, const std::vector<Served>& variants, Choice& choice) {
  std::vector<std::string> figures;
  for (const Curve& curve : over_time) {
    const std::string figure = timeline(curve, variants, choice);
    if (!figure.empty()) figures.push_back(figure);
  }
  if (figures.empty()) return;
  page.heading("Over time");
  page.charts(figures);
  page.note("Means over short spans of time, all replicas together.");
  choice.note(page);
}

void add_breakdown(HtmlPage& page, const std::vector<Served>& variants, Choice& choice) {
  const std::vector<std::string> ops = largest_ops(variants);
  if (ops.empty()) return;
  page.heading("Where the time of a step goes");
  page.charts({op_bars(variants, ops, choice)});
  page.note(
      "From steps that ran at up to 64 evenly spaced moments of busy time, priced again op by op.");
  choice.note(page);
  std::size_t listed = 0;
  for (const Served& each : variants) {
    if (rows_of(each) == nullptr || ++listed > most_drawn) continue;
    page.open_details("Operations and evidence" + (each.name.empty() ? "" : ": " + each.name));
    op_table(page, each);
    page.close_details();
  }
  if (listed > most_drawn)
    page.note("Operations are listed of the first " + std::to_string(most_drawn) + " of " +
              std::to_string(listed) + " variants.");
}

}  // namespace rooflua::html
