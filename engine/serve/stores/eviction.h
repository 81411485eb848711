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
// Chunks that are read or still arrive keep their place in the order and are passed over.

#include <cstdint>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/vocabulary.h"
#include "serve/contract/clock.h"

namespace rooflua {

enum class Eviction : std::int32_t { lru, fifo, lfu, arc, keyed };
inline constexpr Word<Eviction> eviction_words[] = {
    {Eviction::lru, "lru", "used longest ago"},
    {Eviction::fifo, "fifo", "put in longest ago"},
    {Eviction::lfu, "lfu", "used least often"},
    {Eviction::arc, "arc", "adaptive between used once and used again"},
    {Eviction::keyed, "keyed", "by the key of a policy"},
};

/// A chunk that a store holds.
struct StoredChunk {
  std::uint64_t hash = 0;  // of the sequence up to its end; 0: nothing is here
  std::int32_t readers = 0;
  bool arrives = false;  // it is being written: no hit, and it stays
  std::int32_t depth_tokens = 0;
  std::int32_t uses = 0;
  std::int32_t klass = 0, session = -1, priority = 0;  // of who put it or asked for it last
  Picoseconds put = 0, used = 0;
  std::int64_t round = 0;  // Store: of the last put that may not evict it
  // of the order
  std::int32_t list = 0;
  std::int32_t previous = -1, next = -1;
  double key = 0;
  std::int64_t serial = 0;
  bool may_leave() const { return readers == 0 && !arrives; }
};
using StoredChunks = std::vector<StoredChunk>;

/// The order of the chunks of one store. Plain data: a copy is independent.
class EvictionOrder {
 public:
  EvictionOrder(Eviction rule, std::int64_t capacity) : rule_(rule), capacity_(capacity) {}

  /// A chunk is put in. `key`: of a keyed order.
  void add(StoredChunks& chunks, std::int32_t id, double key);
  /// It was asked for.
  void use(StoredChunks& chunks, std::int32_t id, double key);
  /// Somebody asked for what is not there.
  void miss(std::uint64_t hash);
  /// It leaves; evict(): because room is needed, which arc remembers.
  void remove(StoredChunks& chunks, std::int32_t id);
  void evict(StoredChunks& chunks, std::int32_t id);
  /// The first that leaves, of those that may and that are not of this round; -1: none.
  std::int32_t first(const StoredChunks& chunks, std::int64_t round) const;

 private:
  struct List {
    std::int32_t head = -1, tail = -1;
    std::int64_t size = 0;
  };
  /// Hashes that have left, the oldest first.
  struct Ghosts {
    std::set<std::pair<std::int64_t, std::uint64_t>> order;  // when, hash
    std::unordered_map<std::uint64_t, std::int64_t> when;
    void add(std::uint64_t hash, std::int64_t now, std::int64_t most);
    void remove(std::uint64_t hash);
    double size() const { return static_cast<double>(when.size()); }
  };
  using Key = std::tuple<double, std::int64_t, std::int32_t>;  // key, serial, chunk

  bool by_key() const { return rule_ == Eviction::lfu || rule_ == Eviction::keyed; }
  double key_of(const StoredChunk& chunk, double given) const {
    return rule_ == Eviction::lfu ? chunk.uses : given;
  }
  void append(StoredChunks& chunks, std::int32_t id, std::int32_t list);
  void unlink(StoredChunks& chunks, std::int32_t id);
  std::int32_t first_of(const StoredChunks& chunks, std::int32_t list, std::int64_t round) const;

  Eviction rule_;
  std::int64_t capacity_;
  std::int64_t serial_ = 0;
  List lists_[2];  // arc: used once, used again; else the first alone
  std::set<Key> by_key_;
  Ghosts ghosts_[2];        // arc
  double once_target_ = 0;  // arc: chunks that were used once, as many are wanted
};

}  // namespace rooflua
