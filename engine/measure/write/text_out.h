#pragma once
// Text on its way to a file: buffered, numbers without locale, write errors noticed.

#include <concepts>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "serve/contract/clock.h"

namespace rooflua {

class TextOut {
 public:
  /// @param name  stands for the stream in messages; `out` must outlive this
  TextOut(std::ostream& out, std::string name);

  TextOut& operator<<(std::string_view text);
  TextOut& operator<<(const char* text) { return *this << std::string_view(text); }
  TextOut& operator<<(std::integral auto number) {
    return integer(static_cast<std::int64_t>(number));
  }
  /// The shortest decimal that reads back the same.
  TextOut& operator<<(double number);
  /// time / 10^`digits` ps, exactly: 1250000 with 6 digits is "1.25".
  TextOut& decimal(Picoseconds time, int digits);
  TextOut& seconds(Picoseconds time) { return decimal(time, 12); }

  /// Hands everything on. @throws Error if it could not be written
  void flush();

 private:
  TextOut& integer(std::int64_t number);

  std::ostream* out_;
  std::string name_;
  std::string buffer_;
};

}  // namespace rooflua
