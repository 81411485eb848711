#include "measure/write/left_out.h"

#include <algorithm>

#include "base/json_text.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

std::int64_t count_of(const Json& left) {
  return left.find("count")->integer();
}

std::string line(const Json& left, bool largest) {
  std::string out = text_of(left, "source") + ": " + (largest ? "up to " : "") +
                    grouped(count_of(left)) + " of " + grouped(left.find("total")->integer()) +
                    " " + text_of(left, "unit") + " left out: ";
  const Json::Array& reasons = left.find("reasons")->items();
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (i > 0) out += ", ";
    out += grouped(count_of(reasons[i])) + " " + text_of(reasons[i], "why");
    if (const Json* first = reasons[i].find("first_line"))
      out += " (first in line " + std::to_string(first->integer()) + ")";
  }
  return out;
}

}  // namespace

Json to_json(const std::optional<Unsent>& left) {
  if (!left) return Json();
  Json out = Json::object();
  std::int64_t count = 0;
  Json reasons = Json::array();
  for (const Unsent::Reason& each : left->reasons) {
    Json reason = Json::object();
    reason["why"] = each.why;
    reason["count"] = each.count;
    if (each.first_line > 0) reason["first_line"] = each.first_line;
    reasons.push_back(std::move(reason));
    count += each.count;
  }
  out["source"] = left->source;
  out["unit"] = left->unit;
  out["total"] = left->total;
  out["count"] = count;
  out["reasons"] = std::move(reasons);
  Json list = Json::array();
  list.push_back(std::move(out));
  return list;
}

std::vector<std::string> left_out_lines(const std::vector<const Json*>& documents) {
  struct Source {
    const Json* largest;
    bool differ = false;
  };
  std::vector<Source> sources;
  const auto add = [&](const Json& left) {
    const auto known = std::find_if(sources.begin(), sources.end(), [&](const Source& each) {
      return text_of(*each.largest, "source") == text_of(left, "source");
    });
    if (known == sources.end()) {
      sources.push_back({&left});
      return;
    }
    known->differ |= count_of(left) != count_of(*known->largest);
    if (count_of(left) > count_of(*known->largest)) known->largest = &left;
  };
  for (const Json* document : documents) {
    const Json* list = document->find("left_out");
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& left : list->items()) add(left);
  }
  std::vector<std::string> out;
  for (const Source& each : sources) out.push_back(line(*each.largest, each.differ));
  return out;
}

}  // namespace rooflua
