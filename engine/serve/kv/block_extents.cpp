#include "serve/kv/block_extents.h"

namespace rooflua {

BlockExtents::BlockExtents(std::int32_t blocks) {
  push_blank_tail(blocks);
}

// --- the free queue

void BlockExtents::put_in_queue(std::int32_t id, std::int32_t previous, std::int32_t next) {
  at(id).previous = previous;
  at(id).next = next;
  (previous >= 0 ? at(previous).next : head_) = id;
  (next >= 0 ? at(next).previous : tail_) = id;
}

void BlockExtents::leave_queue(std::int32_t id) {
  const Extent& own = at(id);
  (own.previous >= 0 ? at(own.previous).next : head_) = own.next;
  (own.next >= 0 ? at(own.next).previous : tail_) = own.previous;
}

void BlockExtents::push_blank_head(std::int32_t blocks) {
  if (blocks == 0) return;
  if (head_ < 0 || at(head_).path >= 0) put_in_queue(new_extent({}), -1, head_);
  at(head_).high += blocks;
}

void BlockExtents::push_blank_tail(std::int32_t blocks) {
  if (blocks == 0) return;
  if (tail_ < 0 || at(tail_).path >= 0) put_in_queue(new_extent({}), tail_, -1);
  at(tail_).high += blocks;
}

void BlockExtents::give_back(std::int32_t id) {
  put_in_queue(id, tail_, -1);
}

bool BlockExtents::pop(std::int32_t blocks, LostRuns* runs) {
  bool lost = false;
  while (blocks > 0) {
    const std::int32_t id = head_;
    ROOFLUA_ASSERT(id >= 0);
    lost = lost || at(id).path >= 0;
    const std::int32_t some = std::min(blocks, at(id).blocks());
    blocks -= some;
    if (some == at(id).blocks()) leave_queue(id);
    lose_deepest(id, some, runs);
  }
  return lost;
}

void BlockExtents::hold(std::int32_t id) {
  if (at(id).references++ == 0) leave_queue(id);
}

void BlockExtents::drop(std::int32_t id) {
  const std::int32_t blocks = at(id).blocks();
  lose_deepest(id, blocks, nullptr);
  push_blank_head(blocks);
}

// --- extents

std::int32_t BlockExtents::new_extent(const Extent& like) {
  if (spare_extents_.empty()) {
    extents_.push_back(like);
    return static_cast<std::int32_t>(extents_.size()) - 1;
  }
  const std::int32_t id = spare_extents_.back();
  spare_extents_.pop_back();
  at(id) = like;
  return id;
}

void BlockExtents::insert_behind(std::vector<std::int32_t>& all, std::int32_t id,
                                 std::int32_t added) {
  all.insert(std::find(all.begin(), all.end(), id) + 1, added);
}

void BlockExtents::cut(std::int32_t id, std::int32_t blocks) {
  if (blocks == at(id).blocks()) return;
  const Extent whole = at(id);
  const std::int32_t behind = new_extent(whole);
  at(behind).low = at(id).high = whole.low + blocks;
  at(id).deeper = behind;
  Path& own = path(whole.path);
  insert_behind(whole.is_primary ? own.primary : own.copies, id, behind);
  // The deeper blocks leave the queue first.
  if (whole.references == 0) put_in_queue(behind, whole.previous, id);
}

/// The deepest blocks of an extent lose their content. Of an extent that loses all of them nothing
/// is left; it is not in the queue.
void BlockExtents::lose_deepest(std::int32_t id, std::int32_t blocks, LostRuns* lost) {
  Extent& own = at(id);
  const std::int32_t on = own.path, to = own.high, from = to - blocks;
  const bool is_primary = own.is_primary, is_gone = from == own.low;
  own.high = from;
  if (is_gone) spare_extents_.push_back(id);
  if (on < 0) return;
  Path& path = this->path(on);
  if (is_gone) {
    std::vector<std::int32_t>& all = is_primary ? path.primary : path.copies;
    if (all.back() == id)
      all.pop_back();
    else
      all.erase(std::find(all.begin(), all.end(), id));
  }
  if (is_primary) replace_primary(on, from, to, lost);
}

/// Blocks [from, to) of a path lost their primary copy: the next one of each is primary. Where
/// there is none the path ends.
void BlockExtents::replace_primary(std::int32_t id, std::int32_t from, std::int32_t to,
                                   LostRuns* lost) {
  std::vector<std::int32_t>& copies = path(id).copies;
  while (from < to) {
    std::int32_t upto = to;
    std::size_t i = 0;
    for (; i < copies.size(); ++i) {
      const Extent& copy = extent(copies[i]);
      if (copy.low <= from && from < copy.high) break;
      if (copy.low > from) upto = std::min(upto, copy.low);
    }
    if (i == copies.size()) {
      ROOFLUA_ASSERT(to == path(id).length());
      if (lost != nullptr && !path(id).apart) add_lost(id, from, *lost);
      if (keeps_forgotten_)
        forgotten_.insert(forgotten_.end(), path(id).hashes.begin() + from, path(id).hashes.end());
      if (holders_ != nullptr && !path(id).apart)
        holders_->lost(std::span(path(id).hashes).subspan(static_cast<std::size_t>(from)),
                       replica_);
      if (from == 0) return end_path(id);
      path(id).hashes.resize(static_cast<std::size_t>(from));
      return;
    }
    const std::int32_t whole = copies[i];
    if (from > extent(whole).low) {
      cut(whole, from - extent(whole).low);
      ++i;
    }
    const std::int32_t next = copies[i];
    cut(next, std::min(upto, extent(next).high) - extent(next).low);
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
    at(next).is_primary = true;
    std::vector<std::int32_t>& primary = path(id).primary;
    const auto deeper = [this](std::int32_t a, std::int32_t b) {
      return extent(a).low < extent(b).low;
    };
    primary.insert(std::upper_bound(primary.begin(), primary.end(), next, deeper), next);
    from = extent(next).high;
  }
}

/// The blocks of a path from `from` on leave.
void BlockExtents::add_lost(std::int32_t id, std::int32_t from, LostRuns& lost) const {
  const std::int32_t first = path(id).begin + from;
  std::int32_t end = path(id).begin + path(id).length();
  const auto last = static_cast<std::size_t>(end) - 1;
  if (!lost.empty() && lost.back().first == end &&
      lost.back().hashes[last] == path(id).hashes.back()) {
    lost.back().first = first;
    return;
  }
  LostRun& run = lost.emplace_back();
  run.first = first;
  run.hashes.resize(static_cast<std::size_t>(end));
  // What is in front of a block is cached as long as the block is.
  for (std::int32_t on = id; on >= 0; on = path(on).parent) {
    const Path& part = path(on);
    ROOFLUA_ASSERT(part.begin + part.length() >= end);
    std::copy_n(part.hashes.begin(), end - part.begin, run.hashes.begin() + part.begin);
    end = part.begin;
  }
}

// --- paths

void BlockExtents::prefetch(std::uint64_t hash, Part part) const {
  if (part == Part::index) return index_.prefetch(hash);
  const std::int32_t found = index_.find(hash);
  if (found < 0) return;
  if (part == Part::path) return __builtin_prefetch(&path(found));
  __builtin_prefetch(path(found).hashes.data());
  for (const std::int32_t id : path(found).primary) __builtin_prefetch(&extent(id));
}

/// @param behind  the extent that it follows; -1: it begins sequences
std::int32_t BlockExtents::new_path(std::uint64_t first, std::int32_t behind) {
  std::int32_t id = static_cast<std::int32_t>(paths_.size());
  if (spare_paths_.empty()) {
    paths_.emplace_back();
  } else {
    id = spare_paths_.back();
    spare_paths_.pop_back();
  }
  path(id).parent = behind >= 0 ? extent(behind).path : -1;
  path(id).begin = behind >= 0 ? path(path(id).parent).begin + extent(behind).high : 0;
  path(id).apart = apart_;
  index_.set(first, id);
  if (path(id).is_first() && holders_ != nullptr && !apart_) holders_->add(first, replica_);
  return id;
}

/// It has no block left.
void BlockExtents::end_path(std::int32_t id) {
  Path& own = path(id);
  const std::uint64_t first = own.hashes.front();
  index_.erase(first);
  if (own.is_first() && holders_ != nullptr && !own.apart) holders_->remove(first, replica_);
  own.hashes.clear();
  spare_paths_.push_back(id);
}

/// Where the block with this hash is cached; path -1: nowhere. `behind`: the place where it is if
/// it is on the path of the block in front of it.
BlockExtents::Place BlockExtents::find(Place behind, std::uint64_t hash) const {
  if (behind.path >= 0 && behind.block < path(behind.path).length() &&
      path(behind.path).hashes[static_cast<std::size_t>(behind.block)] == hash)
    return behind;
  return {index_.find(hash), 0};
}

/// Blocks of a path that has them already.
std::int32_t BlockExtents::add_copy(std::int32_t last, Place place, std::int32_t blocks) {
  std::vector<std::int32_t>& copies = path(place.path).copies;
  const bool grows = last >= 0 && at(last).references == 1 && at(last).path == place.path &&
                     at(last).high == place.block && !copies.empty() && copies.back() == last;
  if (!grows) {
    last = new_extent({.path = place.path, .low = place.block, .high = place.block});
    at(last).references = 1;
    copies.push_back(last);
  }
  at(last).high += blocks;
  return last;
}

/// Blocks that are on no path.
std::int32_t BlockExtents::add_new(std::int32_t last, std::span<const std::uint64_t> hashes) {
  const bool at_end = last >= 0 && at(last).high == path(at(last).path).length();
  const std::int32_t id = at_end ? at(last).path : new_path(hashes.front(), last);
  Path& own = path(id);
  if (!at_end || !at(last).is_primary || at(last).references != 1) {
    last = new_extent({.path = id, .low = own.length(), .high = own.length()});
    at(last).references = 1;
    at(last).is_primary = true;
    own.primary.push_back(last);
  }
  own.hashes.insert(own.hashes.end(), hashes.begin(), hashes.end());
  if (holders_ != nullptr && !own.apart) holders_->kept(hashes, replica_);
  at(last).high = own.length();
  return last;
}

}  // namespace rooflua
