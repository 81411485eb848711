#include "measure/html/sections.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "measure/html/chart/chart.h"
#include "measure/html/grid.h"
#include "measure/html/parameter_unit.h"
#include "measure/html/parts.h"
#include "measure/write/evidence_text.h"

namespace rooflua::html {

namespace {

const std::vector<Json>& list_of(const Json& object, const char* key) {
  static const std::vector<Json> none;
  const Json* found = object.find(key);
  return found != nullptr && found->is_array() ? found->items() : none;
}

/// Colours by the name of a series. A name gets the first colour that is free on the whole page;
/// if none is, the first that is free in its chart.
class Colours {
 public:
  void choose(std::vector<ChartSeries>& series) {
    std::set<int> here;
    for (const ChartSeries& each : series)
      if (const auto known = of_name_.find(each.name); known != of_name_.end())
        here.insert(known->second);
    for (ChartSeries& each : series) {
      const auto [entry, is_new] = of_name_.try_emplace(each.name, 0);
      if (is_new) entry->second = free_colour(here);
      here.insert(entry->second);
      each.style = entry->second;
    }
  }

 private:
  int free_colour(const std::set<int>& here) {
    int colour = 1;
    while (colour <= distinct && used_.count(colour) > 0) ++colour;
    if (colour > distinct)
      for (colour = 1; here.count(colour) > 0;) ++colour;
    used_.insert(colour);
    return colour;
  }

