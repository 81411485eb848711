#include "base/checksum.h"

#include <algorithm>
#include <cstdio>

namespace rooflua {

void Checksum::add(std::string_view bytes) {
  mix(bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(bytes.size(), sizeof word);
    for (std::size_t i = 0; i < size; ++i)
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    mix(word);
    bytes.remove_prefix(size);
  }
}

namespace {

std::string digits(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

std::string Checksum::hex() const {
  return digits(value_);
}

std::string Checksum::name() const {
  return digits(value_) + digits(second_);
}

}  // namespace rooflua
