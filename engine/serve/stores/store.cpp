#include "serve/stores/store.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"

namespace rooflua {

namespace {
void belongs_to(StoredExtent& extent, const Request* request) {
  if (request == nullptr) return;
  extent.klass = request->klass;
  extent.session = request->session;
  extent.priority = request->priority;
}
}  // namespace

// --- extents of a path

/// The first extent of a path that ends after this chunk.
std::size_t Store::first_behind(std::int32_t path, std::int32_t chunk) const {
  const std::vector<std::int32_t>& all = paths_.extents(path);
  const auto found = std::partition_point(all.begin(), all.end(),
                                          [&](std::int32_t id) { return at(id).high <= chunk; });
  return static_cast<std::size_t>(found - all.begin());
}

template <class Visit>
void Store::look(const ChunkHashes& sequence, std::int32_t first, std::int32_t end,
                 Visit visit) const {
  paths_.walk(sequence, first, end, [&](const Piece& piece) {
    const std::vector<std::int32_t>& all = paths_.extents(piece.path);
    for (std::size_t i = first_behind(piece.path, piece.low); i < all.size(); ++i) {
      const StoredExtent& extent = at(all[i]);
      if (extent.low >= piece.high) break;
      if (!visit(all[i], std::max(extent.low, piece.low), std::min(extent.high, piece.high)))
        return false;
    }
    return true;
  });
}

template <class Visit>
void Store::change(const Piece& piece, Visit visit) {
  cut_at(piece.path, piece.low);
  cut_at(piece.path, piece.high);
  const std::vector<std::int32_t>& all = paths_.extents(piece.path);
  for (std::size_t i = first_behind(piece.path, piece.low); i < all.size(); ++i) {
    if (at(all[i]).low >= piece.high) break;
    visit(all[i]);
  }
}

std::int32_t Store::new_extent(const StoredExtent& like) {
  if (spare_.empty()) {
    extents_.push_back(like);
    return static_cast<std::int32_t>(extents_.size()) - 1;
  }
  const std::int32_t id = spare_.back();
  spare_.pop_back();
  at(id) = like;
  return id;
}

/// No extent of the path goes across this chunk's beginning.
void Store::cut_at(std::int32_t path, std::int32_t chunk) {
  const std::size_t i = first_behind(path, chunk);
  std::vector<std::int32_t>& all = paths_.extents(path);
  if (i == all.size() || at(all[i]).low >= chunk) return;
  const std::int32_t id = all[i], deeper = new_extent(StoredExtent(at(id)));
  at(deeper).low = at(id).high = chunk;
  order_.cut(extents_, id, deeper);
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, deeper);
}

/// The extent at place `i` of a path and the one after it become one, if they can.
bool Store::join_behind(std::int32_t path, std::size_t i) {
  std::vector<std::int32_t>& all = paths_.extents(path);
  if (i + 1 >= all.size() || !order_.join(extents_, all[i], all[i + 1])) return false;
  at(all[i + 1]) = {};
  spare_.push_back(all[i + 1]);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  return true;
}

/// Extents of a piece and those next to it that are alike now become one.
void Store::join_within(const Piece& piece) {
  if (order_.is_keyed()) return;
  std::size_t i = first_behind(piece.path, piece.low);
  if (i > 0) --i;
  while (i < paths_.extents(piece.path).size() &&
         at(paths_.extents(piece.path)[i]).low <= piece.high) {
    if (!join_behind(piece.path, i)) ++i;
  }
}

/// It is not in the order any more.
void Store::take_out(std::int32_t id) {
  const std::int32_t path = at(id).path;
  std::vector<std::int32_t>& all = paths_.extents(path);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(first_behind(path, at(id).low)));
  at(id) = {};
  spare_.push_back(id);
  paths_.settle(path);
}

// --- what is here

Store::Run Store::run_at(const ChunkHashes& sequence, std::int32_t chunk, std::int32_t end) const {
  Run out{Has::nothing, end};
  look(sequence, chunk, end, [&](std::int32_t id, std::int32_t low, std::int32_t high) {
    const Has has = at(id).arrives ? Has::arriving : Has::ready;
    if (out.has == Has::nothing) {
      out = low > chunk ? Run{Has::nothing, low} : Run{has, high};
      return low == chunk;
    }
    if (low != out.end || has != out.has) return false;
    out.end = high;
    return true;
  });
  return out;
}

