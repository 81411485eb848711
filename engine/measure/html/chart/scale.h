#pragma once
// One axis of a chart: from values to a line of pixels, and where its ticks are.

#include <optional>
#include <string>
#include <vector>

namespace rooflua {

/// What an axis shows. Without `min` or `max` the data decides; a linear axis of values >= 0 then
/// begins at 0.
struct Axis {
  enum class Kind {
    linear,
    log,         // base 10; only values > 0 are drawn
    percentile,  // of shares in [0, 1): distance -log10(1 - q), so that p90, p99, p99.9 are a step
                 // apart
  };
  std::string label;  // "time per output token"
  std::string unit;   // "ms"; after the label, in readouts after the number
  Kind kind = Kind::linear;
  std::optional<double> min = {}, max = {};
  std::vector<double> ticks = {};  // where they should be, instead of at round numbers
};

struct Tick {
  double value;
  std::string text;
  bool major = true;  // minor ones are lines without text
};

class Scale {
 public:
  /// @param lowest, highest  of the data; both NaN when there is none
  /// @param from, to  pixels of the two ends
  Scale(const Axis& axis, double lowest, double highest, double from, double to);

  /// Whether an axis of that kind can place the value: finite, and above 0 on a logarithmic one.
  static bool has_place(Axis::Kind kind, double value);
  bool shows(double value) const { return has_place(kind_, value); }
  double operator()(double value) const;
  double at(double pixel) const;  // the inverse
  double low() const { return low_; }
  double high() const { return high_; }
  double from() const { return from_; }
  double to() const { return to_; }
  /// Round numbers inside the axis, about `wanted` of them.
  std::vector<Tick> ticks(int wanted) const;

 private:
  double placed(double value) const;  // linear, log10 or -log10(1 - q)
  std::vector<Tick> linear_ticks(int wanted) const;
  std::vector<Tick> log_ticks(int wanted) const;
  std::vector<Tick> percentile_ticks() const;

  Axis::Kind kind_;
  std::vector<double> wanted_ticks_;
  double low_, high_, from_, to_;
};

/// `number` with `decimals`, thousands grouped: "12,000", "0.25".
std::string tick_text(double number, int decimals);
/// With as few digits as the number has: "0.25", "512", "12,000".
std::string short_text(double number);

}  // namespace rooflua
