#include "cost/database/estimate_cache.h"

namespace rooflua {

constexpr std::size_t set_bits = 10;  // stays in the L2 cache: most contexts are new anyway

EstimateCache::Slot& EstimateCache::slot(const QueryKey& key) {
  if (slots_.empty()) slots_.resize(std::size_t{1} << set_bits);
  return slots_[key.hash >> (64 - set_bits)];
}

}  // namespace rooflua
