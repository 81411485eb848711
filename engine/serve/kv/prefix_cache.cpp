#include "serve/kv/prefix_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {

constexpr std::uint64_t private_prompt = 1ull << 63;
constexpr std::int32_t prefetched = 8;  // entries of the index, ahead of the block at hand
constexpr std::uint64_t dead = 1;       // in place of a hash: no request will ask for the block

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// A stretch of a sequence with one identity: tokens offset, offset+1, ... of `content`.
struct Run {
  std::uint64_t content = 0;
  std::int64_t offset = 0;
  std::int64_t tokens = 0;
};

/// The runs of a request's sequence, from the left. The last one, the generated tokens, has no end.
Run run_at(const Request& request, const Progress& progress, std::size_t index,
           std::int64_t position) {
  const std::uint64_t own = private_prompt | static_cast<std::uint32_t>(request.id);
  const std::size_t prompt_runs = progress.segments.empty() ? 1 : progress.segments.size();
  if (index >= prompt_runs) {
    if (progress.output_content != 0) return {progress.output_content, 0, 1ll << 40};
    return {own, position, 1ll << 40};
  }
  if (progress.segments.empty()) return {own, 0, request.prompt_tokens};
  const Segment& segment = progress.segments[index];
  if (segment.content == 0) return {own, position, segment.tokens};
  return {segment.content, 0, segment.tokens};
}

}  // namespace

BlockMap::BlockMap() {
  resize(16);
}

void BlockMap::resize(std::size_t size) {
  const std::vector<Entry> entries = std::move(entries_);
  entries_.assign(size, Entry{});
  shift_ = 64 - std::countr_zero(size);
  count_ = 0;
  for (const Entry& each : entries) {
    if (each.block >= 0) set(each.hash, each.block);
  }
}

std::int32_t BlockMap::find(std::uint64_t hash) const {
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t i = place(hash); entries_[i].block >= 0; i = (i + 1) & mask) {
    if (entries_[i].hash == hash) return entries_[i].block;
  }
  return -1;
}

void BlockMap::set(std::uint64_t hash, std::int32_t block) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t i = place(hash);
  while (entries_[i].block >= 0 && entries_[i].hash != hash) i = (i + 1) & mask;
  count_ += entries_[i].block < 0;
  entries_[i] = {hash, block};
  if (2 * count_ > entries_.size()) resize(2 * entries_.size());
}

void BlockMap::erase(std::uint64_t hash) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t hole = place(hash);
  while (entries_[hole].block >= 0 && entries_[hole].hash != hash) hole = (hole + 1) & mask;
  if (entries_[hole].block < 0) return;
  --count_;
  for (std::size_t i = (hole + 1) & mask; entries_[i].block >= 0; i = (i + 1) & mask) {
    if (((i - place(entries_[i].hash)) & mask) < ((i - hole) & mask))
      continue;  // an entry must not move to a place before its own
    entries_[hole] = entries_[i];
    hole = i;
  }
  entries_[hole].block = -1;
}

PrefixCache::PrefixCache(std::int32_t total_blocks, std::int32_t block_size)
    : block_size_(block_size), total_blocks_(total_blocks) {
  if (total_blocks == 0) return;
  blocks_.emplace_back();
  push_tail(0);
}

PrefixCache::Chain& PrefixCache::chain(std::int32_t slot) const {
  const auto at = static_cast<std::size_t>(slot);
  if (at >= chain_of_.size()) chain_of_.resize(at + 1, -1);
  std::int32_t& place = chain_of_[at];
  if (place >= 0) return chains_[static_cast<std::size_t>(place)];
  if (spare_chains_.empty()) {
    place = static_cast<std::int32_t>(chains_.size());
    return chains_.emplace_back();
  }
  place = spare_chains_.back();
  spare_chains_.pop_back();
  return chains_[static_cast<std::size_t>(place)];
}

