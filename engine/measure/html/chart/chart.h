#pragma once
// Charts as inline SVG: what a report in HTML shows. A chart is a plain description; svg() draws it
// as a <figure> with title, legend and picture. Same description, same bytes; user text is escaped.
//
// Colours are classes (s1..s8 for series, e-measured..e-assumed for evidence) that the style sheet
// of measure/html/page.h gives values to, for light and for dark. Series differ by colour, and by
// dash or marker, too. Points that an axis cannot place (NaN, 0 on a log axis) are left out, and
// a line is broken there.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "measure/html/chart/scale.h"
#include "measure/html/chart/series.h"

namespace rooflua {

/// A value that a line across the chart shows: a limit of the SLO. The legend names it, with the
/// value in the unit of the axis, "SLO 1000 ms"; so its text lies over no line.
struct Limit {
  double value;
  std::string label;       // "SLO"
  bool with_value = true;  // false: the label says everything
};

/// "SLO 1000 ms": what the legend says of a limit on that axis.
std::string limit_text(const Limit& limit, const Axis& axis);

/// Lines; with `steps` a value holds until the next point, with `dots` points are marked.
struct LineChart {
  std::string title;
  Axis x, y;
  std::vector<ChartSeries> series;
  bool steps = false;
  bool dots = false;
  std::vector<Limit> limits = {};  // drawn where they are near the data; the legend says all
  std::vector<Limit> marks = {};   // values of x that a line from top to bottom shows
  std::string attributes = {};     // of the figure: what a script knows it by
};

/// Markers. `diagonal` draws y = x, and `bands` the pairs of lines y = x (1 + b) and y = x / (1 +
/// b) around it (0.1: a factor of 1.1 each way), shaded.
struct ScatterChart {
  std::string title;
  Axis x, y;
  std::vector<ChartSeries> series;
  bool diagonal = false;
  std::vector<double> bands;
  std::vector<Limit> limits = {};
};

/// One part of every bar. `style` is a class, "s3" or "e-measured"; "" = chosen by position.
struct BarPart {
  std::string name;
  std::string style;
};

struct Bar {
  std::string name;
  std::vector<double> values;  // one per part, >= 0
  std::string total = {};      // what stands at its end; "" = the sum of the values
  int variant = -1;            // as of points
};

/// Horizontal bars, names above them. With `shares` each bar is as long as the others. Bars of one
/// part may be negative.
struct BarChart {
  std::string title;
  Axis value;
  std::vector<BarPart> segments;
  std::vector<Bar> bars;
  bool shares = false;
  std::string attributes = {};  // as of lines
};

/// A stretch of time in a row of a Gantt chart, of one of the chart's parts.
struct GanttSpan {
  double from = 0, to = 0;
  std::size_t part = 0;
  bool thin = false;  // a pause between what runs
  std::string note = {};  // in the tooltip
  std::string open = {};  // what a page opens on a click: attribute data-open
};

struct GanttRow {
  std::string label;
  std::string note;     // in the tooltip
  bool marked = false;  // framed, and its label in the colour of text
  std::vector<GanttSpan> spans;
  std::optional<std::size_t> after = {};  // the row above that it waited for, until `from`
  double from = 0;
  std::string open = {};  // as that of a span
};

/// Rows one below the other over a common time, and lines from marked rows to those that waited for
/// them.
struct GanttChart {
  std::string title;
  Axis x;
  std::vector<BarPart> parts;
  std::vector<GanttRow> rows;
  std::string mark;  // what the frame means, for the legend
};

/// How a quantity is distributed over requests: value against percentile, p99 as far from p90 as
/// p90 from min. Each curve's points are (q in [0, 1], value), ascending.
LineChart quantile_chart(std::string title, Axis value, std::vector<ChartSeries> curves);

std::string svg(const LineChart& chart);
std::string svg(const ScatterChart& chart);
std::string svg(const BarChart& chart);
std::string svg(const GanttChart& chart);

}  // namespace rooflua
