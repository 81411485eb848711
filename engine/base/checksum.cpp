#include "base/checksum.h"

#include <cstdio>

namespace rooflua {

void Checksum::add(std::string_view bytes) {
  constexpr std::uint64_t prime = 1099511628211ull;
  for (const char byte : bytes) {
    value_ ^= static_cast<unsigned char>(byte);
    value_ *= prime;
  }
  value_ ^= 0x100;  // the end of a text: no byte has this value
  value_ *= prime;
}

std::string Checksum::hex() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value_));
  return text;
}

}  // namespace rooflua
