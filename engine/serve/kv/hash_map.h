#pragma once
// A map from hashes of blocks to small numbers.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rooflua {

/// Open addressing. Grows with its entries.
class HashMap {
 public:
  HashMap();
  std::int32_t find(std::uint64_t hash) const;  // -1: none
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&entries_[place(hash)]); }
  void set(std::uint64_t hash, std::int32_t value);
  void erase(std::uint64_t hash);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::int32_t value = -1;  // -1: empty
  };
  std::size_t place(std::uint64_t hash) const { return (hash * 0x9E3779B97F4A7C15ull) >> shift_; }
  void resize(std::size_t size);
  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  int shift_ = 0;
};

}  // namespace rooflua