Pieces Store::pieces(const ChunkHashes& sequence, std::int32_t first, std::int32_t end) const {
  Pieces out;
  paths_.walk(sequence, first, end, [&](const Piece& piece) {
    out.push_back(piece);
    return true;
  });
  return out;
}

/// The key that a policy gives a chunk.
double Store::key(const StoredExtent& chunk, const Owner& owner) const {
  if (owner.keys == nullptr) return 0;
  StoredBlock block;
  block.now_s = seconds(owner.now);
  block.put_s = seconds(chunk.put);
  block.used_s = seconds(chunk.used);
  block.bytes = owner.chunk_bytes;
  block.depth_tokens = chunk.high * chunk_tokens_;
  block.uses = chunk.uses;
  block.klass = chunk.klass;
  block.session = chunk.session;
  block.priority = chunk.priority;
  return owner.keys->key(block);
}

// --- runs are put in

bool Store::put(const ChunkHashes& sequence, std::int32_t first, std::int32_t end,
                const Owner& owner, Pieces& placed) {
  std::int64_t missing = end - first, kept = 0;
  look(sequence, first, end, [&](std::int32_t id, std::int32_t low, std::int32_t high) {
    missing -= high - low;
    if (at(id).may_leave()) kept += high - low;
    return true;
  });
  if (missing <= 0) return true;
  const std::int64_t leave = used_ + missing - capacity_;
  if (leave > evictable_ - kept) return false;
  if (leave > 0) {
    stay(sequence, first, end);
    make_room(leave);
    for (const std::int32_t id : staying_) {
      if (at(id).may_leave()) order_.release(extents_, id);
    }
  }
  paths_.grow(sequence, end);
  paths_.walk(sequence, first, end, [&](const Piece& piece) {
    fill(piece, owner, placed);
    return true;
  });
  used_ += missing;
  arriving_ += missing;
  most_used_ = std::max(most_used_, used_);
  ++version_;
  return true;
}

/// What is here of a run does not leave for the rest of it.
void Store::stay(const ChunkHashes& sequence, std::int32_t first, std::int32_t end) {
  ++rounds_;
  staying_.clear();
  paths_.walk(sequence, first, end, [&](const Piece& piece) {
    change(piece, [&](std::int32_t id) {
      at(id).round = rounds_;
      order_.hold(extents_, id);
      staying_.push_back(id);
    });
    return true;
  });
}

void Store::lose_ready() {
  ++rounds_;
  make_room(evictable_);
}

void Store::make_room(std::int64_t leave) {
  version_ += leave;
  while (leave > 0) {
    const std::int32_t id = order_.first(extents_, rounds_);
    ROOFLUA_ASSERT(id >= 0);
    const std::int64_t most = order_.counts_misses() ? 1 : leave;
    const auto chunks = static_cast<std::int32_t>(std::min<std::int64_t>(most, at(id).chunks()));
    evict(id, chunks);
    leave -= chunks;
  }
}

/// The first of its chunks leave, in the order of eviction.
void Store::evict(std::int32_t id, std::int32_t chunks) {
  StoredExtent& extent = at(id);
  if (order_.counts_misses()) {
    ROOFLUA_ASSERT(chunks == 1);
    order_.lost(extent.list,
                paths_.hash(extent.path, extent.deep_first ? extent.high - 1 : extent.low));
  }
  used_ -= chunks;
  evictable_ -= chunks;
  evictions_ += chunks;
  if (chunks == extent.chunks()) {
    order_.remove(extents_, id);
    return take_out(id);
  }
  order_.shrink(extents_, id, chunks);
  extent.deep_first ? extent.high -= chunks : extent.low += chunks;
}

