#include "measure/html/choice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace rooflua::html {

namespace {

constexpr std::size_t many_variants = 60;  // of more, curves have fewer points
constexpr std::size_t most_points = 128, most_points_of_many = 32;
constexpr const char* axis_kinds[] = {"linear", "log", "percentile"};

/// Three significant digits are finer than a pixel.
Json rounded(double value) {
  if (!std::isfinite(value)) return {};
  char text[40];
  std::snprintf(text, sizeof text, "%.3g", value);
  return std::strtod(text, nullptr);
}

Json part_of(const BarPart& part, std::size_t position) {
  Json out = Json::array();
  out.push_back(part.name);
  out.push_back(part.style.empty() ? "s" + std::to_string(position % 8 + 1) : part.style);
  return out;
}

/// Steps of equal width: [end, width, [y, ...]], with neighbours joined until they are few enough.
Json steps_of(const ChartSeries& series, std::size_t most) {
  const std::size_t count = series.points.size() - 1;  // the last point repeats a value at the end
  const std::size_t joined = (count + most - 1) / most;
  Json ys = Json::array();
  for (std::size_t i = 0; i < count; i += joined) {
    double sum = 0;
    const std::size_t end = std::min(i + joined, count);
    for (std::size_t j = i; j < end; ++j) sum += series.points[j].y;
    ys.push_back(rounded(sum / static_cast<double>(end - i)));
  }
  Json out = Json::array();
  out.push_back(rounded(series.points.back().x));
  const double width = count > 1 ? series.points[1].x - series.points[0].x : 0;
  out.push_back(rounded(width * static_cast<double>(joined)));
  out.push_back(std::move(ys));
  return out;
}

/// Points whose places are the first of the longest curve's, but for the last point.
Json points_of(const ChartSeries& series, std::size_t every) {
  Json ys = Json::array();
  for (std::size_t i = 0; i + 1 < series.points.size(); i += every)
    ys.push_back(rounded(series.points[i].y));
  ys.push_back(rounded(series.points.back().y));
  Json out = Json::array();
  out.push_back(series.points.back().x);
  out.push_back(0.0);
  out.push_back(std::move(ys));
  return out;
}

Json curves_of(const LineChart& chart, std::size_t longest) {
  const std::size_t most = chart.series.size() > many_variants ? most_points_of_many : most_points;
  Json curves = Json::array();
  for (const ChartSeries& each : chart.series) {
    if (each.points.size() < 2) {
      curves.push_back(0.0);
    } else {
      curves.push_back(chart.steps ? steps_of(each, most)
                                   : points_of(each, (longest + most - 1) / most));
    }
  }
  return curves;
}

Json kept(const LineChart& chart) {
  Json out = Json::object();
  out["kind"] = axis_kinds[static_cast<int>(chart.y.kind)];
  out["unit"] = chart.y.unit;
  out["label"] = chart.y.label;
  out["steps"] = chart.steps;
  out["x"] = Json::object();
  out["x"]["kind"] = axis_kinds[static_cast<int>(chart.x.kind)];
  out["x"]["unit"] = chart.x.unit;
  out["x"]["label"] = chart.x.label;
  out["limits"] = Json::array();
  for (const Limit& limit : chart.limits) {
    Json pair = Json::array();
    pair.push_back(limit.value);
    pair.push_back(limit_text(limit, chart.y));
    out["limits"].push_back(std::move(pair));
  }
  const ChartSeries* longest = nullptr;
  for (const ChartSeries& each : chart.series)
    if (longest == nullptr || each.points.size() > longest->points.size()) longest = &each;
  const std::size_t points = longest->points.size();
  out["xs"] = Json::array();
  if (!chart.steps) {
    const std::size_t most =
        chart.series.size() > many_variants ? most_points_of_many : most_points;
    for (std::size_t i = 0; i + 1 < points; i += (points + most - 1) / most)
      out["xs"].push_back(longest->points[i].x);
  }
  out["curves"] = curves_of(chart, points);
  return out;
}

Json kept(const BarChart& chart) {
  Json out = Json::object();
  out["shares"] = chart.shares;
  out["unit"] = chart.value.unit;
  out["label"] = chart.value.label;
  out["parts"] = Json::array();
  for (std::size_t i = 0; i < chart.segments.size(); ++i)
    out["parts"].push_back(part_of(chart.segments[i], i));
  out["values"] = Json::array();
  for (const Bar& bar : chart.bars) {
    Json values = Json::array();
    for (const double value : bar.values) values.push_back(rounded(value));
    out["values"].push_back(std::move(values));
  }
  return out;
}

}  // namespace

Choice::Choice(const std::vector<Served>& variants) {
  for (const Served& each : variants) names_.push_back(each.name.empty() ? "run" : each.name);
}

std::string Choice::keep(Json chart) {
  charts_.push_back(std::move(chart));
  return " data-draw=\"" + std::to_string(charts_.size() - 1) + "\"";
}

std::string Choice::drawn(LineChart chart) {
  if (chart.series.size() > most_drawn) {
    chart.attributes = keep(kept(chart));
    chart.series.resize(most_drawn);
  }
  return svg(chart);
}

std::string Choice::drawn(BarChart chart) {
  if (chart.bars.size() > most_drawn) {
    chart.attributes = keep(kept(chart));
    chart.bars.resize(most_drawn);
  }
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    chart.bars[i].variant = chart.bars.size() > 1 ? static_cast<int>(i) : -1;
  return svg(chart);
}

void Choice::note(HtmlPage& page) const {
  if (needed())
    page.choosable("Drawn are the first " + std::to_string(most_drawn) + " of " +
                   std::to_string(names_.size()) +
                   " variants. Where scripts run, the list at the top of the page chooses others.");
}

std::string Choice::json() const {
  if (charts_.empty()) return "";
  Json out = Json::object();
  out["variants"] = Json::array();
  for (const std::string& name : names_) out["variants"].push_back(name);
  out["drawn"] = static_cast<double>(most_drawn);
  out["charts"] = Json::array();
  for (const Json& chart : charts_) out["charts"].push_back(chart);
  return dump_json(out);
}

}  // namespace rooflua::html
