#pragma once
// What the kinds of charts are drawn with: ranges, a frame with two axes, legends, figures.

#include <limits>
#include <string>
#include <vector>

#include "measure/html/chart/scale.h"
#include "measure/html/chart/series.h"

namespace rooflua {

inline constexpr double chart_wide = 480, chart_margin_right = 16, chart_margin_bottom = 42;

struct Range {
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  void add(double value) {
    if (!(value >= low)) low = value;
    if (!(value <= high)) high = value;
  }
};

/// The ranges of the points that both axes can place, and how many points they cannot.
struct Ranges {
  Range x, y;
  int left_out = 0;
};
Ranges ranges_of(const std::vector<ChartSeries>& series, const Axis& x, const Axis& y);

/// "s3", and from the ninth on "s1 again".
std::string style_of(int style, std::size_t position);
/// The marker of a series, which belongs to its colour.
int shape_of(int style, std::size_t position);
std::string with_unit(double value, const Axis& axis);
std::string line(double x1, double y1, double x2, double y2, const std::string& style);
std::string text_at(double x, double y, const std::string& anchor, const std::string& text);
/// Circle, square, triangle, diamond, ... by position. @param variant  as of ChartPoint
std::string marker(int shape, double x, double y, const std::string& style, const std::string& note,
                   int variant = -1);
/// " data-v=\"3\"", which the page's script reads; "" for no variant.
std::string of_variant(int variant);

/// The place of the axes in a picture.
struct Frame {
  Scale x, y;
  double high;
};
Frame frame_of(const Axis& x, const Axis& y, const Ranges& ranges, double high);
std::string horizontal_axis(const Axis& axis, const Scale& scale, double top, double bottom);
std::string axes(const Axis& x, const Axis& y, const Frame& frame);
/// A clipping rectangle: lines do not leave the plot.
std::string window(const Frame& frame, const std::string& content);
/// What the page's script needs to turn pixels into values: kind, ends (values, pixels), unit.
std::string readout(const char* name, const Axis& axis, const Scale& scale);
std::string picture(const std::string& title, double high, const std::string& attributes,
                    const std::string& content);

struct Key {
  std::string name, style;
  const char*
      shape;     // "line", "box", "limit" (a line that a reader cannot switch off), or a marker
  int mark = 0;  // which marker
};
/// @param left_out    how many points or values could not be drawn; the figure says so
/// @param attributes  of the element, with a space in front
std::string figure_of(const std::string& title, const std::vector<Key>& keys,
                      const std::string& content, int left_out, const std::string& attributes = "");

}  // namespace rooflua
