#include "serve/stores/eviction.h"

#include <algorithm>
#include <cstddef>

namespace rooflua {

namespace {
StoredChunk& at(StoredChunks& chunks, std::int32_t id) {
  return chunks[static_cast<std::size_t>(id)];
}
const StoredChunk& at(const StoredChunks& chunks, std::int32_t id) {
  return chunks[static_cast<std::size_t>(id)];
}
}  // namespace

void EvictionOrder::Ghosts::add(std::uint64_t hash, std::int64_t now, std::int64_t most) {
  remove(hash);
  order.emplace(now, hash);
  when[hash] = now;
  while (static_cast<std::int64_t>(when.size()) > most) remove(order.begin()->second);
}

void EvictionOrder::Ghosts::remove(std::uint64_t hash) {
  const auto found = when.find(hash);
  if (found == when.end()) return;
  order.erase({found->second, hash});
  when.erase(found);
}

void EvictionOrder::append(StoredChunks& chunks, std::int32_t id, std::int32_t list) {
  List& own = lists_[list];
  StoredChunk& chunk = at(chunks, id);
  chunk.list = list;
  chunk.previous = own.tail;
  chunk.next = -1;
  (own.tail >= 0 ? at(chunks, own.tail).next : own.head) = id;
  own.tail = id;
  ++own.size;
}

void EvictionOrder::unlink(StoredChunks& chunks, std::int32_t id) {
  const StoredChunk& chunk = at(chunks, id);
  List& own = lists_[chunk.list];
  (chunk.previous >= 0 ? at(chunks, chunk.previous).next : own.head) = chunk.next;
  (chunk.next >= 0 ? at(chunks, chunk.next).previous : own.tail) = chunk.previous;
  --own.size;
}

void EvictionOrder::add(StoredChunks& chunks, std::int32_t id, double key) {
  StoredChunk& chunk = at(chunks, id);
  chunk.serial = serial_++;
  if (by_key()) {
    chunk.key = key_of(chunk, key);
    by_key_.emplace(chunk.key, chunk.serial, id);
    return;
  }
  append(chunks, id, 0);
  if (rule_ != Eviction::arc) return;
  for (Ghosts& each : ghosts_) each.remove(chunk.hash);
}

void EvictionOrder::use(StoredChunks& chunks, std::int32_t id, double key) {
  StoredChunk& chunk = at(chunks, id);
  if (by_key()) {
    by_key_.erase({chunk.key, chunk.serial, id});
    chunk.key = key_of(chunk, key);
    chunk.serial = serial_++;
    by_key_.emplace(chunk.key, chunk.serial, id);
    return;
  }
  if (rule_ == Eviction::fifo) return;
  const bool again = rule_ == Eviction::arc && (chunk.list == 1 || !chunk.arrives);
  unlink(chunks, id);
  append(chunks, id, again ? 1 : 0);
}

void EvictionOrder::miss(std::uint64_t hash) {
  if (rule_ != Eviction::arc) return;
  for (int i = 0; i < 2; ++i) {
    Ghosts& own = ghosts_[i];
    if (!own.when.contains(hash)) continue;
    const double step = std::max(1.0, ghosts_[1 - i].size() / own.size());
    once_target_ += i == 0 ? step : -step;
    once_target_ = std::clamp(once_target_, 0.0, static_cast<double>(capacity_));
    own.add(hash, serial_++, capacity_);
    return;
  }
}

void EvictionOrder::remove(StoredChunks& chunks, std::int32_t id) {
  const StoredChunk& chunk = at(chunks, id);
  if (by_key()) {
    by_key_.erase({chunk.key, chunk.serial, id});
  } else {
    unlink(chunks, id);
  }
}

void EvictionOrder::evict(StoredChunks& chunks, std::int32_t id) {
  remove(chunks, id);
  const StoredChunk& chunk = at(chunks, id);
  if (rule_ == Eviction::arc) ghosts_[chunk.list].add(chunk.hash, serial_++, capacity_);
}

std::int32_t EvictionOrder::first_of(const StoredChunks& chunks, std::int32_t list,
                                     std::int64_t round) const {
  for (std::int32_t id = lists_[list].head; id >= 0; id = at(chunks, id).next) {
    if (at(chunks, id).may_leave() && at(chunks, id).round != round) return id;
  }
  return -1;
}

std::int32_t EvictionOrder::first(const StoredChunks& chunks, std::int64_t round) const {
  if (by_key()) {
    for (const auto& [key, serial, id] : by_key_) {
      if (at(chunks, id).may_leave() && at(chunks, id).round != round) return id;
    }
    return -1;
  }
  if (rule_ != Eviction::arc) return first_of(chunks, 0, round);
  const int begin = lists_[0].size >= static_cast<std::int64_t>(once_target_) ? 0 : 1;
  const std::int32_t found = first_of(chunks, begin, round);
  return found >= 0 ? found : first_of(chunks, 1 - begin, round);
}

}  // namespace rooflua