/// What is not here of a piece is placed.
void Store::fill(const Piece& piece, const Owner& owner, Pieces& placed) {
  const std::size_t begin = placed.size();
  std::int32_t low = piece.low;
  const auto gap_to = [&](std::int32_t high) {
    if (low < high) placed.push_back({piece.path, low, high});
  };
  const std::vector<std::int32_t>& all = paths_.extents(piece.path);
  for (std::size_t i = first_behind(piece.path, low); i < all.size(); ++i) {
    if (at(all[i]).low >= piece.high) break;
    gap_to(at(all[i]).low);
    low = at(all[i]).high;
  }
  gap_to(piece.high);
  for (std::size_t i = begin; i < placed.size(); ++i) place(placed[i], owner);
}

/// Chunks come, as one extent or, in a keyed store, as one each.
void Store::place(const Piece& piece, const Owner& owner) {
  const std::int32_t step = order_.is_keyed() ? 1 : piece.chunks();
  for (std::int32_t low = piece.low; low < piece.high; low += step) {
    StoredExtent made;
    made.path = piece.path;
    made.low = low;
    made.high = low + step;
    made.arrives = true;
    made.put = made.used = owner.now;
    belongs_to(made, owner.request);
    const std::int32_t id = new_extent(made);
    std::vector<std::int32_t>& all = paths_.extents(piece.path);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(first_behind(piece.path, low)), id);
    order_.add(extents_, id, key(at(id), owner));
  }
  if (!order_.counts_misses()) return;
  for (std::int32_t i = piece.low; i < piece.high; ++i) order_.came(paths_.hash(piece.path, i));
}

void Store::end_put(std::span<const Piece> pieces, const Owner& owner) {
  for (const Piece& piece : pieces) {
    change(piece, [&](std::int32_t id) {
      ROOFLUA_ASSERT(at(id).arrives);
      at(id).arrives = false;
      at(id).put = owner.now;
      order_.release(extents_, id);
    });
    arriving_ -= piece.chunks();
    evictable_ += piece.chunks();
    join_within(piece);
  }
  ++version_;
}

void Store::cancel_put(std::span<const Piece> pieces) {
  std::vector<std::int32_t> lost;
  for (const Piece& piece : pieces) {
    change(piece, [&](std::int32_t id) { lost.push_back(id); });
    used_ -= piece.chunks();
    arriving_ -= piece.chunks();
    version_ += piece.chunks();
  }
  for (const std::int32_t id : lost) {
    ROOFLUA_ASSERT(at(id).arrives);
    order_.remove(extents_, id);
    take_out(id);
  }
}

// --- runs are read and asked for

void Store::begin_read(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) {
    change(piece, [&](std::int32_t id) {
      ROOFLUA_ASSERT(!at(id).arrives);
      if (at(id).readers++ == 0) evictable_ -= at(id).chunks();
      order_.hold(extents_, id);
    });
  }
}

void Store::end_read(std::span<const Piece> pieces, const Owner& owner) {
  for (const Piece& piece : pieces) {
    change(piece, [&](std::int32_t id) {
      ROOFLUA_ASSERT(at(id).readers > 0);
      if (--at(id).readers == 0) {
        evictable_ += at(id).chunks();
        order_.release(extents_, id);
      }
      if (owner.keys != nullptr) order_.use(extents_, id, key(at(id), owner));
    });
    join_within(piece);
  }
}

void Store::use(std::int32_t id, const Owner& owner) {
  StoredExtent& extent = at(id);
  ++extent.uses;
  extent.used = owner.now;
  belongs_to(extent, owner.request);
  order_.use(extents_, id, key(extent, owner));
}

/// The deepest first, so that it leaves before those in front of it.
void Store::ask(const ChunkHashes& sequence, std::int32_t count, const Owner& owner) {
  if (count == 0 || !order_.heeds_use()) return;
  asked_.clear();
  Pieces pieces = this->pieces(sequence, 0, count);
  for (const Piece& piece : pieces) change(piece, [&](std::int32_t id) { asked_.push_back(id); });
  std::int32_t above = count;
  const auto miss_down_to = [&](std::int32_t chunk) {
    while (order_.counts_misses() && above > chunk) order_.miss(sequence[--above]);
  };
  for (std::size_t i = asked_.size(); i-- > 0;) {
    miss_down_to(at(asked_[i]).high);
    above = at(asked_[i]).low;
    use(asked_[i], owner);
  }
  miss_down_to(0);
  for (const Piece& piece : pieces) join_within(piece);
}

}  // namespace rooflua
