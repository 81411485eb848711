// Stores of a naive replica: what it finds in them, what a write reads, and what leaves its blocks.

#include <algorithm>

#include "tests/reference/naive/replica.h"

namespace rooflua::reference {

/// Tokens that it loads where it is admitted now.
int NaiveReplica::found_in_stores(NaiveRequest& r, int gpu) const {
  if (tiers_ == nullptr || r.landed_kv || r.away) return 0;
  return tiers_->find(place_, r.id, gpu, r.sequence());
}

/// Where others wait with loaded KV, or for it: the blocks that all of them and this request, which
/// has so many, lack for their whole sequences. 0: there are no others, or they lack none.
int NaiveReplica::needed_beside_loaded(const NaiveRequest& r, int has) const {
  int owed = 0;
  for (const NaiveRequest& other : requests_) {
    if (!other.loads && !other.landed_kv) continue;
    owed += std::max(0, ceil_blocks(other.sequence()) - static_cast<int>(other.blocks.size()));
  }
  if (owed == 0) return 0;
  return owed + ceil_blocks(r.sequence()) - has + config_.seat_blocks;
}

void NaiveReplica::ask_again() {
  std::vector<NaiveRequest*> back;
  back.swap(deferred_);
  std::sort(back.begin(), back.end(), [](const auto* a, const auto* b) { return a->id > b->id; });
  for (NaiveRequest* r : back) queue(*r, true);
}

std::vector<int> NaiveReplica::seated() const {
  std::vector<int> out;
  for (const NaiveRequest* r : running_)
    if (r->fresh) out.push_back(r->id);
  return out;
}

std::vector<int> NaiveReplica::pin(int id, int tokens) {
  const NaiveRequest& r = request(id);
  std::vector<int> blocks;
  for (int j = 0; j < tokens / config_.block_size; ++j) {
    const int block = pool_.find(r.hashes[static_cast<std::size_t>(j)]);
    if (block < 0) break;
    blocks.push_back(block);
  }
  for (const int block : blocks) pool_.touch(block);
  return blocks;
}

/// A block that left right after the one that follows it is of one run with it.
std::vector<NaiveTiers::Lost> NaiveReplica::take_lost() {
  std::vector<NaiveTiers::Lost> out;
  int follower = -1;
  for (const int hash : pool_.take_lost()) {
    const bool goes_on = follower >= 0 && pool_.content(follower).first == hash;
    follower = hash;
    if (goes_on) {
      out.back().kept -= config_.block_size;
      continue;
    }
    std::vector<Token>& tokens = out.emplace_back().tokens;
    for (int each = hash; each >= 0; each = pool_.content(each).first) {
      const std::vector<Token>& own = pool_.content(each).second;
      tokens.insert(tokens.begin(), own.begin(), own.end());
      out.back().adapter = -1 - pool_.content(each).first;
    }
    out.back().kept = static_cast<int>(tokens.size()) - config_.block_size;
  }
  return out;
}

}  // namespace rooflua::reference
