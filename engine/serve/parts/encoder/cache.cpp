#include "serve/parts/encoder/cache.h"

#include <algorithm>

namespace rooflua {

std::int32_t EncoderCache::find(std::uint64_t content) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [=](const Entry& each) { return each.content == content; });
  return found == entries_.end() ? -1 : static_cast<std::int32_t>(found - entries_.begin());
}

/// What no request needs leaves, the oldest first, until so many tokens more fit.
void EncoderCache::make_room(std::int32_t tokens, std::int32_t most) {
  while (tokens_ + tokens > most) {
    auto oldest = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it)
      if (it->users.empty() && (oldest == entries_.end() || it->since < oldest->since)) oldest = it;
    if (oldest == entries_.end()) return;
    tokens_ -= oldest->tokens;
    entries_.erase(oldest);
  }
}

bool EncoderCache::use(const PromptItem& item, std::int32_t slot, const EncoderRules& rules) {
  std::int32_t place = find(item.content);
  const bool was_here = place >= 0;
  if (!was_here) {
    if (!rules.pins && item.tokens > rules.cache_tokens) return false;
    make_room(item.tokens, rules.cache_tokens);
    place = static_cast<std::int32_t>(entries_.size());
    entries_.push_back({item.content, item.tokens, 0, {}});
    tokens_ += item.tokens;
  }
  Entry& entry = entries_[static_cast<std::size_t>(place)];
  entry.since = ++clock_;
  if (!rules.pins) return was_here;
  if (entry.users.empty()) used_ += entry.tokens;
  if (std::find(entry.users.begin(), entry.users.end(), slot) == entry.users.end())
    entry.users.push_back(slot);
  return was_here;
}

void EncoderCache::drop_user(std::size_t place, std::int32_t slot, bool shares) {
  Entry& entry = entries_[place];
  if (std::erase(entry.users, slot) == 0 || !entry.users.empty()) return;
  used_ -= entry.tokens;
  entry.since = ++clock_;
  if (shares) return;
  tokens_ -= entry.tokens;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(place));
}

void EncoderCache::let_go(std::uint64_t content, std::int32_t slot, bool shares) {
  const std::int32_t place = find(content);
  if (place >= 0) drop_user(static_cast<std::size_t>(place), slot, shares);
}

void EncoderCache::let_go_of_all(std::int32_t slot, bool shares) {
  for (std::size_t i = 0; i < entries_.size();) {
    const std::size_t before = entries_.size();
    drop_user(i, slot, shares);
    i += entries_.size() == before;
  }
}

bool EncoderCache::Trial::has(const PromptItem& item) {
  if (std::find(seen_.begin(), seen_.end(), item.content) != seen_.end()) return true;
  const std::int32_t place = cache_.find(item.content);
  if (place < 0) return false;
  const Entry& entry = cache_.entries_[static_cast<std::size_t>(place)];
  seen_.push_back(item.content);
  taken_ += entry.users.empty() ? entry.tokens : 0;
  return true;
}

bool EncoderCache::Trial::has_room(const PromptItem& item, bool is_brought) const {
  const bool is_computed = !is_brought && rules_.budget_tokens > 0 && computed_ > 0;
  if (is_computed && computed_ + item.tokens > rules_.budget_tokens) return false;
  const std::int64_t taken = cache_.used_ + taken_;
  return !rules_.pins || taken == 0 || taken + item.tokens <= rules_.cache_tokens;
}

void EncoderCache::Trial::add(const PromptItem& item, bool is_brought) {
  seen_.push_back(item.content);
  taken_ += item.tokens;
  computed_ += is_brought ? 0 : item.tokens;
}

}  // namespace rooflua
