#include "base/json_text.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.h"

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

Json read_json(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) throw Error(path.string(), "is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const bool there = std::filesystem::exists(path);
    throw Error(path.string(), there ? "cannot be read" : "there is no such file");
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (text.str().empty()) throw Error(path.string(), "is empty");
  return parse_json(text.str(), path.string());
}

}  // namespace rooflua
