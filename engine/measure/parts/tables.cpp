// Cells of parts in tables (part.h).

#include "measure/parts/part.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

struct Cell {
  const PartRow& part;
  const PartMetric& metric;

  bool in_gb() const { return part.in_gb && metric.unit == "bytes"; }
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const std::int64_t* count) const { return grouped(*count); }
  std::string operator()(const double* value) const {
    if (metric.unit == "s") return duration(*value);
    if (metric.unit == "1") return percent(*value);
    return figure(in_gb() ? *value / 1e9 : *value);
  }
  std::string operator()(const std::optional<double>* value) const {
    return *value ? (*this)(&**value) : "";
  }
  std::string operator()(const Statistics* of) const { return (*this)(&of->mean); }
  std::string operator()(const std::vector<double>* list) const {
    std::string out;
    for (const double each : *list) out += (out.empty() ? "" : ", ") + (*this)(&each);
    return out;
  }
};

}  // namespace

std::vector<std::string> labels_of(const PartRow& part) {
  std::vector<std::string> out(part.labels.begin(), part.labels.end());
  if (!out.empty()) return out;
  for (const PartMetric& metric : part.metrics)
    out.emplace_back(part.in_gb && metric.unit == "bytes" ? "GB" : metric.label);
  return out;
}

std::vector<std::string> cells_of(const PartFigures& each) {
  const PartRow& part = *each.part;
  if (part.cells != nullptr) return part.cells(each.figures);
  std::any figures = each.figures;
  std::vector<std::string> out;
  for (const PartMetric& metric : part.metrics)
    out.push_back(std::visit(Cell{part, metric}, metric.in(figures)));
  return out;
}

}  // namespace rooflua
