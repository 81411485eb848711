#include "serve/stores/eviction.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rooflua {

namespace {
StoredExtent& at(StoredExtents& extents, std::int32_t id) {
  return extents[static_cast<std::size_t>(id)];
}
const StoredExtent& at(const StoredExtents& extents, std::int32_t id) {
  return extents[static_cast<std::size_t>(id)];
}
}  // namespace

// --- lists

void EvictionOrder::append(StoredExtents& extents, std::int32_t id, std::int32_t list) {
  List& own = lists_[list];
  StoredExtent& extent = at(extents, id);
  extent.list = list;
  extent.previous = own.tail;
  extent.next = -1;
  (own.tail >= 0 ? at(extents, own.tail).next : own.head) = id;
  own.tail = id;
  own.size += extent.chunks();
}

void EvictionOrder::unlink(StoredExtents& extents, std::int32_t id) {
  const StoredExtent& extent = at(extents, id);
  const auto found = lists_.find(extent.list);
  List& own = found->second;
  (extent.previous >= 0 ? at(extents, extent.previous).next : own.head) = extent.next;
  (extent.next >= 0 ? at(extents, extent.next).previous : own.tail) = extent.previous;
  own.size -= extent.chunks();
  if (own.head < 0) lists_.erase(found);
}

void EvictionOrder::add(StoredExtents& extents, std::int32_t id, double key) {
  if (!is_keyed()) return append(extents, id, 0);
  at(extents, id).key = key;
  at(extents, id).serial = serial_++;
  if (at(extents, id).may_leave()) release(extents, id);
}

void EvictionOrder::hold(StoredExtents& extents, std::int32_t id) {
  StoredExtent& extent = at(extents, id);
  if (std::exchange(extent.stands, false)) by_key_.erase({extent.key, extent.serial, id});
}

void EvictionOrder::release(StoredExtents& extents, std::int32_t id) {
  StoredExtent& extent = at(extents, id);
  if (is_keyed() && !std::exchange(extent.stands, true))
    by_key_.emplace(extent.key, extent.serial, id);
}

void EvictionOrder::use(StoredExtents& extents, std::int32_t id, double key) {
  StoredExtent& extent = at(extents, id);
  if (is_keyed()) {
    const bool stood = extent.stands;
    hold(extents, id);
    extent.key = key;
    extent.serial = serial_++;
    if (stood) release(extents, id);
    return;
  }
  if (!heeds_use()) return;
  std::int32_t list = 0;
  if (rule_ == Eviction::lfu) list = extent.uses;
  if (rule_ == Eviction::arc) list = extent.list == 1 || !extent.arrives ? 1 : 0;
  unlink(extents, id);
  extent.deep_first = true;
  append(extents, id, list);
}

void EvictionOrder::remove(StoredExtents& extents, std::int32_t id) {
  is_keyed() ? hold(extents, id) : unlink(extents, id);
}

void EvictionOrder::shrink(const StoredExtents& extents, std::int32_t id, std::int32_t chunks) {
  lists_.at(at(extents, id).list).size -= chunks;
}

void EvictionOrder::cut(StoredExtents& extents, std::int32_t id, std::int32_t deeper) {
  StoredExtent &own = at(extents, id), &other = at(extents, deeper);
  List& list = lists_.at(own.list);
  other.list = own.list;
  const std::int32_t front = own.deep_first ? own.previous : id;
  const std::int32_t behind = own.deep_first ? id : own.next;
  other.previous = front;
  other.next = behind;
  (front >= 0 ? at(extents, front).next : list.head) = deeper;
  (behind >= 0 ? at(extents, behind).previous : list.tail) = deeper;
}

bool EvictionOrder::join(StoredExtents& extents, std::int32_t id, std::int32_t deeper) {
  StoredExtent &own = at(extents, id), &other = at(extents, deeper);
  if (is_keyed() || own.high != other.low || own.list != other.list ||
      own.readers != other.readers || own.arrives != other.arrives)
    return false;
  const bool deep_first = other.next == id;
  if (!deep_first && own.next != deeper) return false;
  for (const StoredExtent* each : {&own, &other}) {
    if (each->chunks() > 1 && each->deep_first != deep_first) return false;
  }
  List& list = lists_.at(own.list);
  (other.previous >= 0 ? at(extents, other.previous).next : list.head) = other.next;
  (other.next >= 0 ? at(extents, other.next).previous : list.tail) = other.previous;
  own.high = other.high;
  own.deep_first = deep_first;
  return true;
}

// --- what leaves

std::int32_t EvictionOrder::first_of(const StoredExtents& extents, const List& list,
                                     std::int64_t round) const {
  for (std::int32_t id = list.head; id >= 0; id = at(extents, id).next) {
    if (at(extents, id).may_leave() && at(extents, id).round != round) return id;
  }
  return -1;
}

std::int64_t EvictionOrder::size_of(std::int32_t list) const {
  const auto found = lists_.find(list);
  return found == lists_.end() ? 0 : found->second.size;
}

std::int32_t EvictionOrder::first(const StoredExtents& extents, std::int64_t round) const {
  if (is_keyed()) return by_key_.empty() ? -1 : std::get<2>(*by_key_.begin());
  const bool again_first =
      rule_ == Eviction::arc && size_of(0) < static_cast<std::int64_t>(once_target_);
  std::int32_t found = -1;
  for (const auto& [number, list] : lists_) {
    const std::int32_t id = first_of(extents, list, round);
    if (id >= 0) found = id;
    if (id >= 0 && !again_first) break;
  }
  return found;
}

// --- what arc remembers

void EvictionOrder::Ghosts::add(std::uint64_t hash, std::int64_t most) {
  remove(hash);
  if (order_.size() > static_cast<std::size_t>(2 * size_ + 64)) close_gaps();
  place_.set(hash, static_cast<std::int32_t>(order_.size()));
  order_.push_back(hash);
  ++size_;
  while (size_ > most) {
    while (order_[first_] == 0) ++first_;
    remove(order_[first_]);
  }
}

void EvictionOrder::Ghosts::remove(std::uint64_t hash) {
  const std::int32_t place = place_.find(hash);
  if (place < 0) return;
  order_[static_cast<std::size_t>(place)] = 0;
  place_.erase(hash);
  --size_;
}

void EvictionOrder::Ghosts::close_gaps() {
  std::erase(order_, 0);
  first_ = 0;
  for (std::size_t i = 0; i < order_.size(); ++i)
    place_.set(order_[i], static_cast<std::int32_t>(i));
}

void EvictionOrder::miss(std::uint64_t hash) {
  for (int i = 0; i < 2; ++i) {
    Ghosts& own = ghosts_[i];
    if (!own.has(hash)) continue;
    const double step =
        std::max(1.0, static_cast<double>(ghosts_[1 - i].size()) / static_cast<double>(own.size()));
    once_target_ += i == 0 ? step : -step;
    once_target_ = std::clamp(once_target_, 0.0, static_cast<double>(capacity_));
    own.add(hash, capacity_);
    return;
  }
}

void EvictionOrder::lost(std::int32_t list, std::uint64_t hash) {
  ghosts_[list].add(hash, capacity_);
}

void EvictionOrder::came(std::uint64_t hash) {
  for (Ghosts& each : ghosts_) each.remove(hash);
}

}  // namespace rooflua
