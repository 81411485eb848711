#include "base/json_text.h"

#include <cmath>

namespace rooflua {

std::string text_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value != nullptr && value->is_text() ? value->text() : "";
}

double number_of(const Json& object, std::string_view key, double otherwise) {
  const Json* value = object.find(key);
  return value != nullptr && value->is_number() ? value->number() : otherwise;
}

std::int64_t whole_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  if (value == nullptr || !value->is_number()) return 0;
  const double number = value->number();
  return number == std::floor(number) && std::abs(number) < 9e18 ? value->integer() : 0;
}

bool is_true(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value != nullptr && value->is_boolean() && value->boolean();
}

Json texts_json(const std::vector<std::string>& texts) {
  return Json(Json::Array(texts.begin(), texts.end()));
}

}  // namespace rooflua
