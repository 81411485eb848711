#include "serve/routing/routed_index.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua {

RoutedIndex::RoutedIndex(const RouterIndex& rules, std::size_t replicas, std::int32_t kinds)
    : replicas_(static_cast<std::int32_t>(replicas)),
      capacity_(rules.capacity_blocks),
      ttl_(picoseconds(rules.ttl_s, "router: prefix_index: ttl_s")),
      deepest_first_(rules.deepest_first),
      most_holders_(static_cast<std::size_t>(rules.most_holders)),
      lists_(replicas * static_cast<std::size_t>(kinds)),
      matched_(replicas, 0) {}

// --- what is remembered

void RoutedIndex::add(std::int32_t replica, std::span<const std::uint64_t> hashes,
                      std::int32_t others, Picoseconds now) {
  if (deepest_first_) {
    add_others(replica, others);
    for (std::size_t i = hashes.size(); i > 0; --i) use(replica, hashes[i - 1], now);
  } else {
    for (const std::uint64_t hash : hashes) use(replica, hash, now);
    add_others(replica, others);
  }
  shrink(replica);
}

/// The block is the one of this replica that was used last.
void RoutedIndex::use(std::int32_t replica, std::uint64_t hash, Picoseconds now) {
  std::int32_t id = index_.find(hash);
  if (id < 0) {
    if (spare_blocks_.empty()) {
      id = static_cast<std::int32_t>(blocks_.size());
      blocks_.emplace_back();
    } else {
      id = spare_blocks_.back();
      spare_blocks_.pop_back();
    }
    block(id).hash = hash;
    index_.set(hash, id);
  }
  if (Holder* holder = find_holder(id, replica)) {
    holder->used = now;
    holder->order = ++uses_;
    unlink(holder->entry);
    return link(holder->entry);
  }
  const std::int32_t added = append(replica, id, 1);
  std::vector<Holder>& holders = block(id).holders;
  const auto place =
      std::lower_bound(holders.begin(), holders.end(), replica,
                       [](const Holder& each, std::int32_t index) { return each.replica < index; });
  holders.insert(place, {replica, added, now, ++uses_});
  limit_holders(id);
}

/// The holder that was added the longest ago goes, where there is one too many.
void RoutedIndex::limit_holders(std::int32_t id) {
  const std::vector<Holder>& holders = block(id).holders;
  if (most_holders_ == 0 || holders.size() <= most_holders_) return;
  const auto oldest =
      std::min_element(holders.begin(), holders.end(),
                       [](const Holder& a, const Holder& b) { return a.order < b.order; });
  drop(oldest->entry);
}

void RoutedIndex::add_others(std::int32_t replica, std::int32_t blocks) {
  if (blocks > 0) append(replica, -1, blocks);
}

void RoutedIndex::remove(std::int32_t replica, std::span<const std::uint64_t> hashes) {
  for (const std::uint64_t hash : hashes) {
    const std::int32_t id = index_.find(hash);
    if (id < 0) continue;
    if (const Holder* holder = find_holder(id, replica)) drop(holder->entry);
  }
}

void RoutedIndex::lose(std::int32_t replica) {
  while (list(replica).first >= 0) drop(list(replica).first);
}

/// What was used the longest ago is forgotten until the rest has room.
void RoutedIndex::shrink(std::int32_t replica) {
  List& own = list(replica);
  while (own.blocks > capacity_) {
    const std::int32_t id = own.first;
    const std::int64_t more = own.blocks - capacity_;
    if (entry(id).blocks <= more) {
      drop(id);
      continue;
    }
    entry(id).blocks -= static_cast<std::int32_t>(more);
    own.blocks -= more;
  }
}

RoutedIndex::Holder* RoutedIndex::find_holder(std::int32_t id, std::int32_t replica) {
  std::vector<Holder>& holders = block(id).holders;
  const auto place =
      std::lower_bound(holders.begin(), holders.end(), replica,
                       [](const Holder& each, std::int32_t index) { return each.replica < index; });
  return place != holders.end() && place->replica == replica ? &*place : nullptr;
}

// --- entries

std::int32_t RoutedIndex::append(std::int32_t replica, std::int32_t block, std::int32_t blocks) {
  auto id = static_cast<std::int32_t>(entries_.size());
  if (spare_entries_.empty()) {
    entries_.emplace_back();
  } else {
    id = spare_entries_.back();
    spare_entries_.pop_back();
  }
  entry(id) = {.block = block, .replica = replica, .blocks = blocks};
  link(id);
  return id;
}

void RoutedIndex::link(std::int32_t id) {
  List& own = list(entry(id).replica);
  entry(id).previous = own.last;
  entry(id).next = -1;
  (own.last >= 0 ? entry(own.last).next : own.first) = id;
  own.last = id;
  own.blocks += entry(id).blocks;
}

void RoutedIndex::unlink(std::int32_t id) {
  const Entry& gone = entry(id);
  List& own = list(gone.replica);
  (gone.previous >= 0 ? entry(gone.previous).next : own.first) = gone.next;
  (gone.next >= 0 ? entry(gone.next).previous : own.last) = gone.previous;
  own.blocks -= gone.blocks;
}

void RoutedIndex::drop(std::int32_t id) {
  unlink(id);
  spare_entries_.push_back(id);
  const std::int32_t of = entry(id).block;
  if (of < 0) return;
  std::vector<Holder>& holders = block(of).holders;
  holders.erase(holders.begin() + (find_holder(of, entry(id).replica) - holders.data()));
  if (!holders.empty()) return;
  index_.erase(block(of).hash);
  spare_blocks_.push_back(of);
}

// --- questions

std::span<const std::int32_t> RoutedIndex::match(std::span<const std::uint64_t> hashes,
                                                 Picoseconds now) {
  for (const std::int32_t replica : holders_) matched_[static_cast<std::size_t>(replica)] = 0;
  holders_.clear();
  std::int32_t depth = 0;
  bool sorted = true;
  for (const std::uint64_t hash : hashes) {
    const std::int32_t id = index_.find(hash);
    if (id < 0) break;
    bool any = false;
    for (const Holder& holder : block(id).holders) {
      const bool is_second = holder.replica >= replicas_;
      const std::int32_t replica = is_second ? holder.replica - replicas_ : holder.replica;
      std::int32_t& matched = matched_[static_cast<std::size_t>(replica)];
      if (matched != depth || !holds(holder, now)) continue;
      any = true;
      ++matched;
      if (depth == 0) holders_.push_back(replica);
      sorted = sorted && !is_second;
    }
    if (!any) break;
    ++depth;
  }
  if (!sorted) std::sort(holders_.begin(), holders_.end());
  return holders_;
}

}  // namespace rooflua
