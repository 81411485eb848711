#include "serve/stores/chunk_paths.h"

#include <utility>

#include "base/error.h"

namespace rooflua {

/// The end of the chunks, at most `end`, in which a path and a sequence agree. They agree in the
/// first chunk of the path.
std::int32_t ChunkPaths::common_end(const Path& own, const ChunkHashes& sequence,
                                    std::int32_t end) const {
  const auto agree = [&](std::int32_t chunk) {
    return own.hashes[static_cast<std::size_t>(chunk - own.begin)] == sequence[chunk];
  };
  std::int32_t low = own.begin, high = std::min(own.end(), end);  // low agrees, high does not
  if (agree(high - 1)) return high;
  --high;
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (agree(middle) ? low : high) = middle;
  }
  return high;
}

void ChunkPaths::grow(const ChunkHashes& sequence, std::int32_t end) {
  std::int32_t last = -1, at = 0;
  walk(sequence, 0, end, [&](const Piece& piece) {
    last = piece.path;
    at = piece.high;
    return true;
  });
  if (at == end) return;
  if (last < 0 || path(last).end() != at) {
    auto id = static_cast<std::int32_t>(paths_.size());
    if (spare_.empty()) {
      paths_.emplace_back();
    } else {
      id = spare_.back();
      spare_.pop_back();
    }
    path(id).begin = at;
    path(id).parent = last;
    if (last >= 0) ++path(last).children;
    index_.set(sequence[at], id);
    last = id;
  }
  std::vector<std::uint64_t>& hashes = path(last).hashes;
  if (hashes.empty()) hashes.reserve(static_cast<std::size_t>(end - at));
  for (; at < end; ++at) hashes.push_back(sequence[at]);
}

void ChunkPaths::settle(std::int32_t id) {
  while (id >= 0 && path(id).extents.empty() && path(id).children == 0) {
    index_.erase(path(id).hashes.front());
    const std::int32_t parent = path(id).parent;
    path(id) = {};
    spare_.push_back(id);
    id = parent;
    if (id >= 0) --path(id).children;
  }
}

}  // namespace rooflua
