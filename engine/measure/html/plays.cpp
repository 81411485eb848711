// Single plays of a run, request by request (measure/record/play_sketch.h).

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "measure/html/chart/chart.h"
#include "measure/html/parts.h"
#include "measure/write/table.h"

namespace rooflua::html {

namespace {

enum Part : std::size_t { tool, queue, load, prefill, decode };
const std::vector<BarPart> parts = {
    {"tool delay", "s8"}, {"queue", "s2"}, {"KV load", "s6"}, {"prefill", "s3"}, {"decode", "s1"}};

const Json* plays_of(const Served& variant) {
  if (variant.drawing == nullptr) return nullptr;
  const Json* plays = variant.drawing->sketch.find("plays");
  return plays != nullptr && plays->is_array() && !plays->items().empty() ? plays : nullptr;
}

/// Times of one row, in the unit of the chart, and the sentence that says them.
GanttRow row_of(const Json& described, double per_s) {
  GanttRow row;
  const auto time = [&](const char* key) { return number_of(described, key) * per_s; };
  const double sent = time("sent_s"), scheduled = time("scheduled_s"), load_time = time("load_s");
  const double first = time("first_token_s"), end = time("end_s");
  row.label = std::to_string(described.find("row")->integer());
  row.marked = described.find("from_s") != nullptr;
  if (row.marked) {
    row.from = time("from_s");
    row.spans.push_back({row.from, sent, Part::tool, true});
  }
  row.spans.push_back({sent, scheduled - load_time, Part::queue});
  row.spans.push_back({scheduled - load_time, scheduled, Part::load});
  row.spans.push_back({scheduled, first, Part::prefill});
  row.spans.push_back({first, end, Part::decode});
  row.note = "row " + row.label + ", request " +
             std::to_string(described.find("request")->integer()) +
             (row.marked ? ", on the critical path" : "");
  for (const GanttSpan& span : row.spans)
    if (span.to > span.from)
      row.note += ", " + parts[span.part].name + " " + duration((span.to - span.from) / per_s);
  return row;
}

/// "the slowest", "the median and the slowest"
std::string what_of(const Json& play) {
  std::string out;
  for (const Json& each : play.find("what")->items()) {
    const std::string& word = each.text();
    const bool near = word == "median" && play.find("median_s") != nullptr;
    out += (out.empty() ? "" : " and ");
    out += word == "asked" ? "asked for" : (near ? "near the " : "the ") + word;
  }
  return out;
}

std::string figure_of_play(const Json& play) {
  GanttChart chart;
  const double play_s = play.find("play_s")->number();
  const TimeUnit unit = time_unit(play_s);
  const std::string name = text_of(play, "name");
  chart.title = "Play " + std::to_string(play.find("play")->integer()) +
                (name.empty() ? "" : " " + name) + ", " + what_of(play) + ": " + duration(play_s);
  chart.x = {"time from its start", unit.name, Axis::Kind::linear, 0.0, play_s * unit.per_s, {}};
  chart.parts = parts;
  chart.mark = "critical path";
  std::map<std::int64_t, std::size_t> drawn;  // by row: its place
  for (const Json& each : play.find("rows")->items()) {
    chart.rows.push_back(row_of(each, unit.per_s));
    const Json* after = each.find("after");
    const auto found = after == nullptr ? drawn.end() : drawn.find(after->integer());
    if (found != drawn.end()) chart.rows.back().after = found->second;
    drawn[each.find("row")->integer()] = chart.rows.size() - 1;
  }
  return svg(chart);
}

/// What the figure leaves out; "" where it is nothing.
std::string left_of(const Json& play) {
  const std::int64_t path = play.find("path_left")->integer();
  const std::int64_t beside = play.find("beside_left")->integer();
  if (path == 0 && beside == 0) return "";
  std::string out = "Of play " + std::to_string(play.find("play")->integer()) + " are not drawn: ";
  if (path > 0)
    out += grouped(path) + " shorter rows of the critical path, together " +
           duration(play.find("path_left_s")->number());
  if (beside > 0) out += (path > 0 ? "; " : "") + grouped(beside) + " shorter rows beside it";
  return out + ".";
}

void add_plays_of(HtmlPage& page, const Json& plays) {
  std::vector<std::string> figures;
  for (const Json& each : plays.items()) figures.push_back(figure_of_play(each));
  page.charts(figures);
  for (const Json& each : plays.items()) {
    if (const std::string left = left_of(each); !left.empty()) page.note(left);
    const Json* median_s = each.find("median_s");
    if (median_s != nullptr)
      page.note("The median of the plays is " + duration(median_s->number()) + "; play " +
                std::to_string(each.find("play")->integer()) + " is the nearest that was kept.");
  }
}

}  // namespace

void add_single_plays(HtmlPage& page, const std::vector<Served>& variants) {
  std::size_t drawn = 0, known = 0;
  for (const Served& each : variants) {
    const Json* plays = plays_of(each);
    if (plays == nullptr) continue;
    if (known++ == 0) page.heading("Single plays");
    if (known > most_drawn) continue;
    ++drawn;
    if (!each.name.empty()) page.open_details(each.name);
    add_plays_of(page, *plays);
    if (!each.name.empty()) page.close_details();
  }
  if (known == 0) return;
  page.note(
      "A line per request, numbered by row. --why play:N tells where the time of a play went.");
  if (known > drawn)
    page.note("Plays are drawn of the first " + std::to_string(drawn) + " of " +
              std::to_string(known) + " variants.");
}

}  // namespace rooflua::html
