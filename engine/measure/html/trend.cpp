#include "measure/html/trend.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "measure/html/parameter_unit.h"
#include "measure/write/table.h"

namespace rooflua::html {

namespace {

using Value = std::function<double(const Summary&)>;

struct TrendLine {
  const char* name;
  Value value;
};

/// One chart of a figure, or of several with the same unit.
struct Trend {
  std::string title, unit;  // unit: of the values; "s" is shown as a unit that fits, "1" as percent
  std::vector<TrendLine> lines;
  std::string_view latency = {};  // "ttft_s": whose limit of the SLO is drawn
};

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

double own_value(const Summary& run, const std::string& name) {
  for (const OwnMetric& each : run.own) {
    if (each.name == name) return each.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// What is drawn: TTFT, TPOT, throughput; under an SLO goodput, and E2E if it limits that; own
/// metrics.
std::vector<Trend> trends(const std::vector<Served>& variants, const std::vector<OwnUnit>& own) {
  std::vector<Trend> out{{"Time to first token",
                          "s",
                          {{"TTFT p50", [](const Summary& s) { return s.ttft_s.p50; }},
                           {"TTFT p99", [](const Summary& s) { return s.ttft_s.p99; }}},
                          "ttft_s"},
                         {"Time per output token",
                          "s",
                          {{"TPOT p50", [](const Summary& s) { return s.tpot_s.p50; }},
                           {"TPOT p99", [](const Summary& s) { return s.tpot_s.p99; }}},
                          "tpot_s"},
                         {"Output tokens per second", "tokens/s", {{"", [](const Summary& s) {
                                                                      return s.output_tokens_per_s;
                                                                    }}}}};
  if (variants.front().summary.slo.e2e_s) {
    out.push_back({"Whole request",
                   "s",
                   {{"E2E p50", [](const Summary& s) { return s.e2e_s.p50; }},
                    {"E2E p99", [](const Summary& s) { return s.e2e_s.p99; }}},
                   "e2e_s"});
  }
  if (std::any_of(variants.begin(), variants.end(),
                  [](const Served& each) { return each.summary.goodput_per_s.has_value(); })) {
    out.push_back({"Goodput: requests per second within the SLO",
                   "requests/s",
                   {{"", [](const Summary& s) {
                       return s.goodput_per_s.value_or(std::numeric_limits<double>::quiet_NaN());
                     }}}});
  }
  for (const OwnUnit& each : own)
    out.push_back({each.name, each.unit, {{"", [name = each.name](const Summary& s) {
                                             return own_value(s, name);
                                           }}}});
  return out;
}

struct Unit {
  std::string name;
  double per_one;
};

/// In which unit the values of a trend stand at their axis.
Unit unit_of(const Trend& trend, const std::vector<Served>& variants) {
  if (trend.unit == "1") return {"%", 100};
  if (trend.unit != "s") return {trend.unit, 1};
  double largest = 0;
  for (const TrendLine& line : trend.lines) {
    for (const Served& each : variants) {
      const double value = std::abs(line.value(each.summary));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  }
  const TimeUnit unit = time_unit(largest);
  return {unit.name, unit.per_s};
}

constexpr double two_decades = 100;  // beyond, an axis is logarithmic

/// @param x_axis  of the parameter whose path is its label
std::string drawn(const Trend& trend, const Axis& x_axis, const std::vector<Served>& variants) {
  LineChart chart;
  chart.title = trend.title;
  chart.x = x_axis;
  const Unit unit = unit_of(trend, variants);
  chart.y.unit = unit.name;
  double least = 1e300, largest = 0, low = 1e300, high = -1e300;
  for (const TrendLine& line : trend.lines) {
    ChartSeries series{line.name, {}, 0};
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const double x = variants[i].parameters->find(x_axis.label)->number();
      ChartPoint point{x, line.value(variants[i].summary) * unit.per_one, ""};
      point.variant = static_cast<int>(i);
      series.points.push_back(point);
      if (std::isfinite(point.y))
        least = std::min(least, point.y), largest = std::max(largest, point.y);
      low = std::min(low, x), high = std::max(high, x);
    }
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
    chart.series.push_back(std::move(series));
  }
  if (!trend.latency.empty()) chart.limits = slo_limits(trend.latency, variants, unit.per_one);
  if (low > 0 && high > 10 * low) chart.x.kind = Axis::Kind::log;
  chart.x.min = chart.x.kind == Axis::Kind::log ? low / 1.06 : low - 0.02 * (high - low);
  chart.x.max = chart.x.kind == Axis::Kind::log ? high * 1.06 : high + 0.02 * (high - low);
  if (variants.size() <= 8)
    for (const ChartPoint& point : chart.series[0].points) chart.x.ticks.push_back(point.x);
  if (least > 0 && largest > two_decades * least)
    chart.y.kind = Axis::Kind::log;
  else if (least >= 0)
    chart.y.min = 0;
  chart.dots = true;
  return svg(chart);
}

/// A bar for each variant; of a trend with several lines its last one.
std::string bars(const Trend& trend, const std::vector<Served>& variants, Choice& choice) {
  const TrendLine& line = trend.lines.back();
  const Unit unit = unit_of(trend, variants);
  BarChart chart;
  chart.title = *line.name == '\0' ? trend.title : line.name;
  chart.value.unit = unit.name;
  chart.segments = {{"", ""}};
  for (const Served& each : variants)
    chart.bars.push_back({each.name, {line.value(each.summary) * unit.per_one}});
  return choice.drawn(std::move(chart));
}

}  // namespace

std::vector<Limit> slo_limits(std::string_view latency, const std::vector<Served>& variants,
                              double per_s) {
  const Slo& slo = variants.front().summary.slo;
  const std::optional<double>& limit_s = latency == "ttft_s"   ? slo.ttft_s
                                         : latency == "tpot_s" ? slo.tpot_s
                                                               : slo.e2e_s;
  if (!limit_s || latency == "itl_s") return {};
  return {{*limit_s * per_s, "SLO"}};
}

bool add_trend(HtmlPage& page, const std::vector<Served>& variants, const Json& parameters,
               const std::vector<OwnUnit>& own) {
  const std::string key = only_number(variants);
  if (key.empty()) return false;
  const Axis x{key, unit_of_parameter(parameters, key)};
  page.heading("Against " + key);
  std::vector<std::string> figures;
  for (const Trend& each : trends(variants, own)) figures.push_back(drawn(each, x, variants));
  page.charts(figures);
  return true;
}

void add_bars(HtmlPage& page, const std::vector<Served>& variants, const std::vector<OwnUnit>& own,
              Choice& choice) {
  if (variants.size() < 2) return;
  page.heading("By variant");
  std::vector<std::string> figures;
  for (const Trend& each : trends(variants, own)) figures.push_back(bars(each, variants, choice));
  page.charts(figures);
  choice.note(page);
}

}  // namespace rooflua::html
