#include "base/json_text.h"

namespace rooflua {

std::string text_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value != nullptr && value->is_text() ? value->text() : "";
}

}  // namespace rooflua
