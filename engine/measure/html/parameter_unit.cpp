#include "measure/html/parameter_unit.h"

#include "base/json_text.h"

namespace rooflua::html {

std::string unit_of_parameter(const Json& parameters, const std::string& path) {
  if (!parameters.is_array() || path.empty()) return "";
  for (const Json& row : parameters.items()) {
    if (text_of(row, "path") != path) continue;
    const std::string unit = text_of(row, "unit");
    return unit == "1" ? "" : unit;
  }
  return "";
}

}  // namespace rooflua::html
