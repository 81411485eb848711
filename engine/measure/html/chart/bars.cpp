#include <algorithm>
#include <cmath>

#include "measure/html/chart/chart.h"
#include "measure/html/chart/parts.h"
#include "measure/html/text.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

std::string segment_style(const BarPart& segment, std::size_t position) {
  return "fill " + (segment.style.empty() ? style_of(0, position) : segment.style);
}

/// Whether a value has a length. A bar of one part may point to the left.
bool drawn(double value, bool alone) {
  return std::isfinite(value) && (value > 0 || (alone && value < 0));
}

/// The sum of the values that are drawn.
double sum(const std::vector<double>& values) {
  double out = 0;
  for (const double value : values) out += drawn(value, values.size() == 1) ? value : 0;
  return out;
}

/// Whether it is a number that a bar can show, 0 included.
bool has_number(double value, bool alone) {
  return std::isfinite(value) && (value >= 0 || alone);
}

/// "12.5 ms", or "-" of a bar without any number.
std::string total_of(const Bar& bar, const Axis& axis) {
  if (!bar.total.empty()) return bar.total;
  const bool alone = bar.values.size() == 1;
  const bool any = std::any_of(bar.values.begin(), bar.values.end(),
                               [&](double value) { return has_number(value, alone); });
  return any ? with_unit(sum(bar.values), axis) : "-";
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
  constexpr double thick = 15, least_wide = 2.5;  // thinner ones vanish under their white outline
  const double whole = sum(bar.values);
  const bool alone = bar.values.size() == 1 && !chart.shares;
  std::string out = "<g" + of_variant(bar.variant) + ">" +
                    text_at(scale.from(), y - 5, "start", shortened(bar.name, 60));
  if (!chart.shares)
    out += "<text class=\"value\" x=\"" + pixels(scale.to()) + "\" y=\"" + pixels(y - 5) +
           "\" text-anchor=\"end\">" + escaped(total_of(bar, chart.value)) + "</text>";
  double before = 0;
  for (std::size_t i = 0; i < bar.values.size() && i < chart.segments.size(); ++i) {
    const double value = bar.values[i];
    if (!drawn(value, alone)) continue;
    const double from = chart.shares ? before / whole * 100 : before;
    const double to = chart.shares ? (before + value) / whole * 100 : before + value;
    std::string note = bar.name + (bar.name.empty() ? "" : ": ") + chart.segments[i].name + " " +
                       (chart.shares ? "" : with_unit(value, chart.value));
    if (!alone) note += (chart.shares ? "" : ", ") + percent(value / whole);
    const double wide = std::max(std::abs(scale(to) - scale(from)), least_wide);
    out += "<rect class=\"" + segment_style(chart.segments[i], i) + "\" x=\"" +
           pixels(to < from ? scale(from) - wide : scale(from)) + "\" y=\"" + pixels(y) +
           "\" width=\"" + pixels(wide) + "\" height=\"" + pixels(thick) +
           "\"><title>" + escaped(note) + "</title></rect>";
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
  axis.kind = Axis::Kind::linear;  // lengths are compared
  double longest = 0, shortest = 0;
  int left_out = 0;
  for (const Bar& bar : chart.bars) {
    longest = std::max(sum(bar.values), longest);
    shortest = std::min(sum(bar.values), shortest);
    for (const double value : bar.values)
      left_out += !has_number(value, bar.values.size() == 1 && !chart.shares);
  }
  axis.min = shortest;
  if (longest == 0 && shortest == 0) longest = 1;
  const Scale scale(axis, shortest, longest, left, chart_wide - chart_margin_right);
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
                   picture(chart.title, bottom + chart_margin_bottom, "", content), left_out,
                   chart.attributes);
}

}  // namespace rooflua
