#pragma once
// What chunks of prompts follow each other, as a tree: of one store, without a record for each
// chunk.
//
// A path is a list of hashes of consecutive chunks. A sequence follows a path from its first chunk
// on; where it differs it goes on with a path of its own, which begins there and is found by its
// first hash. A hash stands for all that is in front of it, so that a path and a sequence agree up
// to some chunk and nowhere after it: that chunk is found by halving.
//
// Chunks of a path that the store has are extents (eviction.h). Paths stay where one of their
// chunks is in the store, or a path begins on them that stays.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "serve/kv/hash_map.h"

namespace rooflua {

/// Hashes of the chunks of a sequence, of so many blocks each, from the hashes of its blocks.
class ChunkHashes {
 public:
  ChunkHashes(std::span<const std::uint64_t> blocks, std::int32_t blocks_per_chunk)
      : blocks_(blocks), step_(blocks_per_chunk) {}
  std::uint64_t operator[](std::int32_t chunk) const {
    return blocks_[static_cast<std::size_t>((chunk + 1) * step_ - 1)];
  }

 private:
  std::span<const std::uint64_t> blocks_;
  std::int32_t step_;
};

/// Chunks [low, high) of the sequences that follow this path.
struct Piece {
  std::int32_t path = -1, low = 0, high = 0;
  std::int32_t chunks() const { return high - low; }
};
using Pieces = std::vector<Piece>;

class ChunkPaths {
 public:
  /// Calls visit(piece) for the chunks [first, end) of a sequence that are on paths, from the left,
  /// while it answers true.
  template <class Visit>
  void walk(const ChunkHashes& sequence, std::int32_t first, std::int32_t end, Visit visit) const;
  /// From now on the first `end` chunks of the sequence are on paths.
  void grow(const ChunkHashes& sequence, std::int32_t end);
  std::uint64_t hash(std::int32_t id, std::int32_t chunk) const {
    return path(id).hashes[static_cast<std::size_t>(chunk - path(id).begin)];
  }

  /// Of a path: what the store has of it, from the left. Its owner puts extents in and takes them
  /// out, and calls settle() when it has taken some out.
  std::vector<std::int32_t>& extents(std::int32_t id) { return path(id).extents; }
  const std::vector<std::int32_t>& extents(std::int32_t id) const { return path(id).extents; }
  /// A path that nothing needs ends.
  void settle(std::int32_t id);

  /// Paths that are kept.
  std::size_t size() const { return paths_.size() - spare_.size(); }

 private:
  struct Path {
    std::vector<std::uint64_t> hashes;
    std::vector<std::int32_t> extents;
    std::int32_t begin = 0;    // number of its first chunk
    std::int32_t parent = -1;  // on which it begins
    std::int32_t children = 0;
    std::int32_t end() const { return begin + static_cast<std::int32_t>(hashes.size()); }
  };
  Path& path(std::int32_t id) { return paths_[static_cast<std::size_t>(id)]; }
  const Path& path(std::int32_t id) const { return paths_[static_cast<std::size_t>(id)]; }
  std::int32_t common_end(const Path& own, const ChunkHashes& sequence, std::int32_t end) const;

  std::vector<Path> paths_;
  std::vector<std::int32_t> spare_;
  HashMap index_;  // paths by their first hash
};

template <class Visit>
void ChunkPaths::walk(const ChunkHashes& sequence, std::int32_t first, std::int32_t end,
                      Visit visit) const {
  for (std::int32_t at = 0; at < end;) {
    const std::int32_t id = index_.find(sequence[at]);
    if (id < 0) return;
    const std::int32_t upto = common_end(path(id), sequence, end);
    if (upto > first && !visit(Piece{id, std::max(first, at), upto})) return;
    at = upto;
  }
}

}  // namespace rooflua
