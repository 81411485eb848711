#include <algorithm>

#include "measure/html/chart/chart.h"
#include "measure/html/chart/parts.h"
#include "measure/html/text.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

constexpr double row_high = 15, bar_high = 9, thin_high = 3, top = 6;

double middle_of(std::size_t row) {
  return top + row_high * (static_cast<double>(row) + 0.5);
}

std::string style_of_part(const GanttChart& chart, std::size_t part) {
  const std::string& style = chart.parts[part].style;
  return "fill " + (style.empty() ? style_of(0, part) : style);
}

/// ` data-open="..."`; nothing where a click opens nothing.
std::string opens(const std::string& what) {
  return what.empty() ? "" : " data-open=\"" + escaped(what) + "\"";
}

std::string box(const std::string& style, double left, double right, double middle, double high,
                const GanttSpan& of = {}) {
  return "<rect class=\"" + style + "\" x=\"" + pixels(left) + "\" y=\"" +
         pixels(middle - high / 2) + "\" width=\"" + pixels(std::max(right - left, 0.5)) +
         "\" height=\"" + pixels(high) + "\"" + opens(of.open) +
         (of.note.empty() ? "/>" : "><title>" + escaped(of.note) + "</title></rect>");
}

std::string row_of(const GanttChart& chart, std::size_t index, const Scale& scale) {
  const GanttRow& row = chart.rows[index];
  const double y = middle_of(index);
  std::string out = "<g" + opens(row.open) + "><title>" + escaped(row.note) + "</title><text" +
                    (row.marked ? " class=\"path\"" : "") + " x=\"" + pixels(scale.from() - 6) +
                    "\" y=\"" + pixels(y + 4) + "\" text-anchor=\"end\">" + escaped(row.label) +
                    "</text>";
  double left = scale.to(), right = scale.from();
  for (const GanttSpan& span : row.spans) {
    if (span.to <= span.from) continue;
    const double from = scale(span.from), to = scale(span.to);
    out += box(style_of_part(chart, span.part), from, to, y, span.thin ? thin_high : bar_high, span);
    if (span.thin) continue;
    left = std::min(left, from);
    right = std::max(right, to);
  }
  if (row.marked && right >= left) out += box("frame", left, right, y, bar_high + 3);
  if (row.after) {
    const double x = scale(row.from);
    out += line(x, middle_of(*row.after) + bar_high / 2, x, y, "link");
  }
  return out + "</g>\n";
}

}  // namespace

std::string svg(const GanttChart& chart) {
  std::size_t widest = 0;
  double end = 0;
  for (const GanttRow& row : chart.rows) {
    widest = std::max(widest, width(row.label));
    for (const GanttSpan& span : row.spans) end = std::max(end, span.to);
  }
  const double left = 10 + 6.8 * static_cast<double>(widest);
  const Scale scale(chart.x, 0, end > 0 ? end : 1, left, chart_wide - chart_margin_right);
  const double bottom = top + row_high * static_cast<double>(chart.rows.size()) + 2;
  std::string content = horizontal_axis(chart.x, scale, top, bottom);
  for (std::size_t i = 0; i < chart.rows.size(); ++i) content += row_of(chart, i, scale);
  std::vector<Key> keys;
  for (std::size_t i = 0; i < chart.parts.size(); ++i) {
    const bool used = std::any_of(chart.rows.begin(), chart.rows.end(), [&](const GanttRow& row) {
      return std::any_of(row.spans.begin(), row.spans.end(), [&](const GanttSpan& span) {
        return span.part == i && span.to > span.from;
      });
    });
    if (used) keys.push_back({chart.parts[i].name, style_of_part(chart, i), "box"});
  }
  if (!chart.mark.empty()) keys.push_back({chart.mark, "frame", "box"});
  return figure_of(chart.title, keys,
                   picture(chart.title, bottom + chart_margin_bottom, "", content), 0);
}

}  // namespace rooflua