/// At least so many leading blocks' hashes.
const std::vector<std::uint64_t>& PrefixCache::hashes(const Request& request,
                                                      const Progress& progress,
                                                      std::int32_t blocks) const {
  std::vector<BlockHashes>& known_sizes = progress.block_hashes;
  const auto same_size = [this](const BlockHashes& each) { return each.block_size == block_size_; };
  auto found = std::find_if(known_sizes.begin(), known_sizes.end(), same_size);
  if (found == known_sizes.end()) found = known_sizes.insert(found, BlockHashes{block_size_, {}});
  std::vector<std::uint64_t>& out = found->hashes;
  const auto known = static_cast<std::int64_t>(out.size());
  if (known >= blocks) return out;
  std::uint64_t hash = known > 0 ? out.back() : 0x5EED;
  std::int64_t position = known * block_size_;
  std::size_t index = 0;
  std::int64_t start = 0;
  Run run = run_at(request, progress, index, start);
  while (start + run.tokens <= position) {
    start += run.tokens;
    run = run_at(request, progress, ++index, start);
  }
  for (std::int64_t block = known; block < blocks; ++block) {
    const std::int64_t end = (block + 1) * block_size_;
    while (position < end) {
      const std::int64_t upto = std::min(end, start + run.tokens);
      hash = mix(hash ^ run.content);
      hash = mix(hash + static_cast<std::uint64_t>(run.offset + position - start));
      hash = mix(hash + static_cast<std::uint64_t>(upto - position));
      position = upto;
      if (position < start + run.tokens) continue;
      start += run.tokens;
      run = run_at(request, progress, ++index, start);
    }
    if (hash <= dead) hash += 2;
    out.push_back(hash);
  }
  return out;
}

/// Leading blocks within `tokens` tokens that can be cached here.
std::int32_t PrefixCache::askable_blocks(const Request& request, const Progress& progress,
                                         std::int32_t tokens) const {
  const std::int32_t whole = tokens / block_size_;
  return request.preemptions > 0 ? whole : std::min(whole, public_blocks(progress));
}

std::uint64_t PrefixCache::first_hash(const Request& request, const Progress& progress,
                                      std::int32_t tokens) const {
  if (askable_blocks(request, progress, tokens) <= 0) return 0;
  return hashes(request, progress, 1).front();
}

PrefixCache::Hit PrefixCache::peek(const Request& request, const Progress& progress,
                                   std::int32_t tokens) const {
  const std::int32_t most = askable_blocks(request, progress, tokens);
  Hit hit;
  if (most <= 0) return hit;
  const std::vector<std::uint64_t>& known = hashes(request, progress, most);
  for (; hit.blocks < most; ++hit.blocks) {
    index_.prefetch(known[static_cast<std::size_t>(std::min(hit.blocks + prefetched, most - 1))]);
    const std::int32_t block = index_.find(known[static_cast<std::size_t>(hit.blocks)]);
    if (block < 0) break;
    hit.last_is_free = blocks_[static_cast<std::size_t>(block)].references == 0;
    if (hit.last_is_free) ++hit.free;
  }
  return hit;
}

PrefixCache::Hit PrefixCache::lookup(std::int32_t slot, const Request& request,
                                     const Progress& progress, std::int32_t tokens) const {
  Chain& own = chain(slot);
  if (own.version == version_ && own.hit_tokens == tokens) return own.hit;
  own.version = version_;
  own.hit_tokens = tokens;
  own.hit = peek(request, progress, tokens);
  return own.hit;
}

void PrefixCache::seat(std::int32_t slot, const Request& request, const Progress& progress,
                       std::int32_t hit_blocks, std::int32_t fresh) {
  Chain& own = chain(slot);
  ROOFLUA_ASSERT(own.blocks.empty());
  const std::vector<std::uint64_t>& known = hashes(request, progress, hit_blocks);
  for (std::int32_t j = 0; j < hit_blocks; ++j) {
    const std::int32_t block = index_.find(known[static_cast<std::size_t>(j)]);
    ROOFLUA_ASSERT(block >= 0);
    Block& record = blocks_[static_cast<std::size_t>(block)];
    if (record.references++ == 0) leave_queue(block);
    own.blocks.push_back(block);
  }
  own.remembered = hit_blocks;
  if (hit_blocks > 0) ++version_;
  grow(slot, fresh);
}

