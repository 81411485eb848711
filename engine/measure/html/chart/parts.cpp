#include "measure/html/chart/parts.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "measure/html/text.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

constexpr double margin_top = 26;
constexpr double letter = 6.8;  // width of a character of tick text, roughly
constexpr int colours = 8;

std::string labelled(const Axis& axis) {
  if (axis.unit.empty()) return axis.label;
  return axis.label.empty() ? axis.unit : axis.label + " (" + axis.unit + ")";
}

double widest(const std::vector<Tick>& ticks) {
  std::size_t out = 0;
  for (const Tick& tick : ticks) out = std::max(out, width(tick.text));
  return static_cast<double>(out) * letter;
}

/// Drops texts that would run into the one before.
std::vector<Tick> uncrowded(std::vector<Tick> ticks, const Scale& scale) {
  double free_from = -1e9;
  for (Tick& tick : ticks) {
    const double half = static_cast<double>(width(tick.text)) * letter / 2;
    if (!tick.major) continue;
    if (scale(tick.value) - half < free_from) {
      tick.text.clear();
    } else {
      free_from = scale(tick.value) + half + 6;
    }
  }
  return ticks;
}

std::string vertical_axis(const Axis& axis, const Scale& scale, double left, double right) {
  std::string out = "<g class=\"levels\">";
  for (const Tick& tick : scale.ticks(5)) {
    const double y = scale(tick.value);
    out += line(left, y, right, y, tick.major ? "grid" : "grid minor");
    if (tick.major) out += text_at(left - 6, y + 4, "end", tick.text);
  }
  return out + "</g>" + text_at(2, 14, "start", labelled(axis));
}

std::string legend(const std::vector<Key>& keys) {
  std::string out;
  for (const Key& key : keys) {
    const std::string_view shape = key.shape;
    if (key.name.empty() && (keys.size() == 1 || keys.back().shape == std::string_view("limit")))
      continue;  // the only series needs no name
    out += shape == "limit" ? "<li class=\"fixed\">" : "<li>";
    out += "<svg class=\"key\" viewBox=\"0 0 22 12\">";
    if (shape == "line" || shape == "limit") {
      out += line(1, 6, 21, 6, "line " + key.style);
    } else if (shape == "box") {
      out += "<rect class=\"" + key.style + "\" x=\"5\" y=\"0\" width=\"12\" height=\"12\"/>";
    } else {
      out += marker(key.mark, 11, 6, key.style, "");
    }
    out += "</svg>" + escaped(key.name) + "</li>";
  }
  return out.empty() ? "" : "<ul class=\"legend\">" + out + "</ul>\n";
}

}  // namespace

Ranges ranges_of(const std::vector<ChartSeries>& series, const Axis& x, const Axis& y) {
  Ranges out;
  for (const ChartSeries& each : series) {
    for (const ChartPoint& point : each.points) {
      if (!Scale::has_place(x.kind, point.x) || !Scale::has_place(y.kind, point.y)) {
        ++out.left_out;
        continue;
      }
      out.x.add(point.x);
      out.y.add(point.y);
      for (const double end : {point.low, point.high})
        if (Scale::has_place(y.kind, end)) out.y.add(end);
    }
  }
  return out;
}

std::string style_of(int style, std::size_t position) {
  const int index = style > 0 ? style - 1 : static_cast<int>(position);
  return "s" + std::to_string(index % colours + 1) + (index >= colours ? " again" : "");
}

int shape_of(int style, std::size_t position) {
  return style > 0 ? style - 1 : static_cast<int>(position);
}

std::string with_unit(double value, const Axis& axis) {
  return figure(value) + (axis.unit.empty() ? "" : " " + axis.unit);
}

std::string line(double x1, double y1, double x2, double y2, const std::string& style) {
  return "<line class=\"" + style + "\" x1=\"" + pixels(x1) + "\" y1=\"" + pixels(y1) + "\" x2=\"" +
         pixels(x2) + "\" y2=\"" + pixels(y2) + "\"/>";
}

std::string text_at(double x, double y, const std::string& anchor, const std::string& text) {
  return "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" text-anchor=\"" + anchor + "\">" +
         escaped(text) + "</text>";
}

std::string of_variant(int variant) {
  return variant < 0 ? "" : " data-v=\"" + std::to_string(variant) + "\"";
}

