#include "measure/html/sections.h"

#include <string>
#include <vector>

#include "base/json_text.h"
#include "measure/html/chart/chart.h"

namespace rooflua::html {

namespace {

bool flag(const Json& object, const char* key) {
  const Json* found = object.find(key);
  return found != nullptr && found->is_boolean() && found->boolean();
}

const std::vector<Json>& list_of(const Json& object, const char* key) {
  static const std::vector<Json> none;
  const Json* found = object.find(key);
  return found != nullptr && found->is_array() ? found->items() : none;
}

Axis axis_of(const Json& chart, const char* key) {
  Axis out;
  const Json* described = chart.find(key);
  if (described == nullptr) return out;
  out.label = text_of(*described, "label");
  out.unit = text_of(*described, "unit");
  if (flag(*described, "log")) out.kind = Axis::Kind::log;
  return out;
}

std::vector<ChartSeries> series_of(const Json& chart) {
  std::vector<ChartSeries> out;
  for (const Json& each : list_of(chart, "series")) {
    ChartSeries series;
    series.name = text_of(each, "name");
    for (const Json& point : list_of(each, "points")) {
      series.points.push_back(
          {point.find("x")->number(), point.find("y")->number(), text_of(point, "note")});
    }
    out.push_back(std::move(series));
  }
  return out;
}

/// {title, x = {label, unit}, segments = {names}, bars = {{name, total, values}}}
std::string bars_of(const Json& described) {
  BarChart chart;
  chart.title = text_of(described, "title");
  chart.value = axis_of(described, "x");
  for (const Json& name : list_of(described, "segments"))
    chart.segments.push_back({name.text(), ""});
  for (const Json& each : list_of(described, "bars")) {
    Bar bar{text_of(each, "name"), {}, text_of(each, "total")};
    for (const Json& value : list_of(each, "values")) bar.values.push_back(value.number());
    chart.bars.push_back(std::move(bar));
  }
  return svg(chart);
}

std::string drawn(const Json& described) {
  if (text_of(described, "kind") == "bar") return bars_of(described);
  if (text_of(described, "kind") == "line") {
    LineChart chart;
    chart.title = text_of(described, "title");
    chart.x = axis_of(described, "x");
    chart.y = axis_of(described, "y");
    chart.series = series_of(described);
    chart.dots = true;
    return svg(chart);
  }
  ScatterChart chart;
  chart.title = text_of(described, "title");
  chart.x = axis_of(described, "x");
  chart.y = axis_of(described, "y");
  chart.series = series_of(described);
  chart.diagonal = flag(described, "diagonal");
  for (const Json& band : list_of(described, "bands")) chart.bands.push_back(band.number());
  return svg(chart);
}

std::vector<std::vector<std::string>> rows_of(const Json& table) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : table.items()) {
    rows.emplace_back();
    for (const Json& cell : row.items()) rows.back().push_back(cell.text());
  }
  return rows;
}

}  // namespace

void add_sections(HtmlPage& page, const Json& sections) {
  if (!sections.is_array()) return;
  for (const Json& section : sections.items()) {
    page.heading(text_of(section, "heading"));
    if (const std::string note = text_of(section, "note"); !note.empty()) page.paragraph(note);
    const std::string folded = text_of(section, "folded");
    if (!folded.empty()) page.open_details(folded);
    for (const Json& table : list_of(section, "tables")) page.table(rows_of(table));
    if (!folded.empty()) page.close_details();
    std::vector<std::string> figures;
    for (const Json& chart : list_of(section, "charts")) figures.push_back(drawn(chart));
    if (!figures.empty()) page.charts(figures);
    if (const std::string text = text_of(section, "text"); !text.empty()) page.preformatted(text);
  }
}

}  // namespace rooflua::html
