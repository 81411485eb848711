#include "serve/routing/prefix_holders.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua {

std::span<const std::int32_t> PrefixHolders::of(std::uint64_t hash) const {
  const auto found = holders_.find(hash);
  if (found == holders_.end()) return {};
  return found->second;
}

void PrefixHolders::add(std::uint64_t hash, std::int32_t replica) {
  std::vector<std::int32_t>& all = holders_[hash];
  all.insert(std::lower_bound(all.begin(), all.end(), replica), replica);
}

void PrefixHolders::remove(std::uint64_t hash, std::int32_t replica) {
  const auto found = holders_.find(hash);
  ROOFLUA_ASSERT(found != holders_.end());
  std::erase(found->second, replica);
  if (found->second.empty()) holders_.erase(found);
}

}  // namespace rooflua
