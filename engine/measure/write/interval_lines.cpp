#include "measure/write/interval_lines.h"

#include <algorithm>

#include "base/json_text.h"

namespace rooflua {

std::vector<std::string> interval_lines(const Json& document) {
  std::vector<std::string> out;
  const Json* intervals = document.find("intervals");
  const Json* lines = intervals == nullptr ? nullptr : intervals->find("text");
  if (lines == nullptr || !lines->is_array()) return out;
  for (const Json& line : lines->items()) out.push_back(line.text());
  return out;
}

std::vector<std::string> interval_kinds(const std::vector<const Json*>& documents) {
  std::vector<std::string> out;
  for (const Json* document : documents) {
    const Json* intervals = document->find("intervals");
    if (intervals == nullptr) continue;
    const std::string line = text_of(*intervals, "about");
    if (!line.empty() && std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
  }
  return out;
}

}  // namespace rooflua
