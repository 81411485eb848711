#include "tests/reference/engines/block_pool.h"

#include <algorithm>

namespace rooflua::reference {

BlockPool::BlockPool(int blocks, bool caching)
    : blocks_(static_cast<std::size_t>(blocks)), caching_(caching) {
  for (int block = 0; block < blocks; ++block)
    blocks_[static_cast<std::size_t>(block)].place = queue_.insert(queue_.end(), block);
}

int BlockPool::hash(int parent, std::vector<Token> tokens) {
  const int next = static_cast<int>(hashes_.size());
  const auto [place, is_new] = hashes_.try_emplace({parent, std::move(tokens)}, next);
  if (is_new) contents_.push_back(place->first);
  return place->second;
}

int BlockPool::find(int hash) const {
  const auto found = by_hash_.find(hash);
  return found == by_hash_.end() ? -1 : found->second.front();
}

int BlockPool::common(int parent, const std::vector<Token>& tokens) const {
  int most = 0;
  for (const auto& [hash, blocks] : by_hash_) {
    const auto& [before, cached] = content(hash);
    if (before != parent) continue;
    const auto [end, other] =
        std::mismatch(tokens.begin(), tokens.end(), cached.begin(), cached.end());
    most = std::max(most, static_cast<int>(end - tokens.begin()));
  }
  return most;
}

void BlockPool::touch(int number) {
  Block& block = blocks_[static_cast<std::size_t>(number)];
  if (block.references++ == 0) queue_.erase(block.place);
}

int BlockPool::pop() {
  const int number = queue_.front();
  queue_.pop_front();
  blocks_[static_cast<std::size_t>(number)].references = 1;
  const int hash = blocks_[static_cast<std::size_t>(number)].hash;
  drop_hash(number);
  if (hash >= 0 && find(hash) < 0) lost_.push_back(hash);
  return number;
}

void BlockPool::drop_hash(int number) {
  Block& block = blocks_[static_cast<std::size_t>(number)];
  if (block.hash < 0) return;
  std::vector<int>& candidates = by_hash_[block.hash];
  candidates.erase(std::find(candidates.begin(), candidates.end(), number));
  if (candidates.empty()) by_hash_.erase(block.hash);
  block.hash = -1;
}

void BlockPool::set_hash(int number, int hash) {
  Block& block = blocks_[static_cast<std::size_t>(number)];
  if (!caching_ || block.hash >= 0) return;
  block.hash = hash;
  by_hash_[hash].push_back(number);
}

void BlockPool::forget() {
  for (std::size_t block = 0; block < blocks_.size(); ++block) drop_hash(static_cast<int>(block));
  lost_.clear();
}

void BlockPool::free_all(const std::vector<int>& blocks) {
  for (auto number = blocks.rbegin(); number != blocks.rend(); ++number) {
    Block& block = blocks_[static_cast<std::size_t>(*number)];
    if (--block.references > 0) continue;
    const auto where = block.hash < 0 ? queue_.begin() : queue_.end();
    block.place = queue_.insert(where, *number);
  }
}

}  // namespace rooflua::reference