  static constexpr int distinct = 8;
  std::map<std::string, int> of_name_;
  std::set<int> used_;
};

/// What the sections of a page have in common.
struct Context {
  const Json& parameters;
  Colours colours = {};
};

Axis axis_of(const Json& chart, const char* key, const Context& page) {
  Axis out;
  const Json* described = chart.find(key);
  if (described == nullptr) return out;
  out.label = text_of(*described, "label");
  out.unit = text_of(*described, "unit");
  if (out.unit.empty()) out.unit = unit_of_parameter(page.parameters, out.label);
  if (is_true(*described, "log")) out.kind = Axis::Kind::log;
  for (const Json& tick : list_of(*described, "ticks")) out.ticks.push_back(tick.number());
  return out;
}

std::vector<ChartSeries> series_of(const Json& chart, Context& page) {
  std::vector<ChartSeries> out;
  for (const Json& each : list_of(chart, "series")) {
    ChartSeries series;
    series.name = text_of(each, "name");
    for (const Json& point : list_of(each, "points")) {
      ChartPoint drawn{point.find("x")->number(), point.find("y")->number(),
                       text_of(point, "note")};
      drawn.variant = static_cast<int>(number_of(point, "variant", -1));
      if (const Json* low = point.find("low")) drawn.low = low->number();
      if (const Json* high = point.find("high")) drawn.high = high->number();
      series.points.push_back(std::move(drawn));
    }
    out.push_back(std::move(series));
  }
  page.colours.choose(out);
  return out;
}

std::vector<Limit> limits_of(const Json& chart, const char* key = "limits") {
  std::vector<Limit> out;
  for (const Json& each : list_of(chart, key))
    out.push_back({each.find("value")->number(), text_of(each, "label"), !is_true(each, "plain")});
  return out;
}

/// {title, x = {label, unit}, segments = {names}, bars = {{name, total, values}}}
std::string bars_of(const Json& described, const Context& page) {
  BarChart chart;
  chart.title = text_of(described, "title");
  chart.value = axis_of(described, "x", page);
  for (const Json& name : list_of(described, "segments"))
    chart.segments.push_back({name.text(), ""});
  for (const Json& each : list_of(described, "bars")) {
    Bar bar{text_of(each, "name"), {}, text_of(each, "total")};
    for (const Json& value : list_of(each, "values")) bar.values.push_back(value.number());
    chart.bars.push_back(std::move(bar));
  }
  return svg(chart);
}

/// {title, x = {label, unit}, segments = {names}, rows = {{label, note, open, spans = {{from, to,
/// part, note, open}}}}}
std::string gantt_of(const Json& described, const Context& page) {
  GanttChart chart;
  chart.title = text_of(described, "title");
  chart.x = axis_of(described, "x", page);
  for (const Json& name : list_of(described, "segments"))
    chart.parts.push_back({name.text(), "s" + std::to_string(chart.parts.size() + 1)});
  for (const Json& each : list_of(described, "rows")) {
    GanttRow row{text_of(each, "label"), text_of(each, "note"), false, {}};
    for (const Json& own : list_of(each, "spans")) {
      const std::int64_t part = whole_of(own, "part");
      if (part >= 0 && static_cast<std::size_t>(part) < chart.parts.size())
        row.spans.push_back({number_of(own, "from"), number_of(own, "to"),
                             static_cast<std::size_t>(part), false, text_of(own, "note"),
                             text_of(own, "open")});
    }
    row.open = text_of(each, "open");
    chart.rows.push_back(std::move(row));
  }
  return svg(chart);
}

std::string drawn(const Json& described, Context& page) {
  if (text_of(described, "kind") == "gantt") return gantt_of(described, page);
  if (text_of(described, "kind") == "bar") return bars_of(described, page);
  if (text_of(described, "kind") == "line") {
    LineChart chart;
    chart.title = text_of(described, "title");
    chart.x = axis_of(described, "x", page);
    chart.y = axis_of(described, "y", page);
    chart.series = series_of(described, page);
    chart.limits = limits_of(described);
    chart.marks = limits_of(described, "marks");
    chart.dots = true;
    return svg(chart);
  }
  ScatterChart chart;
  chart.title = text_of(described, "title");
  chart.x = axis_of(described, "x", page);
  chart.y = axis_of(described, "y", page);
  chart.series = series_of(described, page);
  chart.limits = limits_of(described);
  chart.diagonal = is_true(described, "diagonal");
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

HtmlText html_text(const Json& described) {
  HtmlText out{{}, text_of(described, "key")};
  for (const Json& each : list_of(described, "lines")) out.lines.push_back(each.text());
  return out;
}

/// What a section says before its tables and charts.
void add_words(HtmlPage& page, const Json& section) {
  if (const Json* lead = section.find("lead")) page.lead(html_text(*lead));
  std::vector<std::pair<std::string, HtmlText>> facts;
  for (const Json& each : list_of(section, "facts"))
    facts.emplace_back(text_of(each, "title"), html_text(*each.find("text")));
  page.facts(facts);
  std::vector<HtmlField> fields;
  for (const Json& each : list_of(section, "fields"))
    fields.push_back({text_of(each, "label"), text_of(each, "key"), text_of(each, "value"),
                      text_of(each, "unit")});
  if (!fields.empty()) page.fields(fields);
  if (const std::string note = text_of(section, "note"); !note.empty()) page.paragraph(note);
  for (const Json& each : list_of(section, "paragraphs")) page.paragraph(each.text());
}

void add_tables(HtmlPage& page, const Json& section) {
  for (const Json& table : list_of(section, "tables")) page.table(rows_of(table));
  const Json* cards = section.find("cards");
  if (cards == nullptr) return;
  std::vector<std::string> head;
  for (const Json& each : list_of(*cards, "head")) head.push_back(each.text());
  std::vector<std::vector<HtmlText>> rows;
  for (const Json& row : list_of(*cards, "rows")) {
    rows.emplace_back();
    for (const Json& cell : row.items()) rows.back().push_back(html_text(cell));
  }
  page.cards(head, rows);
}

std::string evidence_of(const Json& described) {
  std::vector<std::string> names;
  for (const Json& each : list_of(described, "names")) names.push_back(each.text());
  std::vector<EvidenceShares> shares;
  for (const Json& each : list_of(described, "shares")) shares.push_back(shares_from_json(each));
  return evidence_bars(names, shares);
}

}  // namespace

void add_sections(HtmlPage& page, const Json& sections, const Json& parameters, bool below) {
  if (!sections.is_array()) return;
  Context context{parameters};
  int grids = 0;
  for (const Json& section : sections.items()) {
    const std::string heading = text_of(section, "heading");
    below ? page.subheading(heading) : page.heading(heading);
    add_words(page, section);
    const std::string folded = text_of(section, "folded");
    if (folded.empty()) add_tables(page, section);
    for (const Json& grid : list_of(section, "grids"))
      page.grid(grid_html(grid, parameters, ++grids));
    std::vector<std::string> figures;
    if (const Json* evidence = section.find("evidence")) figures.push_back(evidence_of(*evidence));
    for (const Json& chart : list_of(section, "charts")) figures.push_back(drawn(chart, context));
    if (!figures.empty()) page.charts(figures);
    if (!folded.empty()) page.open_details(folded);
    if (!folded.empty()) add_tables(page, section);
    if (const std::string text = text_of(section, "text"); !text.empty()) page.preformatted(text);
    if (!folded.empty()) page.close_details();
  }
}

std::string described_page(const Json& described) {
  HtmlPage page(described.find("title")->text());
  page.lead(described.find("lead")->text());
  add_sections(page, *described.find("sections"));
  return page.text();
}

}  // namespace rooflua::html
