#pragma once
// The blocks of one replica by content and by their place in the free queue, without a record for
// each block. Blocks that follow each other in a sequence, are held by the same requests, and stand
// next to each other in the queue if they are free (the deepest first) are one extent. What happens
// to a sequence costs as much as the extents that it touches: a prompt of 800 blocks is one or two.
//
// A path is a list of hashes of consecutive blocks of a sequence (block_hashes.h). The hash of its
// first block finds it. A sequence that differs from a path from some block on has a path of its
// own from that block on. A hash is on one path at most.
//
// Extents of a path that got their content first are its primary ones: they are hit. They tile it:
// a holder of a block holds those before it too, and gives them back after it, so that no
// block loses its last copy before those after it. Other copies wait in the order in which they
// got their content, and become primary when the primary one loses it.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/kv/hash_map.h"
#include "serve/routing/prefix_holders.h"

namespace rooflua {

/// Content that left the cache: blocks [first, hashes.size()) of a sequence, of which all hashes
/// are here.
struct LostRun {
  std::vector<std::uint64_t> hashes;
  std::int32_t first = 0;
};
using LostRuns = std::vector<LostRun>;

class BlockExtents {
 public:
  struct Extent {
    std::int32_t path = -1;                 // -1: no content
    std::int32_t low = 0, high = 0;         // blocks [low, high) of the path
    std::int32_t references = 0;            // requests that hold it; 0: in the free queue
    std::int32_t next = -1, previous = -1;  // in the queue
    std::int32_t deeper = -1;               // what was cut off after it last
    bool is_primary = false;
    std::int32_t blocks() const { return high - low; }
  };

  /// So many free blocks without content.
  explicit BlockExtents(std::int32_t blocks = 0);

  /// From now on hashes of which no copy is left are kept for take_forgotten().
  void keep_forgotten() { keeps_forgotten_ = true; }
  std::vector<std::uint64_t> take_forgotten() { return std::exchange(forgotten_, {}); }
  /// From now on `holders` knows which first blocks this replica has. @pre no block has content, or
  /// `holders` is a copy of the index that knew them
  void tell(PrefixHolders* holders, std::int32_t replica) {
    holders_ = holders;
    replica_ = replica;
  }

  const Extent& extent(std::int32_t id) const { return extents_[static_cast<std::size_t>(id)]; }
  /// Calls visit(extent, blocks) for the longest cached beginning of a sequence: so many leading
  /// blocks of each primary extent. `visit` may cut them off.
  template <class Visit>
  void match(std::span<const std::uint64_t> hashes, Visit visit) const;

  /// Brings what match() reads into the processor's cache, part by part: each part is found by the
  /// one before it. @param hash  of the first block, which is cached
  enum class Part { index, path, lists };
  void prefetch(std::uint64_t hash, Part part) const;

  /// Takes blocks from the head of the queue. Content of which no copy is left is added to `lost`;
  /// blocks that are lost right after those that follow them in a sequence are one run with them.
  /// @returns whether content was lost
  bool pop(std::int32_t blocks, LostRuns* lost = nullptr);
  /// The first `blocks` of an extent become an extent of their own, with the same references.
  void cut(std::int32_t id, std::int32_t blocks);
  /// One more request holds it.
  void hold(std::int32_t id);
  /// One less. @returns whether it is the last one: then give_back() or drop() must follow
  bool let_go(std::int32_t id) { return --at(id).references == 0; }
  /// To the tail of the queue.
  void give_back(std::int32_t id);
  /// It loses its content, and its blocks go to the head of the queue.
  void drop(std::int32_t id);
  /// It loses its content, and its one holder has blocks without content. @pre references == 1
  void blank(std::int32_t id) { lose_deepest(id, at(id).blocks(), nullptr); }
  /// Blocks without content, to either end of the queue.
  void push_blank_head(std::int32_t blocks);
  void push_blank_tail(std::int32_t blocks);

  /// Blocks that one request holds get the content `hashes`, which follows that of the extent
  /// `last`; -1: they begin a sequence. Calls held(extent, blocks) for each extent that has them
  /// now: `last` where it grew, else a new one.
  template <class Held>
  void add(std::int32_t last, std::span<const std::uint64_t> hashes, Held held);
  /// The same of content that begins no sequence: no router looks for it.
  template <class Held>
  void add_apart(std::span<const std::uint64_t> hashes, Held held) {
    apart_ = true;
    add(-1, hashes, held);
    apart_ = false;
  }

