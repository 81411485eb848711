#pragma once
// The engines whose kernels were timed, in the order in which their rows stand in for those of
// another one. Each is declared where its rules are, in scripts/engines.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace rooflua {

struct Lender {
  std::string engine;     // as tables name it
  std::string libraries;  // engines with one word here take most kernels from the same libraries
};

/// Empty where no engine's kernels are asked for: then the rows of all engines are alike.
using Lenders = std::vector<Lender>;

inline Lenders::const_iterator find_lender(const Lenders& lenders, std::string_view engine) {
  return std::find_if(lenders.begin(), lenders.end(),
                      [&](const Lender& each) { return each.engine == engine; });
}

/// The engine that is asked for: one of the lenders, the first where none is named. Throws Error
/// for one that is not known.
inline std::string engine_among(const Lenders& lenders, const std::string& asked) {
  if (asked.empty()) return lenders.empty() ? "" : lenders.front().engine;
  if (find_lender(lenders, asked) != lenders.end()) return asked;
  std::vector<std::string> known;
  for (const Lender& each : lenders) known.push_back(each.engine);
  std::sort(known.begin(), known.end());
  throw Error("engine", unknown_name("engine", asked, known));
}

/// Whether both engines are known and take most of their kernels from the same libraries.
inline bool share_libraries(const Lenders& lenders, std::string_view a, std::string_view b) {
  const auto one = find_lender(lenders, a), other = find_lender(lenders, b);
  return a == b ||
         (one != lenders.end() && other != lenders.end() && one->libraries == other->libraries);
}

}  // namespace rooflua
