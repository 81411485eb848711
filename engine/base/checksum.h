#pragma once
// A checksum of texts: tells changed files and damaged rows. It is no cryptographic hash.

#include <cstdint>
#include <string>
#include <string_view>

namespace rooflua {

/// 64 bits, eight bytes at a time, because shipped tables are megabytes. The same on every machine.
class Checksum {
 public:
  /// Texts are told apart: "ab", "c" differs from "a", "bc".
  void add(std::string_view bytes);
  /// 16 hexadecimal digits.
  std::string hex() const;

 private:
  void mix(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15ull;
    value_ ^= value_ >> 32;
  }
  std::uint64_t value_ = 14695981039346656037ull;
};

}  // namespace rooflua
