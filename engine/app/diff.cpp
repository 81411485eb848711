#include <cstdio>
#include <fstream>

#include "app/commands.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "measure/write/report.h"
#include "measure/write/result.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

/// Whether a file is no JSON document but a table of requests: it does not begin with a brace.
bool is_table(const std::string& path) {
  std::ifstream in(path);
  char first = '{';
  in >> first;
  return first != '{' && first != '[';
}

int diff_requests(const std::string& a, const std::string& b, const std::filesystem::path& home) {
  script::Vm vm({.home = home, .trusted = true});
  const Json told = vm.call("rooflua.explore.side_by_side", "of_requests",
                            {Json(Json::Array{Json(a), Json(b)})});
  std::fputs(printable(text_of(told, "text")).c_str(), stdout);
  return is_true(told, "is_same") ? 0 : 1;
}

}  // namespace

int diff(const std::string& a, const std::string& b, double tolerance,
         const std::filesystem::path& home) {
  if (is_table(a) && is_table(b)) return diff_requests(a, b, home);
  const Json first = read_json(a), second = read_json(b);
  const Comparison comparison = compare(first, second, tolerance);
  std::fputs(report(comparison, tolerance).c_str(), stdout);
  script::Vm vm({.home = home});
  const Json names(Json::Array{Json(a), Json(b)});
  const auto is_document = [](const Json& each) {
    return each.is_object() && each.find("schema") != nullptr;
  };
  const Json told =
      is_document(first) && is_document(second)
          ? vm.call("rooflua.explore.differences", "of_documents", {first, second, names})
          : vm.call("rooflua.explore.side_by_side", "of_results", {names});
  if (!told.text().empty()) std::fputs((printable(told.text()) + "\n").c_str(), stdout);
  return comparison.differences.empty() ? 0 : 1;
}

int diff_schedules(const std::string& a, const std::string& b, const std::filesystem::path& home) {
  script::Vm vm({.home = home});
  const Json told = vm.call("rooflua.schedules.differences", "of", {Json(a), Json(b)});
  std::fputs(printable(text_of(told, "text")).c_str(), stdout);
  return is_true(told, "is_same") ? 0 : 1;
}

}  // namespace rooflua::app
