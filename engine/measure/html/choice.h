#pragma once
// What a page of many variants draws: the first most_drawn of them, and with a script those that
// the reader chooses. For the script the page holds the values of the curves and bars of all
// variants.
//
//     {variants: [name, ...], drawn: 10, charts: [lines or bars, ...]}
//
//     lines = {kind, unit, label, steps, x: {kind, unit, label}, limits: [[value, text], ...],
//              xs: [...], curves: [[end, width, [y, ...]] or 0, ...]}
//     bars  = {shares, unit, label, parts: [[name, class], ...], values: [[...] or 0, ...]}
//
// The points of a curve of steps are `width` apart and end at `end`. Those of another one have the
// first of `xs` as their places, and the last point `end`. Numbers have three digits.

#include <string>
#include <vector>

#include "base/json.h"
#include "measure/html/chart/chart.h"
#include "measure/html/page.h"
#include "measure/html/parts.h"

namespace rooflua::html {

class Choice {
 public:
  explicit Choice(const std::vector<Served>& variants);

  /// Whether there are more variants than a page draws without a script.
  bool needed() const { return names_.size() > most_drawn; }
  /// The chart with the first variants. @param chart  a series or a bar for each variant, in order
  std::string drawn(LineChart chart);
  std::string drawn(BarChart chart);
  /// Which variants are drawn, where it is not all of them.
  void note(HtmlPage& page) const;
  /// The document above; empty where no chart leaves a variant out.
  std::string json() const;

 private:
  /// Keeps the values of a chart; returns the attribute of its figure.
  std::string keep(Json chart);

  std::vector<std::string> names_;
  std::vector<Json> charts_;
};

}  // namespace rooflua::html
