#pragma once
// One store of KV: chunks of prompts in CPU memory, on a disk or in a pool, by the hash of the
// sequence up to their end (kv/block_hashes.h).
//
// A chunk arrives (it is being written: no hit, and it stays), is ready, or is read (it stays).
// A run of chunks is put in as a whole: the ones that are not there yet get room, others leave for
// it in the order of eviction, and never one of the run itself. Without room for all of them none
// is put in.   @source vllm-project/vllm vllm/v1/kv_offload/cpu/manager.py

#include <cstdint>
#include <span>
#include <vector>

#include "border.h"
#include "serve/contract/clock.h"
#include "serve/contract/policy.h"
#include "serve/contract/request.h"
#include "serve/kv/hash_map.h"
#include "serve/stores/eviction.h"

namespace rooflua {

class Store {
 public:
  /// Room for so many chunks of so many tokens.
  Store(std::int64_t capacity, std::int32_t chunk_tokens, Eviction rule)
      : capacity_(capacity), chunk_tokens_(chunk_tokens), order_(rule, capacity) {}

  enum class Has : std::int32_t { nothing, arriving, ready };
  Has has(std::uint64_t hash) const;
  /// The chunk with this hash; -1: it is not here.
  std::int32_t find(std::uint64_t hash) const { return by_hash_.find(hash); }

  std::uint64_t hash(std::int32_t chunk) const { return at(chunk).hash; }

  /// Whose content it is, for policies.
  struct Owner {
    const Request* request = nullptr;
    Picoseconds now = 0;
    EvictionPolicy* keys = nullptr;  // of a keyed store
    double chunk_bytes = 0;
  };
  /// Chunks of a sequence, from number `first` on. Those that are put in are appended to `placed`.
  /// False: there is no room, and nothing changed.
  bool put(std::span<const std::uint64_t> hashes, std::int32_t first, const Owner& owner,
           std::vector<std::int32_t>& placed);
  void end_put(std::span<const std::int32_t> chunks, const Owner& owner);
  /// They will not arrive.
  void cancel_put(std::span<const std::int32_t> chunks);
  /// Ready chunks are read.
  void begin_read(std::span<const std::int32_t> chunks);
  void end_read(std::span<const std::int32_t> chunks, const Owner& owner);
  /// A request asked for these chunks, whether they are here or not.
  void ask(std::span<const std::uint64_t> hashes, const Owner& owner);

  std::int64_t capacity() const { return capacity_; }
  std::int64_t used() const { return used_; }
  std::int64_t most_used() const { return most_used_; }
  std::int64_t evictable() const { return evictable_; }
  std::int64_t arriving() const { return arriving_; }
  std::int64_t evictions() const { return evictions_; }
  std::int32_t chunk_tokens() const { return chunk_tokens_; }
  /// Grows with everything that changes what is here.
  std::int64_t version() const { return version_; }

 private:
  StoredChunk& at(std::int32_t id) { return chunks_[static_cast<std::size_t>(id)]; }
  const StoredChunk& at(std::int32_t id) const { return chunks_[static_cast<std::size_t>(id)]; }
  /// Of hashes that are looked up one after the other, one that comes soon.
  void prefetch(std::span<const std::uint64_t> hashes, std::size_t at) const {
    constexpr std::size_t ahead = 12;
    if (at + ahead < hashes.size()) by_hash_.prefetch(hashes[at + ahead]);
  }
  bool make_room(std::int64_t missing, std::int64_t kept);
  void take_away(std::int32_t id);
  std::int32_t place(std::uint64_t hash, std::int32_t depth_tokens, const Owner& owner);
  double key(const StoredChunk& chunk, const Owner& owner) const;

  std::int64_t capacity_;
  std::int32_t chunk_tokens_;
  EvictionOrder order_;
  HashMap by_hash_;
  StoredChunks chunks_;
  std::vector<std::int32_t> spare_;
  std::vector<std::int32_t> missing_;  // of the run that is put in
  std::int64_t used_ = 0, most_used_ = 0, evictable_ = 0, arriving_ = 0, evictions_ = 0;
  std::int64_t rounds_ = 0, version_ = 0;
};

}  // namespace rooflua
