#pragma once
// Answers by exact question, in front of a lookup. Direct-mapped: a new answer takes the place of
// an
// old one, nothing is allocated after the first, and what is forgotten is computed again, the same.

#include <array>
#include <cstdint>
#include <vector>

#include "cost/estimate.h"

namespace rooflua {

/// The fields a query's op reads, and no others, as bits.
struct QueryKey {
  std::array<std::uint64_t, 6> words{};
  friend bool operator==(const QueryKey& a, const QueryKey& b) {  // faster than memcmp at this size
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i < a.words.size(); ++i) differ |= a.words[i] ^ b.words[i];
    return differ == 0;
  }
};
QueryKey key_of(const Query& query);

class EstimateCache {
 public:
  struct Slot {
    QueryKey key;  // words[0] is never 0 in use
    Estimate estimate;
  };
  /// Where the answer is (its key equals) or belongs.
  Slot& slot(const QueryKey& key);

 private:
  std::vector<Slot> slots_;
};

}  // namespace rooflua
