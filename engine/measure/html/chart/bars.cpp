#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/html/chart/chart.h"
#include "measure/html/chart/parts.h"
#include "measure/html/text.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

std::string segment_style(const BarPart& segment, std::size_t position) {
  return "fill " + (segment.style.empty() ? style_of(0, position) : segment.style);
}

bool drawn(double value) {
  return value > 0 && std::isfinite(value);
}

/// The sum of the values that are drawn.
double sum(const std::vector<double>& values) {
  double out = 0;
  for (const double value : values) out += drawn(value) ? value : 0;
  return out;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (width(text) <= most) return text;
  std::string out;
  std::size_t seen = 0;
  for (const char c : text) {
    seen += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (seen >= most) break;
    out += c;
  }
  return out + "…";
}

std::string bar_row(const BarChart& chart, const Bar& bar, const Scale& scale, double y) {
  constexpr double thick = 15;
  const double whole = sum(bar.values);
  std::string out = "<g>" + text_at(scale.from(), y - 5, "start", shortened(bar.name, 60));
  if (!chart.shares)
    out += "<text class=\"value\" x=\"" + pixels(scale.to()) + "\" y=\"" + pixels(y - 5) +
           "\" text-anchor=\"end\">" +
           escaped(bar.total.empty() ? with_unit(whole, chart.value) : bar.total) + "</text>";
  double before = 0;
  for (std::size_t i = 0; i < bar.values.size() && i < chart.segments.size(); ++i) {
    const double value = bar.values[i];
    if (!drawn(value)) continue;
    const double from = chart.shares ? before / whole * 100 : before;
    const double to = chart.shares ? (before + value) / whole * 100 : before + value;
    const std::string note = bar.name + (bar.name.empty() ? "" : ": ") + chart.segments[i].name +
                             " " + (chart.shares ? "" : with_unit(value, chart.value) + ", ") +
                             percent(value / whole);
    out += "<rect class=\"" + segment_style(chart.segments[i], i) + "\" x=\"" +
           pixels(scale(from)) + "\" y=\"" + pixels(y) + "\" width=\"" +
           pixels(scale(to) - scale(from)) + "\" height=\"" + pixels(thick) + "\"><title>" +
           escaped(note) + "</title></rect>";
    before += value;
  }
  return out + "</g>\n";
}

}  // namespace

std::string svg(const BarChart& chart) {
  constexpr double row = 38, left = 4;
  const double bottom = 4 + row * static_cast<double>(chart.bars.size());
  Axis axis = chart.value;
  if (chart.shares) axis = {axis.label, "%", Axis::Kind::linear, 0, 100};
  axis.min = 0;
  axis.kind = Axis::Kind::linear;  // lengths are compared
  double longest = std::numeric_limits<double>::quiet_NaN();
  int left_out = 0;
  for (const Bar& bar : chart.bars) {
    longest = std::max(sum(bar.values), longest);
    for (const double value : bar.values) left_out += !(value >= 0 && std::isfinite(value));
  }
  const Scale scale(axis, 0, longest, left, chart_wide - chart_margin_right);
  std::string content = horizontal_axis(axis, scale, 4, bottom);
  double y = 22;
  for (const Bar& bar : chart.bars) {
    content += bar_row(chart, bar, scale, y);
    y += row;
  }
  std::vector<Key> keys;
  for (std::size_t i = 0; i < chart.segments.size(); ++i)
    keys.push_back({chart.segments[i].name, segment_style(chart.segments[i], i), "box"});
  return figure_of(chart.title, keys,
                   picture(chart.title, bottom + chart_margin_bottom, "", content), left_out);
}

}  // namespace rooflua
