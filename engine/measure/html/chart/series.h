#pragma once
// The points of a chart, in named series.

#include <limits>
#include <string>
#include <vector>

namespace rooflua {

struct ChartPoint {
  double x = 0, y = 0;
  std::string note;  // scatter: in the tooltip, "llama-3.1-8b, tp 2"
  // Scatter: the ends of an interval of y, drawn as a vertical line instead of a marker; NaN: none.
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  int variant = -1;  // whose point this is, so that a reader's filter reaches it; -1: no variant's
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
  int style = 0;  // 0: by position; n: as series n of another chart, so that colours agree
};

}  // namespace rooflua
