#pragma once
// A checksum of texts: tells changed files and damaged rows. It is no cryptographic hash.

#include <cstdint>
#include <string>
#include <string_view>

namespace rooflua {

/// FNV-1a, 64 bit. @source Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm"
class Checksum {
 public:
  /// Texts are told apart: "ab", "c" differs from "a", "bc".
  void add(std::string_view bytes);
  /// 16 hexadecimal digits.
  std::string hex() const;

 private:
  std::uint64_t value_ = 14695981039346656037ull;
};

}  // namespace rooflua
