#include "measure/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "measure/html_text.h"
#include "measure/table.h"

namespace rooflua {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double wide = 480, margin_right = 16, margin_top = 26, margin_bottom = 42;
constexpr double letter = 6.8;  // width of a character of tick text, roughly
constexpr int colours = 8;

struct Range {
  double low = nan, high = nan;
  void add(double value) {
    if (!(value >= low)) low = value;
    if (!(value <= high)) high = value;
  }
};

bool placeable(Axis::Kind kind, double value) {
  return std::isfinite(value) && (kind != Axis::Kind::log || value > 0);
}

struct Ranges {
  Range x, y;
};

Ranges ranges_of(const std::vector<ChartSeries>& series, const Axis& x, const Axis& y) {
  Ranges out;
  for (const ChartSeries& each : series) {
    for (const ChartPoint& point : each.points) {
      if (!placeable(x.kind, point.x) || !placeable(y.kind, point.y)) continue;
      out.x.add(point.x);
      out.y.add(point.y);
    }
  }
  return out;
}

/// "s3", and from the ninth on "s1 again".
std::string style_of(int style, std::size_t position) {
  const int index = style > 0 ? style - 1 : static_cast<int>(position);
  return "s" + std::to_string(index % colours + 1) + (index >= colours ? " again" : "");
}

std::string labelled(const Axis& axis) {
  if (axis.unit.empty()) return axis.label;
  return axis.label.empty() ? axis.unit : axis.label + " (" + axis.unit + ")";
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

double widest(const std::vector<Tick>& ticks) {
  std::size_t out = 0;
  for (const Tick& tick : ticks) out = std::max(out, width(tick.text));
  return static_cast<double>(out) * letter;
}

// --- Frame: the picture with its two axes ---------------------------------------------------

struct Frame {
  Scale x, y;
  double high;
};

Frame frame_of(const Axis& x, const Axis& y, const Ranges& ranges, double high) {
  const Scale vertical(y, ranges.y.low, ranges.y.high, high - margin_bottom, margin_top);
  const double left = std::max(26.0, 12 + widest(vertical.ticks(5)));
  return {Scale(x, ranges.x.low, ranges.x.high, left, wide - margin_right), vertical, high};
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

std::string horizontal_axis(const Axis& axis, const Scale& scale, double top, double bottom) {
  std::string out;
  std::vector<Tick> ticks = scale.ticks(6);
  std::sort(ticks.begin(), ticks.end(),
            [](const Tick& a, const Tick& b) { return a.value < b.value; });
  for (const Tick& tick : uncrowded(ticks, scale)) {
    const double x = scale(tick.value);
    out += line(x, top, x, bottom, tick.major ? "grid" : "grid minor");
    if (tick.major && !tick.text.empty()) out += text_at(x, bottom + 16, "middle", tick.text);
  }
  out += line(scale.from(), bottom, scale.to(), bottom, "axis");
  return out + text_at((scale.from() + scale.to()) / 2, bottom + 35, "middle", labelled(axis));
}

std::string vertical_axis(const Axis& axis, const Scale& scale, double left, double right) {
  std::string out;
  for (const Tick& tick : scale.ticks(5)) {
    const double y = scale(tick.value);
    out += line(left, y, right, y, tick.major ? "grid" : "grid minor");
    if (tick.major) out += text_at(left - 6, y + 4, "end", tick.text);
  }
  return out + text_at(2, 14, "start", labelled(axis));
}

std::string axes(const Axis& x, const Axis& y, const Frame& frame) {
  return vertical_axis(y, frame.y, frame.x.from(), frame.x.to()) +
         horizontal_axis(x, frame.x, frame.y.to(), frame.y.from()) + "\n";
}

/// A window onto the plot that cuts off what leaves it.
std::string window(const Frame& frame, const std::string& content) {
  const double left = frame.x.from(), top = frame.y.to();
  const double across = frame.x.to() - left, down = frame.y.from() - top;
  const std::string box =
      pixels(left) + " " + pixels(top) + " " + pixels(across) + " " + pixels(down);
  return "<svg x=\"" + pixels(left) + "\" y=\"" + pixels(top) + "\" width=\"" + pixels(across) +
         "\" height=\"" + pixels(down) + "\" viewBox=\"" + box + "\">" + content + "</svg>\n";
}

/// How the readout gets from pixels back to values: kind, ends in values, ends in pixels, unit.
std::string readout(const char* name, const Axis& axis, const Scale& scale) {
  static constexpr const char* kinds[] = {"linear", "log", "percentile"};
  return std::string(" data-") + name + "=\"" + kinds[static_cast<int>(axis.kind)] + "|" +
         json_number(scale.low()) + "|" + json_number(scale.high()) + "|" + pixels(scale.from()) +
         "|" + pixels(scale.to()) + "|" + escaped(axis.unit) + "|" + escaped(axis.label) + "\"";
}

std::string picture(const std::string& title, double high, const std::string& attributes,
                    const std::string& content) {
  return "<svg class=\"chart\" viewBox=\"0 0 " + pixels(wide) + " " + pixels(high) +
         "\" role=\"img\" aria-label=\"" + escaped(title) + "\"" + attributes + ">\n" + content +
         "</svg>\n";
}

struct Key {
  std::string name, style;
  const char* shape;  // "line", "box", or a marker
};

std::string marker(int shape, double x, double y, const std::string& style,
                   const std::string& note);

std::string legend(const std::vector<Key>& keys) {
  if (keys.empty() || (keys.size() == 1 && keys[0].name.empty())) return "";
  std::string out = "<ul class=\"legend\">";
  int position = 0;
  for (const Key& key : keys) {
    out += "<li><svg class=\"key\" viewBox=\"0 0 22 12\">";
    const std::string_view shape = key.shape;
    if (shape == "line") {
      out += line(1, 6, 21, 6, "line " + key.style);
    } else if (shape == "box") {
      out += "<rect class=\"" + key.style + "\" x=\"5\" y=\"0\" width=\"12\" height=\"12\"/>";
    } else {
      out += marker(position, 11, 6, key.style, "");
    }
    out += "</svg>" + escaped(key.name) + "</li>";
    ++position;
  }
  return out + "</ul>\n";
}

std::string figure_of(const std::string& title, const std::vector<Key>& keys,
                      const std::string& content) {
  return "<figure>\n<figcaption>" + escaped(title) + "</figcaption>\n" + legend(keys) + content +
         "</figure>\n";
}

// --- Lines -----------------------------------------------------------------------------------

/// One polyline per unbroken piece.
std::string polylines(const ChartSeries& series, const Frame& frame, const std::string& style,
                      bool steps) {
  std::string out, points;
  double last_y = nan;
  const auto close = [&] {
    if (!points.empty()) {
      points.pop_back();
      out += "<polyline class=\"line " + style + "\" data-name=\"" + escaped(series.name) +
             "\" points=\"" + points + "\"/>";
    }
    points.clear();
    last_y = nan;
  };
  for (const ChartPoint& point : series.points) {
    if (!frame.x.shows(point.x) || !frame.y.shows(point.y)) {
      close();
      continue;
    }
    const double x = frame.x(point.x), y = frame.y(point.y);
    if (steps && last_y == last_y && last_y != y) points += pixels(x) + "," + pixels(last_y) + " ";
    points += pixels(x) + "," + pixels(y) + " ";
    last_y = y;
  }
  close();
  return out;
}

// --- Markers ---------------------------------------------------------------------------------

std::string marker(int shape, double x, double y, const std::string& style,
                   const std::string& note) {
  const std::string place = "translate(" + pixels(x) + " " + pixels(y) + ")";
  static constexpr const char* paths[] = {
      "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",  // circle
      "M-3.2 -3.2h6.4v6.4h-6.4z",                       // square
      "M0 -4.4L4.1 3H-4.1z",                            // triangle
      "M0 -4.6L4.6 0L0 4.6L-4.6 0z",                    // diamond
      "M0 4.4L4.1 -3H-4.1z",                            // triangle, the other way
  };
  return "<path class=\"mark " + style + "\" transform=\"" + place + "\" d=\"" +
         paths[static_cast<std::size_t>(shape) % std::size(paths)] + "\"" +
         (note.empty() ? "/>" : "><title>" + escaped(note) + "</title></path>");
}

std::string dots(const ChartSeries& series, const Frame& frame, const std::string& style,
                 int shape) {
  std::string out;
  for (const ChartPoint& point : series.points) {
    if (frame.x.shows(point.x) && frame.y.shows(point.y))
      out += marker(shape, frame.x(point.x), frame.y(point.y), style, point.note);
  }
  return out;
}

/// y = factor * x across the frame, as "x,y x,y ..." from left to right.
std::vector<std::string> ray(const Frame& frame, double factor) {
  constexpr int pieces = 48;
  std::vector<std::string> out;
  for (int i = 0; i <= pieces; ++i) {
    const double px = frame.x.from() + (frame.x.to() - frame.x.from()) * i / pieces;
    const double y = factor * frame.x.at(px);
    if (frame.y.shows(y)) out.push_back(pixels(px) + "," + pixels(frame.y(y)));
  }
  return out;
}

std::string joined(const std::vector<std::string>& points) {
  std::string out;
  for (const std::string& each : points) out += (out.empty() ? "" : " ") + each;
  return out;
}

std::string diagonal_and_bands(const ScatterChart& chart, const Frame& frame) {
  std::string out;
  std::vector<double> bands = chart.bands;
  std::sort(bands.rbegin(), bands.rend());
  for (const double band : bands) {
    std::vector<std::string> edge = ray(frame, 1 + band), back = ray(frame, 1 / (1 + band));
    edge.insert(edge.end(), back.rbegin(), back.rend());
    out += "<polygon class=\"band\" points=\"" + joined(edge) + "\"><title>within " +
           percent(band) + "</title></polygon>";
  }
  if (chart.diagonal)
    out += "<polyline class=\"diagonal\" points=\"" + joined(ray(frame, 1)) + "\"/>";
  return out;
}

/// Room above and below the lines of a log axis, so that none runs along the edge.
Ranges with_room(Ranges ranges, const Axis& y) {
  if (y.kind == Axis::Kind::log && ranges.y.high > ranges.y.low) {
    const double by = std::pow(ranges.y.high / ranges.y.low, 0.03);
    ranges.y.low /= by, ranges.y.high *= by;
  }
  return ranges;
}

/// Both axes of a diagonal show the same, a little more than the data.
Ranges widened(Ranges ranges, const ScatterChart& chart) {
  if (chart.diagonal && ranges.x.low == ranges.x.low) {
    ranges.x.add(ranges.y.low), ranges.x.add(ranges.y.high);
    ranges.y = ranges.x;
  }
  const auto widen = [](Range& range, const Axis& axis) {
    if (axis.kind == Axis::Kind::log) {
      const double by = std::pow(range.high / range.low, 0.04) * 1.02;
      range.low /= by, range.high *= by;
    } else {
      const double by = 0.03 * (range.high - range.low);
      range.low -= range.low < 0 ? by : 0, range.high += by;
    }
  };
  widen(ranges.x, chart.x), widen(ranges.y, chart.y);
  return ranges;
}

// --- Bars ------------------------------------------------------------------------------------

std::string segment_style(const BarPart& segment, std::size_t position) {
  return "fill " + (segment.style.empty() ? style_of(0, position) : segment.style);
}

double sum(const std::vector<double>& values) {
  double out = 0;
  for (const double value : values) out += std::isfinite(value) ? value : 0;
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
    if (!(value > 0) || !std::isfinite(value)) continue;
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

LineChart quantile_chart(std::string title, Axis value, std::vector<ChartSeries> curves) {
  Axis share;
  share.label = "percentile of requests";
  share.kind = Axis::Kind::percentile;
  return {std::move(title), std::move(share), std::move(value), std::move(curves)};
}

std::string svg(const LineChart& chart) {
  const Frame frame = frame_of(chart.x, chart.y,
                               with_room(ranges_of(chart.series, chart.x, chart.y), chart.y), 290);
  std::string lines;
  std::vector<Key> keys;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::string style = style_of(chart.series[i].style, i);
    lines += polylines(chart.series[i], frame, style, chart.steps);
    if (chart.dots) lines += dots(chart.series[i], frame, style, static_cast<int>(i));
    keys.push_back({chart.series[i].name, style, "line"});
  }
  const std::string readouts = readout("x", chart.x, frame.x) + readout("y", chart.y, frame.y);
  return figure_of(chart.title, keys,
                   picture(chart.title, frame.high, readouts,
                           axes(chart.x, chart.y, frame) + window(frame, lines)));
}

std::string svg(const ScatterChart& chart) {
  const Frame frame =
      frame_of(chart.x, chart.y, widened(ranges_of(chart.series, chart.x, chart.y), chart),
               chart.diagonal ? 430 : 310);
  std::string marks = diagonal_and_bands(chart, frame);
  std::vector<Key> keys;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const ChartSeries& series = chart.series[i];
    const std::string style = style_of(series.style, i);
    const std::string prefix = series.name.empty() ? "" : series.name + ": ";
    for (const ChartPoint& point : series.points) {
      if (!frame.x.shows(point.x) || !frame.y.shows(point.y)) continue;
      const std::string note = prefix + point.note + (point.note.empty() ? "" : ", ") +
                               chart.x.label + " " + with_unit(point.x, chart.x) + ", " +
                               chart.y.label + " " + with_unit(point.y, chart.y);
      marks += marker(static_cast<int>(i), frame.x(point.x), frame.y(point.y), style, note);
    }
    keys.push_back({series.name, style, "marker"});
  }
  return figure_of(
      chart.title, keys,
      picture(chart.title, frame.high, "", axes(chart.x, chart.y, frame) + window(frame, marks)));
}

std::string svg(const BarChart& chart) {
  constexpr double row = 38, left = 4;
  const double bottom = 4 + row * static_cast<double>(chart.bars.size());
  Axis axis = chart.value;
  if (chart.shares) axis = {axis.label, "%", Axis::Kind::linear, 0, 100};
  axis.min = 0;
  double longest = nan;
  for (const Bar& bar : chart.bars) longest = std::max(sum(bar.values), longest);
  const Scale scale(axis, 0, longest, left, wide - margin_right);
  std::string content = horizontal_axis(axis, scale, 4, bottom);
  double y = 22;
  for (const Bar& bar : chart.bars) {
    content += bar_row(chart, bar, scale, y);
    y += row;
  }
  std::vector<Key> keys;
  for (std::size_t i = 0; i < chart.segments.size(); ++i)
    keys.push_back({chart.segments[i].name, segment_style(chart.segments[i], i), "box"});
  return figure_of(chart.title, keys, picture(chart.title, bottom + margin_bottom, "", content));
}

}  // namespace rooflua
