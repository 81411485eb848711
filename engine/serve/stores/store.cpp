#include "serve/stores/store.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"

namespace rooflua {

namespace {
void belongs_to(StoredChunk& chunk, const Request* request) {
  if (request == nullptr) return;
  chunk.klass = request->klass;
  chunk.session = request->session;
  chunk.priority = request->priority;
}
}  // namespace

Store::Has Store::has(std::uint64_t hash) const {
  const std::int32_t id = by_hash_.find(hash);
  if (id < 0) return Has::nothing;
  return at(id).arrives ? Has::arriving : Has::ready;
}

/// The key that a policy gives a chunk.
double Store::key(const StoredChunk& chunk, const Owner& owner) const {
  if (owner.keys == nullptr) return 0;
  StoredBlock block;
  block.now_s = seconds(owner.now);
  block.put_s = seconds(chunk.put);
  block.used_s = seconds(chunk.used);
  block.bytes = owner.chunk_bytes;
  block.depth_tokens = chunk.depth_tokens;
  block.uses = chunk.uses;
  block.klass = chunk.klass;
  block.session = chunk.session;
  block.priority = chunk.priority;
  return owner.keys->key(block);
}

bool Store::put(std::span<const std::uint64_t> hashes, std::int32_t first, const Owner& owner,
                std::vector<std::int32_t>& placed) {
  ++rounds_;
  std::int64_t kept = 0;
  missing_.clear();
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    prefetch(hashes, i);
    const std::int32_t id = by_hash_.find(hashes[i]);
    if (id < 0) {
      missing_.push_back(static_cast<std::int32_t>(i));
      continue;
    }
    kept += at(id).may_leave();
    at(id).round = rounds_;
  }
  if (missing_.empty()) return true;
  if (!make_room(static_cast<std::int64_t>(missing_.size()), kept)) return false;
  for (const std::int32_t i : missing_)
    placed.push_back(
        place(hashes[static_cast<std::size_t>(i)], (first + i + 1) * chunk_tokens_, owner));
  most_used_ = std::max(most_used_, used_);
  ++version_;
  return true;
}

/// @param kept  of those that may leave, chunks of the run itself
bool Store::make_room(std::int64_t missing, std::int64_t kept) {
  const std::int64_t leave = used_ + missing - capacity_;
  if (leave > evictable_ - kept) return false;
  if (leave <= 0) return true;
  // In two rounds, so that the memory of the index is fetched in between.
  const std::size_t before = spare_.size();
  for (std::int64_t i = 0; i < leave; ++i) {
    const std::int32_t id = order_.first(chunks_, rounds_);
    ROOFLUA_ASSERT(id >= 0);
    order_.evict(chunks_, id);
    at(id).round = rounds_;
    by_hash_.prefetch(at(id).hash);
    spare_.push_back(id);
  }
  for (std::size_t i = before; i < spare_.size(); ++i) {
    by_hash_.erase(at(spare_[i]).hash);
    at(spare_[i]) = {};
  }
  used_ -= leave;
  evictable_ -= leave;
  evictions_ += leave;
  version_ += leave;
  return true;
}

void Store::take_away(std::int32_t id) {
  by_hash_.erase(at(id).hash);
  at(id) = {};
  spare_.push_back(id);
  --used_;
  ++version_;
}

void Store::cancel_put(std::span<const std::int32_t> chunks) {
  for (const std::int32_t id : chunks) {
    ROOFLUA_ASSERT(at(id).arrives);
    order_.remove(chunks_, id);
    take_away(id);
    --arriving_;
  }
}

std::int32_t Store::place(std::uint64_t hash, std::int32_t depth_tokens, const Owner& owner) {
  auto id = static_cast<std::int32_t>(chunks_.size());
  if (spare_.empty()) {
    chunks_.emplace_back();
  } else {
    id = spare_.back();
    spare_.pop_back();
  }
  StoredChunk& chunk = at(id);
  chunk.hash = hash;
  chunk.arrives = true;
  chunk.depth_tokens = depth_tokens;
  chunk.put = chunk.used = owner.now;
  belongs_to(chunk, owner.request);
  by_hash_.set(hash, id);
  order_.add(chunks_, id, key(chunk, owner));
  ++used_;
  ++arriving_;
  return id;
}

void Store::end_put(std::span<const std::int32_t> chunks, const Owner& owner) {
  for (const std::int32_t id : chunks) {
    ROOFLUA_ASSERT(at(id).arrives);
    at(id).arrives = false;
    at(id).put = owner.now;
    --arriving_;
    ++evictable_;
  }
  ++version_;
}

void Store::begin_read(std::span<const std::int32_t> chunks) {
  for (const std::int32_t id : chunks) {
    ROOFLUA_ASSERT(!at(id).arrives);
    evictable_ -= at(id).readers++ == 0;
  }
}

void Store::end_read(std::span<const std::int32_t> chunks, const Owner& owner) {
  for (const std::int32_t id : chunks) {
    StoredChunk& chunk = at(id);
    ROOFLUA_ASSERT(chunk.readers > 0);
    evictable_ += --chunk.readers == 0;
    if (owner.keys != nullptr) order_.use(chunks_, id, key(chunk, owner));
  }
}

/// The deepest first, so that it leaves before those in front of it.
void Store::ask(std::span<const std::uint64_t> hashes, const Owner& owner) {
  for (std::size_t i = 0; i < hashes.size(); ++i) by_hash_.prefetch(hashes[i]);
  for (std::size_t i = hashes.size(); i-- > 0;) {
    const std::int32_t id = by_hash_.find(hashes[i]);
    if (id < 0) {
      order_.miss(hashes[i]);
      continue;
    }
    StoredChunk& chunk = at(id);
    ++chunk.uses;
    chunk.used = owner.now;
    belongs_to(chunk, owner.request);
    order_.use(chunks_, id, key(chunk, owner));
  }
}

}  // namespace rooflua
