#include "cost/lookup/keyed.h"

namespace rooflua {

void KeyedIndex::add(const Key& key, const Point& point) {
  const auto [found, fresh] = of_.try_emplace(key, entries_.size());
  if (fresh) entries_.push_back({key, Series()});
  entries_[found->second].series.add(point);
}

void KeyedIndex::finish() {
  for (Entry& entry : entries_) entry.series.finish(true);
}

const KeyedIndex::Entry* KeyedIndex::find(const Key& key) const {
  const auto found = of_.find(key);
  return found == of_.end() ? nullptr : &entries_[found->second];
}

}  // namespace rooflua