std::string marker(int shape, double x, double y, const std::string& style, const std::string& note,
                   int variant) {
  const std::string place = "translate(" + pixels(x) + " " + pixels(y) + ")";
  static constexpr const char* paths[] = {
      "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",  // circle
      "M-3.2 -3.2h6.4v6.4h-6.4z",                       // square
      "M0 -4.4L4.1 3H-4.1z",                            // triangle
      "M0 -4.6L4.6 0L0 4.6L-4.6 0z",                    // diamond
      "M0 4.4L4.1 -3H-4.1z",                            // triangle, the other way
  };
  return "<path class=\"mark " + style + "\" transform=\"" + place + "\" d=\"" +
         paths[static_cast<std::size_t>(shape) % std::size(paths)] + "\"" + of_variant(variant) +
         (note.empty() ? "/>" : "><title>" + escaped(note) + "</title></path>");
}

Frame frame_of(const Axis& x, const Axis& y, const Ranges& ranges, double high) {
  const Scale vertical(y, ranges.y.low, ranges.y.high, high - chart_margin_bottom, margin_top);
  const double left = std::max(26.0, 12 + widest(vertical.ticks(5)));
  return {Scale(x, ranges.x.low, ranges.x.high, left, chart_wide - chart_margin_right), vertical,
          high};
}

std::string horizontal_axis(const Axis& axis, const Scale& scale, double top, double bottom) {
  std::string out;
  std::vector<Tick> ticks = scale.ticks(6);
  std::stable_sort(ticks.begin(), ticks.end(),
                   [](const Tick& a, const Tick& b) { return a.value < b.value; });
  out += "<g class=\"ticks\">";
  for (const Tick& tick : uncrowded(ticks, scale)) {
    const double x = scale(tick.value);
    out += line(x, top, x, bottom, tick.major ? "grid" : "grid minor");
    if (tick.major && !tick.text.empty()) out += text_at(x, bottom + 16, "middle", tick.text);
  }
  out += "</g>" + line(scale.from(), bottom, scale.to(), bottom, "axis");
  return out + text_at((scale.from() + scale.to()) / 2, bottom + 35, "middle", labelled(axis));
}

std::string axes(const Axis& x, const Axis& y, const Frame& frame) {
  return vertical_axis(y, frame.y, frame.x.from(), frame.x.to()) +
         horizontal_axis(x, frame.x, frame.y.to(), frame.y.from()) + "\n";
}

std::string window(const Frame& frame, const std::string& content) {
  const double left = frame.x.from(), top = frame.y.to();
  const double across = frame.x.to() - left, down = frame.y.from() - top;
  const std::string box =
      pixels(left) + " " + pixels(top) + " " + pixels(across) + " " + pixels(down);
  return "<svg x=\"" + pixels(left) + "\" y=\"" + pixels(top) + "\" width=\"" + pixels(across) +
         "\" height=\"" + pixels(down) + "\" viewBox=\"" + box + "\">" + content + "</svg>\n";
}

std::string readout(const char* name, const Axis& axis, const Scale& scale) {
  static constexpr const char* kinds[] = {"linear", "log", "percentile"};
  return std::string(" data-") + name + "=\"" + kinds[static_cast<int>(axis.kind)] + "|" +
         json_number(scale.low()) + "|" + json_number(scale.high()) + "|" + pixels(scale.from()) +
         "|" + pixels(scale.to()) + "|" + escaped(axis.unit) + "|" + escaped(axis.label) + "\"";
}

std::string picture(const std::string& title, double high, const std::string& attributes,
                    const std::string& content) {
  return "<svg class=\"chart\" viewBox=\"0 0 " + pixels(chart_wide) + " " + pixels(high) +
         "\" role=\"img\" aria-label=\"" + escaped(title) + "\"" + attributes + ">\n" + content +
         "</svg>\n";
}

std::string figure_of(const std::string& title, const std::vector<Key>& keys,
                      const std::string& content, int left_out, const std::string& attributes) {
  std::string note;
  if (left_out > 0) {
    note = "<p class=\"note\">" + std::to_string(left_out) +
           (left_out == 1 ? " value is" : " values are") +
           " left out: no number, or not above 0 on a logarithmic axis.</p>\n";
  }
  return "<figure" + attributes + ">\n<figcaption>" + escaped(title) + "</figcaption>\n" +
         legend(keys) + content + note + "</figure>\n";
}

}  // namespace rooflua
