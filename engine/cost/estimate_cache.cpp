#include "cost/estimate_cache.h"

namespace rooflua {

constexpr std::size_t slot_bits = 10;  // stays in the L2 cache: most contexts are new anyway

EstimateCache::Slot& EstimateCache::slot(const QueryKey& key) {
  if (slots_.empty()) slots_.resize(std::size_t{1} << slot_bits);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < key.count; ++i)
    hash = (hash ^ key.words[i]) * 0x9E3779B97F4A7C15ull ^ hash >> 29;
  return slots_[(hash ^ hash >> 32) * 0x9E3779B97F4A7C15ull >> (64 - slot_bits)];
}

}  // namespace rooflua