void PrefixCache::grow(std::int32_t slot, std::int32_t more) {
  Chain& own = chain(slot);
  std::int32_t ahead = head_;  // whose content will be dropped, if it has any
  for (std::int32_t i = 0; i < prefetched && ahead >= 0; ++i) ahead = next_of(ahead);
  for (; more > 0; --more) {
    if (ahead >= 0) {
      index_.prefetch(blocks_[static_cast<std::size_t>(ahead)].hash);
      ahead = next_of(ahead);
    }
    own.blocks.push_back(pop());
  }
}

void PrefixCache::take(std::int32_t more) {
  for (; more > 0; --more) loose_.push_back(pop());
}

/// Leading full blocks that another request may ask for.
std::int32_t PrefixCache::public_blocks(const Progress& progress) const {
  std::int64_t tokens = 0;
  for (const Segment& segment : progress.segments) {
    if (segment.content == 0) return static_cast<std::int32_t>(tokens / block_size_);
    tokens += segment.tokens;
  }
  if (progress.output_content != 0 && !progress.segments.empty()) tokens += 1 << 30;
  return static_cast<std::int32_t>(tokens / block_size_);
}

bool PrefixCache::shares_output(const Request& request, const Progress& progress) const {
  return std::int64_t{public_blocks(progress)} * block_size_ > request.prompt_tokens;
}

void PrefixCache::remember(std::int32_t slot, const Request& request, const Progress& progress,
                           std::int32_t full) {
  if (!progress.segments.empty())
    index_blocks(slot, request, progress, std::min(full, public_blocks(progress)));
}

void PrefixCache::index_blocks(std::int32_t slot, const Request& request, const Progress& progress,
                               std::int32_t full) {
  Chain& own = chain(slot);
  if (own.remembered >= full) return;
  while (static_cast<std::int32_t>(own.blocks.size()) < full) {
    ROOFLUA_ASSERT(!loose_.empty());
    own.blocks.push_back(loose_.back());
    loose_.pop_back();
  }
  const std::vector<std::uint64_t>& known = hashes(request, progress, full);
  for (std::int32_t j = own.remembered; j < full; ++j) {
    const auto ahead = static_cast<std::size_t>(std::min(j + prefetched, full - 1));
    index_.prefetch(known[ahead]);
    add_content(own.blocks[static_cast<std::size_t>(j)], known[static_cast<std::size_t>(j)],
                j == 0);
  }
  own.remembered = full;
}

std::int32_t PrefixCache::release(std::int32_t slot, const Request& request,
                                  const Progress& progress, std::int32_t held, std::int32_t full,
                                  bool returns) {
  Chain& own = chain(slot);
  while (static_cast<std::int32_t>(own.blocks.size()) < held) {
    own.blocks.push_back(loose_.back());
    loose_.pop_back();
  }
  ROOFLUA_ASSERT(static_cast<std::int32_t>(own.blocks.size()) == held);
  if (returns) {
    index_blocks(slot, request, progress, full);
  } else {
    remember(slot, request, progress, full);
  }
  std::int32_t freed = 0;
  for (std::int32_t j = held - 1; j >= 0; --j) {
    const std::int32_t block = own.blocks[static_cast<std::size_t>(j)];
    Block& record = blocks_[static_cast<std::size_t>(block)];
    if (--record.references > 0) continue;
    if (j >= full && record.hash != 0) drop_content(block);  // of a chunk that the plan gave back
    if (j < full && record.hash == 0) record.hash = dead;
    record.hash != 0 ? push_tail(block) : push_head(block);
    ++freed;
  }
  own.blocks.clear();
  own.remembered = 0;
  ++version_;
  return freed;
}

