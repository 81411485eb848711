#include "serve/kv/hash_map.h"

#include <bit>
#include <utility>

namespace rooflua {

HashMap::HashMap() {
  resize(16);
}

void HashMap::resize(std::size_t size) {
  const std::vector<Entry> entries = std::move(entries_);
  entries_.assign(size, Entry{});
  shift_ = 64 - std::countr_zero(size);
  count_ = 0;
  for (const Entry& each : entries) {
    if (each.value >= 0) set(each.hash, each.value);
  }
}

std::int32_t HashMap::find(std::uint64_t hash) const {
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t i = place(hash); entries_[i].value >= 0; i = (i + 1) & mask) {
    if (entries_[i].hash == hash) return entries_[i].value;
  }
  return -1;
}

void HashMap::set(std::uint64_t hash, std::int32_t value) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t i = place(hash);
  while (entries_[i].value >= 0 && entries_[i].hash != hash) i = (i + 1) & mask;
  count_ += entries_[i].value < 0;
  entries_[i] = {hash, value};
  if (2 * count_ > entries_.size()) resize(2 * entries_.size());
}

void HashMap::erase(std::uint64_t hash) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t hole = place(hash);
  while (entries_[hole].value >= 0 && entries_[hole].hash != hash) hole = (hole + 1) & mask;
  if (entries_[hole].value < 0) return;
  --count_;
  for (std::size_t i = (hole + 1) & mask; entries_[i].value >= 0; i = (i + 1) & mask) {
    if (((i - place(entries_[i].hash)) & mask) < ((i - hole) & mask))
      continue;  // an entry must not move to a place before its own
    entries_[hole] = entries_[i];
    hole = i;
  }
  entries_[hole].value = -1;
}

}  // namespace rooflua
