#include <cstdio>

#include "app/commands.h"
#include "base/json.h"
#include "measure/write/report.h"
#include "measure/write/result.h"

namespace rooflua::app {

int diff(const std::string& a, const std::string& b, double tolerance) {
  const Json first = read_json(a), second = read_json(b);
  const Comparison comparison = compare(first, second, tolerance);
  std::fputs(report(comparison, tolerance).c_str(), stdout);
  return comparison.differences.empty() ? 0 : 1;
}

}  // namespace rooflua::app
