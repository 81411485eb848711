#include "measure/html/chart/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/html/chart/parts.h"
#include "measure/html/text.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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

std::string dots(const ChartSeries& series, const Frame& frame, const std::string& style,
                 int shape) {
  std::string out;
  for (const ChartPoint& point : series.points) {
    if (frame.x.shows(point.x) && frame.y.shows(point.y))
      out += marker(shape, frame.x(point.x), frame.y(point.y), style, point.note, point.variant);
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

/// The lines of limits, and what the legend says of them: where one lies beyond the axis, too.
std::string limit_lines(const std::vector<Limit>& limits, const Axis& axis, const Frame& frame,
                        std::vector<Key>& keys) {
  std::string out;
  for (const Limit& limit : limits) {
    const bool above = limit.value > frame.y.high(), below = limit.value < frame.y.low();
    keys.push_back({limit_text(limit, axis) + (above   ? " (above the axis)"
                                               : below ? " (below the axis)"
                                                       : ""),
                    "limit", "limit"});
    if (above || below) continue;
    const double y = frame.y(limit.value);
    out += line(frame.x.from(), y, frame.x.to(), y, "limit");
  }
  return out;
}

/// Lines from top to bottom; their labels stand above the frame, where no line of the data is.
std::string mark_lines(const std::vector<Limit>& marks, const Frame& frame) {
  std::string out;
  for (const Limit& mark : marks) {
    if (!frame.x.shows(mark.value)) continue;
    const double x = frame.x(mark.value);
    if (x < frame.x.from() || x > frame.x.to()) continue;
    const bool is_left = x < (frame.x.from() + frame.x.to()) / 2;
    out += line(x, frame.y.to() - 6, x, frame.y.from(), "limit") +
           text_at(x + (is_left ? 4 : -4), frame.y.to() - 8, is_left ? "start" : "end", mark.label);
  }
  return out;
}

bool has_interval(const ChartPoint& point) {
  return std::isfinite(point.low) && std::isfinite(point.high);
}

/// The interval of a point, as far as the axis shows it.
std::string whisker(const ChartPoint& point, const Frame& frame, const std::string& style,
                    const std::string& note) {
  if (!frame.y.shows(point.low) || !frame.y.shows(point.high)) return "";
  const double x = frame.x(point.x);
  std::string out = line(x, frame.y(point.low), x, frame.y(point.high), "line whisker " + style);
  out.resize(out.size() - 2);  // the "/>", for the note inside
  return out + "><title>" + escaped(note) + "</title></line>";
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

/// Room beside the first and the last dot, so that the frame does not cut them.
Range beside(Range x, Axis::Kind kind) {
  if (kind == Axis::Kind::log) {
    const double by = std::pow(x.high / x.low, 0.02);
    return {x.low / by, x.high * by};
  }
  const double by = 0.02 * (x.high - x.low);
  return {x.low - by, x.high + by};
}

/// Room above the highest dot, so that the frame does not cut it (plan.js has the same).
constexpr double above_dots = 1.03;

/// A limit far above or below the data would squeeze the data.
constexpr double near_limit = 3;

/// Room above and below the lines of a log axis, so that none runs along the edge, and room for
/// limits near the data.
Ranges with_room(Ranges ranges, const Axis& y, const std::vector<Limit>& limits) {
  const Range data = ranges.y;
  for (const Limit& limit : limits) {
    if (limit.value <= near_limit * data.high && near_limit * limit.value >= data.low)
      ranges.y.add(limit.value);
  }
  if (y.kind == Axis::Kind::log && ranges.y.high > ranges.y.low) {
    const double by = std::pow(ranges.y.high / ranges.y.low, 0.03);
    ranges.y.low /= by, ranges.y.high *= by;
  }
  return ranges;
}

/// Both axes of a diagonal (of one kind) show the same, a little more than the data.
Ranges widened(Ranges ranges, const ScatterChart& chart) {
  if (chart.diagonal && ranges.x.low == ranges.x.low && chart.x.kind == chart.y.kind) {
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

}  // namespace

std::string limit_text(const Limit& limit, const Axis& axis) {
  if (!limit.with_value) return limit.label;
  return limit.label + " " + short_text(limit.value) + (axis.unit.empty() ? "" : " " + axis.unit);
}

LineChart quantile_chart(std::string title, Axis value, std::vector<ChartSeries> curves) {
  Axis share;
  share.label = "percentile of requests";
  share.kind = Axis::Kind::percentile;
  return {std::move(title), std::move(share), std::move(value), std::move(curves)};
}

std::string svg(const LineChart& chart) {
  const Ranges ranges = ranges_of(chart.series, chart.x, chart.y);
  Axis x = chart.x;
  if (chart.dots && !x.min && !x.max && ranges.x.high > ranges.x.low) {
    const Range wide = beside(ranges.x, x.kind);
    x.min = wide.low, x.max = wide.high;
  }
  Ranges room = with_room(ranges, chart.y, chart.limits);
  if (chart.dots && chart.y.kind == Axis::Kind::linear && room.y.high > 0)
    room.y.high *= above_dots;
  const Frame frame = frame_of(x, chart.y, room, 290);
  std::string lines;
  std::vector<Key> keys;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::string style = style_of(chart.series[i].style, i);
    lines += polylines(chart.series[i], frame, style, chart.steps);
    if (chart.dots)
      lines += dots(chart.series[i], frame, style, shape_of(chart.series[i].style, i));
    keys.push_back({chart.series[i].name, style, "line"});
  }
  lines += limit_lines(chart.limits, chart.y, frame, keys);
  const std::string readouts = readout("x", x, frame.x) + readout("y", chart.y, frame.y);
  return figure_of(
      chart.title, keys,
      picture(chart.title, frame.high, readouts,
              axes(x, chart.y, frame) + mark_lines(chart.marks, frame) + window(frame, lines)),
      ranges.left_out, chart.attributes);
}

std::string svg(const ScatterChart& chart) {
  const Ranges ranges = ranges_of(chart.series, chart.x, chart.y);
  const Frame frame =
      frame_of(chart.x, chart.y, widened(with_room(ranges, chart.y, chart.limits), chart),
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
      marks += has_interval(point) ? whisker(point, frame, style, note)
                                   : marker(shape_of(series.style, i), frame.x(point.x),
                                            frame.y(point.y), style, note, point.variant);
    }
    const bool lines = !series.points.empty() && has_interval(series.points.front());
    keys.push_back({series.name, style + (lines ? " whisker" : ""), lines ? "line" : "marker",
                    shape_of(series.style, i)});
  }
  marks += limit_lines(chart.limits, chart.y, frame, keys);
  return figure_of(
      chart.title, keys,
      picture(chart.title, frame.high, "", axes(chart.x, chart.y, frame) + window(frame, marks)),
      ranges.left_out);
}

}  // namespace rooflua
