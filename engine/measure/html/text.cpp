#include "measure/html/text.h"

#include <charconv>
#include <cmath>

#include "base/printable.h"

namespace rooflua {

std::string escaped(std::string_view given) {
  const std::string text = valid_utf8(given);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default: {
        const auto code = static_cast<unsigned char>(c);
        const bool forbidden = code < 0x20 && c != '\n' && c != '\t' && c != '\r';
        out += forbidden ? std::string_view("\xEF\xBF\xBD") : std::string_view(&c, 1);
      }
    }
  }
  return out;
}

std::string pixels(double coordinate) {
  char text[64];
  const double rounded = std::round(coordinate * 100) / 100;
  const auto end = std::to_chars(text, text + sizeof text, rounded == 0 ? 0.0 : rounded,
                                 std::chars_format::fixed)
                       .ptr;
  std::string out(text, end);
  const std::size_t point = out.find('.');
  if (point != std::string::npos && out.size() > point + 3) out.resize(point + 3);
  return out;
}

}  // namespace rooflua
