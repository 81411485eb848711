#include "base/checksum.h"

#include <cstdio>

namespace rooflua {

namespace {

inline std::uint64_t word_of(std::string_view bytes, std::size_t size) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

}  // namespace

void Checksum::add(std::string_view bytes) {
  mix(bytes.size());
  // Of a constant number of bytes compilers make one load.
  for (; bytes.size() >= sizeof(std::uint64_t); bytes.remove_prefix(sizeof(std::uint64_t)))
    mix(word_of(bytes, sizeof(std::uint64_t)));
  if (!bytes.empty()) mix(word_of(bytes, bytes.size()));
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
