#include "measure/write/interval_lines.h"

#include <algorithm>

#include "base/json_text.h"

namespace rooflua {

namespace {

/// What stands at the end of a line on a kind: "(vllm, dense, hopper, unsaturated; ...)".
std::string kind_of(const std::string& line) {
  const std::size_t begin = line.rfind('(');
  return begin == std::string::npos ? line : line.substr(begin);
}

/// High / low of the first figure that has an interval; 0 without one.
double width_of(const Json& intervals) {
  for (const char* key : {"tpot_s", "ttft_s", "e2e_s", "step_s"}) {
    const Json* of = intervals.find(key);
    if (of != nullptr) return number_of(*of, "high") / number_of(*of, "low");
  }
  return 0;
}

struct Kind {
  std::string name, line;
  double width = 0;
};

}  // namespace

std::vector<std::string> interval_lines(const Json& document) {
  std::vector<std::string> out;
  const Json* intervals = document.find("intervals");
  const Json* lines = intervals == nullptr ? nullptr : intervals->find("text");
  if (lines == nullptr || !lines->is_array()) return out;
  for (const Json& line : lines->items()) out.push_back(line.text());
  return out;
}

std::vector<std::string> interval_kinds(const std::vector<const Json*>& documents) {
  std::vector<Kind> kinds;
  for (const Json* document : documents) {
    const Json* intervals = document->find("intervals");
    if (intervals == nullptr) continue;
    const std::string line = text_of(*intervals, "about");
    const Kind found{kind_of(line), line, width_of(*intervals)};
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const Kind& each) { return each.name == found.name; });
    if (known == kinds.end()) {
      kinds.push_back(found);
    } else if (found.width > known->width) {
      *known = found;
    }
  }
  std::vector<std::string> out;
  for (const Kind& each : kinds) out.push_back(each.line);
  return out;
}

}  // namespace rooflua
