#include "app/validate_html.h"

#include <vector>

#include "base/json_text.h"
#include "measure/chart.h"
#include "measure/html_page.h"

namespace rooflua::app {

namespace {

const std::vector<Json>& list_of(const Json& object, const char* key) {
  static const std::vector<Json> none;
  const Json* found = object.find(key);
  return found != nullptr && found->is_array() ? found->items() : none;
}

/// Measured to the right, simulated upwards, agreement on the diagonal.
std::string scatter(const Json& described) {
  ScatterChart chart;
  chart.title = text_of(described, "title");
  chart.x = {.label = "measured", .unit = text_of(described, "unit"), .kind = Axis::Kind::log};
  chart.y = {.label = "simulated", .unit = text_of(described, "unit"), .kind = Axis::Kind::log};
  chart.diagonal = true;
  chart.bands = {0.1, 0.25};
  for (const Json& each : list_of(described, "series")) {
    ChartSeries series;
    series.name = text_of(each, "name");
    for (const Json& point : list_of(each, "points")) {
      series.points.push_back(
          {point.find("x")->number(), point.find("y")->number(), text_of(point, "note")});
    }
    chart.series.push_back(std::move(series));
  }
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

std::string validation_page(const Json& described) {
  HtmlPage page(text_of(described, "title"));
  page.lead(text_of(described, "lead"));
  for (const Json& section : list_of(described, "sections")) {
    page.heading(text_of(section, "heading"));
    if (const std::string note = text_of(section, "note"); !note.empty()) page.paragraph(note);
    for (const Json& table : list_of(section, "tables")) page.table(rows_of(table));
    std::vector<std::string> figures;
    for (const Json& chart : list_of(section, "charts")) figures.push_back(scatter(chart));
    if (!figures.empty()) page.charts(figures);
    if (const std::string text = text_of(section, "text"); !text.empty()) page.preformatted(text);
  }
  return page.text();
}

}  // namespace rooflua::app
