#include "library/answers.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/json_text.h"
#include "base/printable.h"

namespace rooflua::library {

namespace {

/// `tell` gets the message of the exception that is being handled.
template <class Tell>
int told(const Tell& tell) noexcept {
  try {
    try {
      throw;
    } catch (const Misuse& error) {
      tell(message_of(error));
      return ROOFLUA_MISUSE;
    } catch (const Closed& error) {
      tell(message_of(error));
      return ROOFLUA_CLOSED;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      tell(message_of(error));
      return ROOFLUA_ERROR;
    }
  } catch (...) {
    return ROOFLUA_MEMORY;  // of the message as well
  }
}

}  // namespace

void copy(const std::string& given, char* to, std::size_t bytes) {
  if (to == nullptr || bytes == 0) return;
  const std::string text = rooflua::valid_utf8(given);
  std::size_t length = std::min(text.size(), bytes - 1);
  while (length > 0 && length < text.size() &&
         (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
    --length;  // not inside of a character
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

int copy_json(const std::string& text, char* json, std::size_t bytes) {
  if (json == nullptr && bytes > 0) throw Misuse("json", "is NULL");
  copy(text, json, bytes);
  return static_cast<int>(text.size());
}

int caught(char* error, std::size_t bytes) noexcept {
  const int code = told([&](const std::string& text) { copy(text, error, bytes); });
  if (code == ROOFLUA_MEMORY && error != nullptr && bytes > 0)
    std::strncpy(error, "memory has run out", bytes)[bytes - 1] = '\0';
  return code;
}

int caught_as_json(char* json, std::size_t bytes) noexcept {
  return told([&](const std::string& text) {
    Json problem = Json::object();
    problem["error"] = text;
    copy(rooflua::dump_json(problem), json, bytes);
  });
}

}  // namespace rooflua::library
