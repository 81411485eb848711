#pragma once
// Names of content in files of requests as identities of tokens (Segment::content).

#include <cstdint>
#include <string_view>

namespace rooflua {

/// splitmix64: spreads small ids over 64 bits, one to one.
inline std::uint64_t spread(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// FNV-1a of both, spread.
inline std::uint64_t identity(std::string_view kind, std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::string_view part : {kind, text}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  }
  return spread(hash);
}

}  // namespace rooflua
