#pragma once
// One store of KV: chunks of prompts in CPU memory, on a disk or in a pool, by the hash of the
// sequence up to their end (kv/block_hashes.h).
//
// A chunk arrives (it is being written: no hit, and it stays), is ready, or is read (it stays).
// A run of chunks is put in as a whole: the ones that are not there yet get room, others leave for
// it in the order of eviction, and never one of the run itself. Without room for all of them none
// is put in.   @source vllm-project/vllm vllm/v1/kv_offload/cpu/manager.py
//
// What is done to a run costs as much as the extents that it touches (eviction.h), not as its
// chunks; only what arc remembers and the keys of policies are of single chunks.

#include <cstdint>
#include <span>
#include <vector>

#include "border.h"
#include "serve/contract/clock.h"
#include "serve/contract/policy.h"
#include "serve/contract/request.h"
#include "serve/stores/chunk_paths.h"
#include "serve/stores/eviction.h"

namespace rooflua {

class Store {
 public:
  /// Room for so many chunks of so many tokens.
  Store(std::int64_t capacity, std::int32_t chunk_tokens, Eviction rule)
      : capacity_(capacity), chunk_tokens_(chunk_tokens), order_(rule, capacity) {}

  enum class Has : std::int32_t { nothing, arriving, ready };
  /// What is here of chunk `chunk` of a sequence, and how far that holds: to chunk `end` at most.
  struct Run {
    Has has = Has::nothing;
    std::int32_t end = 0;
  };
  Run run_at(const ChunkHashes& sequence, std::int32_t chunk, std::int32_t end) const;
  /// Where the chunks [first, end) are. @pre all are here
  Pieces pieces(const ChunkHashes& sequence, std::int32_t first, std::int32_t end) const;

  /// Whose content it is, for policies.
  struct Owner {
    const Request* request = nullptr;
    Picoseconds now = 0;
    EvictionPolicy* keys = nullptr;  // of a keyed store
    double chunk_bytes = 0;
  };
  /// Chunks [first, end) of a sequence. Those that are put in are appended to `placed`. False:
  /// there is no room, and nothing changed.
  bool put(const ChunkHashes& sequence, std::int32_t first, std::int32_t end, const Owner& owner,
           Pieces& placed);
  void end_put(std::span<const Piece> pieces, const Owner& owner);
  /// They will not arrive.
  void cancel_put(std::span<const Piece> pieces);
  /// All chunks that are ready and not read are gone.
  void lose_ready();
  /// Ready chunks are read.
  void begin_read(std::span<const Piece> pieces);
  void end_read(std::span<const Piece> pieces, const Owner& owner);
  /// A request asked for the first `count` chunks of its sequence, whether they are here or not.
  void ask(const ChunkHashes& sequence, std::int32_t count, const Owner& owner);

  std::int64_t capacity() const { return capacity_; }
  std::int64_t used() const { return used_; }
  std::int64_t most_used() const { return most_used_; }
  std::int64_t evictable() const { return evictable_; }
  std::int64_t arriving() const { return arriving_; }
  std::int64_t evictions() const { return evictions_; }
  std::int32_t chunk_tokens() const { return chunk_tokens_; }
  /// Grows with everything that changes what is here.
  std::int64_t version() const { return version_; }
  /// Records that what is here takes: extents and paths.
  std::size_t records() const { return extents_.size() - spare_.size() + paths_.size(); }

 private:
  StoredExtent& at(std::int32_t id) { return extents_[static_cast<std::size_t>(id)]; }
  const StoredExtent& at(std::int32_t id) const { return extents_[static_cast<std::size_t>(id)]; }
  std::size_t first_behind(std::int32_t path, std::int32_t chunk) const;
  /// Calls visit(extent, low, high) for what is here of chunks [first, end) of a sequence, from the
  /// left, while it answers true.
  template <class Visit>
  void look(const ChunkHashes& sequence, std::int32_t first, std::int32_t end, Visit visit) const;
  /// Calls visit(extent) for the extents of a piece, which end at its borders from now on.
  template <class Visit>
  void change(const Piece& piece, Visit visit);
  std::int32_t new_extent(const StoredExtent& like);
  void cut_at(std::int32_t path, std::int32_t chunk);
  bool join_behind(std::int32_t path, std::size_t i);
  void join_within(const Piece& piece);
  void take_out(std::int32_t id);
  void stay(const ChunkHashes& sequence, std::int32_t first, std::int32_t end);
  void make_room(std::int64_t leave);
  void evict(std::int32_t id, std::int32_t chunks);
  void fill(const Piece& piece, const Owner& owner, Pieces& placed);
  void place(const Piece& piece, const Owner& owner);
  void use(std::int32_t id, const Owner& owner);
  double key(const StoredExtent& chunk, const Owner& owner) const;

  std::int64_t capacity_;
  std::int32_t chunk_tokens_;
  EvictionOrder order_;
  ChunkPaths paths_;
  StoredExtents extents_;
  std::vector<std::int32_t> spare_;
  std::vector<std::int32_t> asked_, staying_;  // extents that ask() and put() go through
  std::int64_t used_ = 0, most_used_ = 0, evictable_ = 0, arriving_ = 0, evictions_ = 0;
  std::int64_t rounds_ = 0, version_ = 0;
};

}  // namespace rooflua
