#pragma once
// Values by key, as many as fit. A value that was asked for lately is found in a few comparisons;
// one that lost its place is made again. For the plans of the few shapes that a step model asks
// about.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace rooflua {

/// @tparam Key    parts as 64-bit words in `words`, compared by ==
template <class Key, class Value>
class RecentValues {
 public:
  /// The value of this key, made by `make()` if it is not here. Valid until the next call.
  template <class Make>
  const Value& of(const Key& key, Make make) {
    const std::size_t first = place(key);
    std::size_t i = first;
    for (; i < first + ways; ++i) {
      Entry& entry = entries_[i % entries_.size()];
      if (!entry.value) break;
      if (entry.key == key) return *entry.value;
    }
    Entry& entry = entries_[(i < first + ways ? i : first) % entries_.size()];
    entry.value.reset();  // before make(), which may throw
    entry.value.emplace(make());
    entry.key = key;
    return *entry.value;
  }

 private:
  static constexpr std::size_t ways = 4;
  static constexpr unsigned place_bits = 6;

  struct Entry {
    Key key;
    std::optional<Value> value;
  };
  static std::size_t place(const Key& key) {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : key.words)
      hash = (hash ^ word) * 0x9E3779B97F4A7C15ull ^ hash >> 29;
    return (hash ^ hash >> 32) * 0x9E3779B97F4A7C15ull >> (64 - place_bits);
  }

  std::array<Entry, std::size_t{1} << place_bits> entries_;
};

/// A key of N parts.
template <std::size_t N>
struct Words {
  std::array<std::uint64_t, N> words{};
  friend bool operator==(const Words& a, const Words& b) {  // faster than memcmp at this size
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i < N; ++i) differ |= a.words[i] ^ b.words[i];
    return differ == 0;
  }
};

}  // namespace rooflua
