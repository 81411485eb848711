#include <cstdio>

#include "app/commands.h"
#include "base/json.h"
#include "measure/report.h"
#include "measure/result.h"

namespace rooflua::app {

int diff(const std::string& a, const std::string& b, double tolerance) {
  const Comparison comparison = compare(read_json(a), read_json(b), tolerance);
  std::fputs(report(comparison, tolerance).c_str(), stdout);
  return comparison.differences.empty() ? 0 : 1;
}

}  // namespace rooflua::app
