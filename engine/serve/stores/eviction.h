#pragma once
// Which chunk of a store leaves first.
//
//   lru    the one that was used longest ago
//   fifo   the one that was put in longest ago
//   lfu    the one that was used least often; of equal ones the one that was used longest ago
//   arc    adaptive replacement: chunks that were used once and chunks that were used again have a
//          list each, and the share of the first grows and shrinks with what turns out to be
//          missed   @source N. Megiddo, D. Modha, "ARC" (FAST 2003), as vllm/v1/kv_offload/cpu/
//          policies/arc.py does it
//   keyed  the one with the lowest key; a policy gives keys
//
// Chunks that are read or still arrive keep their place in the order and are passed over. A keyed
// order, in which they may be many, knows of them only their keys meanwhile: hold(), release().
//
// Chunks that follow each other in a path (chunk_paths.h), are in the same state and stand next to
// each other in the order are one extent. So what happens to a run costs as much as the extents
// that it touches. Each chunk of a keyed store is an extent of its own.

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/vocabulary.h"
#include "serve/contract/clock.h"
#include "serve/kv/hash_map.h"

namespace rooflua {

enum class Eviction : std::int32_t { lru, fifo, lfu, arc, keyed };
inline constexpr Word<Eviction> eviction_words[] = {
    {Eviction::lru, "lru", "used longest ago"},
    {Eviction::fifo, "fifo", "put in longest ago"},
    {Eviction::lfu, "lfu", "used least often"},
    {Eviction::arc, "arc", "adaptive between used once and used again"},
    {Eviction::keyed, "keyed", "by the key of a policy"},
};

/// Chunks [low, high) of a path that a store holds.
struct StoredExtent {
  std::int32_t path = -1;  // -1: nothing is here
  std::int32_t low = 0, high = 0;
  std::int32_t readers = 0;
  bool arrives = false;     // it is being written: no hit, and it stays
  bool deep_first = false;  // the deepest of its chunks leaves first; else the shallowest
  std::int64_t round = 0;   // Store: of the last put that may not evict it
  // of a keyed order: what policies read, of the request that put it or asked for it last
  std::int32_t klass = 0, session = -1, priority = 0;
  Picoseconds put = 0, used = 0;
  // of the order
  std::int32_t uses = 0;
  std::int32_t list = 0;
  std::int32_t previous = -1, next = -1;
  double key = 0;
  std::int64_t serial = 0;
  bool stands = false;  // it is among those of a keyed order that may leave
  std::int32_t chunks() const { return high - low; }
  bool may_leave() const { return readers == 0 && !arrives; }
};
using StoredExtents = std::vector<StoredExtent>;

/// The order of the chunks of one store. Plain data: a copy is independent.
class EvictionOrder {
 public:
  EvictionOrder(Eviction rule, std::int64_t capacity) : rule_(rule), capacity_(capacity) {}

  bool is_keyed() const { return rule_ == Eviction::keyed; }
  /// Whether it is told of single chunks: miss(), lost(), came().
  bool counts_misses() const { return rule_ == Eviction::arc; }
  bool heeds_use() const { return rule_ != Eviction::fifo; }

  /// An extent is put in, the shallowest chunk first. `key`: of a keyed order.
  void add(StoredExtents& extents, std::int32_t id, double key);
  /// It was asked for, the deepest chunk first.
  void use(StoredExtents& extents, std::int32_t id, double key);
  /// It leaves as a whole.
  void remove(StoredExtents& extents, std::int32_t id);
  /// So many of its chunks leave, and others stay.
  void shrink(const StoredExtents& extents, std::int32_t id, std::int32_t chunks);
  /// The deeper part of it is the extent `deeper` from now on.
  void cut(StoredExtents& extents, std::int32_t id, std::int32_t deeper);
  /// Two extents that follow each other become one, the first of them, if they stand next to each
  /// other in the order as their chunks do. @returns whether they did
  bool join(StoredExtents& extents, std::int32_t id, std::int32_t deeper);
  /// From now on it may not leave; and it may again.
  void hold(StoredExtents& extents, std::int32_t id);
  void release(StoredExtents& extents, std::int32_t id);
  /// The first that leaves, of those that may and that are not of this round; -1: none.
  std::int32_t first(const StoredExtents& extents, std::int64_t round) const;

  /// Of arc: a chunk that is not there is asked for, leaves a list for want of room, or comes.
  void miss(std::uint64_t hash);
  void lost(std::int32_t list, std::uint64_t hash);
  void came(std::uint64_t hash);

 private:
  struct List {
    std::int32_t head = -1, tail = -1;
    std::int64_t size = 0;  // chunks
  };
  /// Hashes that have left, the oldest first. One that leaves again stands after the others.
  class Ghosts {
   public:
    bool has(std::uint64_t hash) const { return place_.find(hash) >= 0; }
    void add(std::uint64_t hash, std::int64_t most);
    void remove(std::uint64_t hash);
    std::int64_t size() const { return size_; }

   private:
    void close_gaps();
    std::vector<std::uint64_t> order_;  // 0: it has come back
    std::size_t first_ = 0;             // that is no gap
    HashMap place_;                     // in order_
    std::int64_t size_ = 0;
  };
  using Key = std::tuple<double, std::int64_t, std::int32_t>;  // key, serial, extent

  void append(StoredExtents& extents, std::int32_t id, std::int32_t list);
  void unlink(StoredExtents& extents, std::int32_t id);
  std::int32_t first_of(const StoredExtents& extents, const List& list, std::int64_t round) const;
  std::int64_t size_of(std::int32_t list) const;

  Eviction rule_;
  std::int64_t capacity_;
  std::int64_t serial_ = 0;  // of a keyed order: of equal keys the first to get it leaves first
  // lfu: by uses; arc: 0 used once, 1 used again; else 0 alone
  std::map<std::int32_t, List> lists_;
  std::set<Key> by_key_;
  Ghosts ghosts_[2];        // arc
  double once_target_ = 0;  // arc: chunks that were used once, as many are wanted
};

}  // namespace rooflua