 private:
  struct Path {
    std::vector<std::uint64_t> hashes;
    std::vector<std::int32_t> primary;  // from the left
    std::vector<std::int32_t> copies;   // the others, by when they got their content
    std::int32_t parent = -1;           // on which it begins; -1: it begins sequences
    std::int32_t begin = 0;             // blocks of a sequence in front of it
    bool apart = false;                 // add_apart()
    bool is_first() const { return parent < 0; }
    std::int32_t length() const { return static_cast<std::int32_t>(hashes.size()); }
  };
  struct Place {  // of a block
    std::int32_t path = -1, block = 0;
  };

  Extent& at(std::int32_t id) { return extents_[static_cast<std::size_t>(id)]; }
  Path& path(std::int32_t id) { return paths_[static_cast<std::size_t>(id)]; }
  const Path& path(std::int32_t id) const { return paths_[static_cast<std::size_t>(id)]; }
  static std::int32_t common(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t count = 0;
    while (count < most && a[count] == b[count]) ++count;
    return static_cast<std::int32_t>(count);
  }

  Place find(Place behind, std::uint64_t hash) const;
  std::int32_t add_copy(std::int32_t last, Place place, std::int32_t blocks);
  std::int32_t add_new(std::int32_t last, std::span<const std::uint64_t> hashes);
  std::int32_t new_extent(const Extent& like);
  std::int32_t new_path(std::uint64_t first, std::int32_t behind);
  void lose_deepest(std::int32_t id, std::int32_t blocks, LostRuns* lost);
  void replace_primary(std::int32_t path, std::int32_t from, std::int32_t to, LostRuns* lost);
  void add_lost(std::int32_t path, std::int32_t from, LostRuns& lost) const;
  void end_path(std::int32_t id);
  static void insert_behind(std::vector<std::int32_t>& all, std::int32_t id, std::int32_t added);
  void put_in_queue(std::int32_t id, std::int32_t previous, std::int32_t next);
  void leave_queue(std::int32_t id);

  std::vector<Extent> extents_;
  std::vector<std::int32_t> spare_extents_;
  std::vector<Path> paths_;
  std::vector<std::int32_t> spare_paths_;
  HashMap index_;                       // paths by their first hash
  std::int32_t head_ = -1, tail_ = -1;  // of the free queue
  bool keeps_forgotten_ = false, apart_ = false;
  std::vector<std::uint64_t> forgotten_;
  PrefixHolders* holders_ = nullptr;    // null: no router asks
  std::int32_t replica_ = 0;            // what the holders call this one
};

template <class Visit>
void BlockExtents::match(std::span<const std::uint64_t> hashes, Visit visit) const {
  while (!hashes.empty()) {
    const std::int32_t found = index_.find(hashes.front());
    if (found < 0) return;
    const std::int32_t same = common(hashes, path(found).hashes);
    for (std::size_t i = 0; i < path(found).primary.size(); ++i) {
      const std::int32_t id = path(found).primary[i];
      const std::int32_t blocks = std::min(extent(id).high, same) - extent(id).low;
      if (blocks <= 0) break;
      visit(id, blocks);
    }
    hashes = hashes.subspan(static_cast<std::size_t>(same));
  }
}

template <class Held>
void BlockExtents::add(std::int32_t last, std::span<const std::uint64_t> hashes, Held held) {
  while (!hashes.empty()) {
    Place place;
    if (last >= 0) place = {extent(last).path, extent(last).high};
    place = find(place, hashes.front());
    std::int32_t blocks = static_cast<std::int32_t>(hashes.size());
    if (place.path >= 0) {
      const std::span<const std::uint64_t> known(path(place.path).hashes);
      blocks = common(hashes, known.subspan(static_cast<std::size_t>(place.block)));
      last = add_copy(last, place, blocks);
    } else {
      // No request holds the first of them, so none holds those after it.
      last = add_new(last, hashes);
    }
    held(last, blocks);
    hashes = hashes.subspan(static_cast<std::size_t>(blocks));
  }
}

}  // namespace rooflua
