#pragma once
// A checksum of texts: tells changed files and damaged rows. It is no cryptographic hash.

#include <cstdint>
#include <string>
#include <string_view>

namespace rooflua {

/// Eight bytes at a time, because shipped tables are megabytes. The same on every machine.
class Checksum {
 public:
  /// Texts are told apart: "ab", "c" differs from "a", "bc".
  void add(std::string_view bytes);
  /// 64 bits as 16 hexadecimal digits: enough to see that a text was altered.
  std::string hex() const;
  /// 128 bits as 32 digits: a name of content. Among 10^9 contents two have one name with a
  /// probability below 10^-20.
  std::string name() const;

 private:
  void mix(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15ull;
    value_ ^= value_ >> 32;
    second_ = (second_ ^ word) * 0xD6E8FEB86659FD93ull;
    second_ ^= second_ >> 29;
  }
  std::uint64_t value_ = 14695981039346656037ull;
  std::uint64_t second_ = 0x2545F4914F6CDD1Dull;
};

}  // namespace rooflua