void PrefixCache::forget(std::int32_t slot) {
  if (static_cast<std::size_t>(slot) >= chain_of_.size()) return;
  const std::int32_t place = std::exchange(chain_of_[static_cast<std::size_t>(slot)], -1);
  if (place < 0) return;
  Chain& own = chains_[static_cast<std::size_t>(place)];
  ROOFLUA_ASSERT(own.blocks.empty());
  own.version = -1;
  own.hit_tokens = -1;
  spare_chains_.push_back(place);
}

std::int32_t PrefixCache::pop() {
  const std::int32_t block = head_;
  ROOFLUA_ASSERT(block >= 0);
  if (static_cast<std::size_t>(block) + 1 == blocks_.size()) add_next_block(block);
  Block& record = blocks_[static_cast<std::size_t>(block)];
  if (record.hash != 0) drop_content(block);
  leave_queue(block);
  record.references = 1;
  return block;
}

/// The block behind `untouched`, which is the last that exists, in the queue too.
void PrefixCache::add_next_block(std::int32_t untouched) {
  if (untouched + 1 == total_blocks_) return;
  const std::int32_t added = untouched + 1;
  Block& record = blocks_.emplace_back();
  Block& before = blocks_[static_cast<std::size_t>(untouched)];
  record.previous = untouched;
  record.next = before.next;
  (before.next >= 0 ? blocks_[static_cast<std::size_t>(before.next)].previous : tail_) = added;
  before.next = added;
}

void PrefixCache::push_head(std::int32_t block) {
  Block& record = blocks_[static_cast<std::size_t>(block)];
  record.previous = -1;
  record.next = head_;
  (head_ >= 0 ? blocks_[static_cast<std::size_t>(head_)].previous : tail_) = block;
  head_ = block;
}

void PrefixCache::push_tail(std::int32_t block) {
  Block& record = blocks_[static_cast<std::size_t>(block)];
  record.next = -1;
  record.previous = tail_;
  (tail_ >= 0 ? blocks_[static_cast<std::size_t>(tail_)].next : head_) = block;
  tail_ = block;
}

void PrefixCache::leave_queue(std::int32_t block) {
  const Block& record = blocks_[static_cast<std::size_t>(block)];
  (record.previous >= 0 ? blocks_[static_cast<std::size_t>(record.previous)].next : head_) =
      record.next;
  (record.next >= 0 ? blocks_[static_cast<std::size_t>(record.next)].previous : tail_) =
      record.previous;
}

void PrefixCache::add_content(std::int32_t block, std::uint64_t hash, bool is_first) {
  Block& record = blocks_[static_cast<std::size_t>(block)];
  record.hash = hash;
  record.is_first = is_first;
  record.twin = -1;
  ++version_;
  std::int32_t at = index_.find(hash);
  if (at < 0) {
    if (is_first && holders_ != nullptr) holders_->add(hash, replica_);
    return index_.set(hash, block);
  }
  while (blocks_[static_cast<std::size_t>(at)].twin >= 0)
    at = blocks_[static_cast<std::size_t>(at)].twin;
  blocks_[static_cast<std::size_t>(at)].twin = block;
}

void PrefixCache::drop_content(std::int32_t block) {
  Block& record = blocks_[static_cast<std::size_t>(block)];
  if (record.hash == dead) {
    record.hash = 0;
    return;
  }
  ++version_;
  std::int32_t at = index_.find(record.hash);
  if (at == block) {
    if (record.twin >= 0) {
      index_.set(record.hash, record.twin);
    } else {
      index_.erase(record.hash);
      if (record.is_first && holders_ != nullptr) holders_->remove(record.hash, replica_);
    }
  } else {
    while (blocks_[static_cast<std::size_t>(at)].twin != block)
      at = blocks_[static_cast<std::size_t>(at)].twin;
    blocks_[static_cast<std::size_t>(at)].twin = record.twin;
  }
  record.hash = 0;
  record.twin = -1;
}

}  // namespace rooflua
