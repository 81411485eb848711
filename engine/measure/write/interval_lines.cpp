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

constexpr std::size_t widest_line = 80;

/// A sentence in lines; `head` stands before its first one, `indent` before the others.
std::string wrapped(const std::string& sentence, const std::string& head,
                    const std::string& indent) {
  std::string out, line = head;
  std::size_t begin = 0;
  bool is_empty = true;  // the line has no word yet
  while (begin < sentence.size()) {
    const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
    const std::string word = sentence.substr(begin, end - begin);
    if (!is_empty && line.size() + 1 + word.size() > widest_line) {
      out += line + "\n";
      line = indent;
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + word;
    is_empty = false;
    begin = end + 1;
  }
  return out + line + "\n";
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

std::string interval_text(const std::vector<std::string>& sentences, const std::string& first,
                          const std::string& indent) {
  std::string out;
  const std::string blank(first.size(), ' ');
  for (const std::string& each : sentences)
    out += wrapped(each, out.empty() ? first : blank, blank + indent);
  return out;
}

std::string interval_report(const Json& document) {
  return interval_text(interval_lines(document), "interval  ");
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
