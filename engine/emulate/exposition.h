#pragma once
// Series in the text format of Prometheus. @source prometheus.io, exposition formats, 0.0.4

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rooflua::emulate {

/// Names and values of labels, in their order.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// Observations in buckets, whose upper bounds increase; the last one has no bound.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void observe(double value);
  std::int64_t count() const;
  double sum() const { return sum_; }
  const std::vector<double>& bounds() const { return bounds_; }
  const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::int64_t> counts_;
  double sum_ = 0;
};

/// Writes families, one after the other.
class Exposition {
 public:
  /// @param type  "gauge", "counter" or "histogram"
  void begin(const std::string& name, const std::string& type, const std::string& help);
  /// A series of the family that began last. @param suffix  after its name
  void add(const Labels& labels, double value, std::string_view suffix = "");
  void add(const Labels& labels, const Histogram& histogram);
  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

}  // namespace rooflua::emulate
