#pragma once
// How functions of the C interface answer: with a code, and a text in the caller's memory. No
// exception passes. Lua's own errors were exceptions before (Vm::protect).

#include <cstddef>
#include <string>

#include "base/error.h"
#include "library/rooflua.h"

namespace rooflua::library {

/// An argument of a call is wrong: ROOFLUA_MISUSE.
class Misuse : public Error {
 public:
  using Error::Error;
};

/// A handle is NULL, closed, or of another thread: ROOFLUA_CLOSED.
class Closed : public Error {
 public:
  using Error::Error;
};

/// Copies a text with its NUL, as much as fits, as UTF-8.
void copy(const std::string& given, char* to, std::size_t bytes);

/// The same of a whole document. @return the bytes of the whole text
/// @throws Misuse if `json` is NULL and `bytes` is not 0
int copy_json(const std::string& text, char* json, std::size_t bytes);

/// The code of the exception that is being handled; its message is copied.
int caught(char* error, std::size_t bytes) noexcept;
/// The same; the message is copied as {"error": "..."}.
int caught_as_json(char* json, std::size_t bytes) noexcept;

/// Runs `body`, which returns a code.
template <class Body>
int answered(const Body& body, char* error, std::size_t bytes) noexcept {
  try {
    return body();
  } catch (...) {
    return caught(error, bytes);
  }
}

/// Runs `body`, which returns a document as text.
template <class Body>
int answered_in_json(const Body& body, char* json, std::size_t bytes) noexcept {
  try {
    return copy_json(body(), json, bytes);
  } catch (...) {
    return caught_as_json(json, bytes);
  }
}

}  // namespace rooflua::library
