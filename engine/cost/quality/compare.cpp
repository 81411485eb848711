#include "cost/quality/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/numbers/digits.h"
#include "cost/model/kernel.h"
#include "cost/quality/questions.h"

namespace rooflua {
namespace {

struct Ratio {
  double value;
  int line;
};

double quantile(const std::vector<Ratio>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  const double rest = at - static_cast<double>(low);
  return sorted[low].value + rest * (sorted[high].value - sorted[low].value);
}

Agreement agreement_of(const KernelTable& table, Evidence evidence, std::vector<Ratio>& ratios) {
  std::stable_sort(ratios.begin(), ratios.end(),
                   [](const Ratio& a, const Ratio& b) { return a.value < b.value; });
  const auto far = [](const Ratio& ratio) { return std::abs(std::log2(ratio.value)); };
  const Ratio& worst = far(ratios.front()) > far(ratios.back()) ? ratios.front() : ratios.back();
  return {table.name,
          evidence,
          static_cast<int>(ratios.size()),
          quantile(ratios, 0.1),
          quantile(ratios, 0.5),
          quantile(ratios, 0.9),
          worst.value,
          worst.line};
}

}  // namespace

std::vector<Agreement> compare(const MfuDatabase& answers, const MfuDatabase& reference) {
  std::vector<Agreement> result;
  for (const KernelTable* table : reference.tables()) {
    if (!table->variant.empty() && table->variant != "single") continue;
    std::map<Evidence, std::vector<Ratio>> found;
    for (const Question& question : questions_of(*table)) {
      if (!answers.prices(question.query)) continue;
      const Estimate& estimate = answers.estimate(question.query);
      const double ratio = estimate.latency_s / question.measured_s;
      const int line = table->rows[static_cast<std::size_t>(question.row)].line;
      if (ratio > 0 && std::isfinite(ratio)) found[estimate.evidence].push_back({ratio, line});
    }
    for (auto& [evidence, ratios] : found) result.push_back(agreement_of(*table, evidence, ratios));
  }
  return result;
}

std::string text(const std::vector<Agreement>& agreements) {
  std::string result, table;
  char line[200];
  for (const Agreement& each : agreements) {
    if (each.table != table) result += each.table + "\n";
    table = each.table;
    std::snprintf(line, sizeof line,
                  "  %-12s %6d rows  median %.3f  (p10 %.3f, p90 %.3f)  farthest %s, line %d\n",
                  std::string(name(each.evidence)).c_str(), each.rows, each.median, each.p10,
                  each.p90, significant(each.worst, 3).c_str(), each.worst_line);
    result += line;
  }
  return result;
}

}  // namespace rooflua
