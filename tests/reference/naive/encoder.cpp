#include "tests/reference/naive/encoder.h"

#include <map>

namespace rooflua::reference {

/// Items of a request, as the cache knows them one by one.
std::vector<NaiveEncoder::Item> NaiveEncoder::of(int id) const {
  std::vector<Item> out;
  int at = 0;
  for (const auto& [content, tokens] : question_.prompts[static_cast<std::size_t>(id)].segments) {
    if (content >= first_item) out.push_back({at, at + tokens, content});
    at += tokens;
  }
  if (items_.rules.shares) return out;
  for (Item& each : out)  // each of its own
    each.content =
        static_cast<std::uint64_t>(id + 1) * 1000 + static_cast<std::uint64_t>(&each - out.data());
  return out;
}

/// What the cache keeps of them: each, or all as one.
std::vector<NaiveEncoder::Item> NaiveEncoder::entries_of(int id) const {
  std::vector<Item> out = of(id);
  if (!items_.rules.whole || out.empty()) return out;
  static std::map<std::vector<std::uint64_t>, std::uint64_t> names;
  std::vector<std::uint64_t> contents;
  int tokens = 0;
  for (const Item& each : out) {
    contents.push_back(each.content);
    tokens += each.tokens();
  }
  const std::uint64_t name = names.emplace(contents, (1ull << 50) + names.size()).first->second;
  return {{out.back().to - tokens, out.back().to, name}};
}

const NaiveEncoder::Kept* NaiveEncoder::kept(std::uint64_t content) const {
  for (const Kept& each : kept_)
    if (each.content == content) return &each;
  return nullptr;
}

int NaiveEncoder::encodable(const Chunk& wanted, const std::vector<Chunk>& planned) const {
  const EncoderRules& rules = items_.rules;
  if (rules.whole) return wanted.to - wanted.from;
  std::set<std::uint64_t> fresh, held;
  std::map<std::uint64_t, int> size;
  for (const Kept& each : kept_)
    if (!each.users.empty()) held.insert(each.content);
  for (const Kept& each : kept_) size[each.content] = each.tokens;
  const auto meet = [&](const Item& item, const Chunk& chunk) {
    return item.from < chunk.to && item.to > chunk.from;
  };
  const auto take = [&](const Item& item) {
    size[item.content] = item.tokens();
    (kept(item.content) != nullptr ? held : fresh).insert(item.content);
  };
  for (const Chunk& chunk : planned)
    for (const Item& item : of(chunk.id))
      if (meet(item, chunk)) take(item);
  for (const Item& item : of(wanted.id)) {
    if (!meet(item, wanted)) continue;
    if (kept(item.content) != nullptr || fresh.contains(item.content)) {
      take(item);
      continue;
    }
    int computed = 0, taken = 0;
    for (const std::uint64_t each : fresh) computed += size[each];
    for (const std::uint64_t each : held) taken += size[each];
    const bool in_part = wanted.from < item.from && wanted.to < item.to;
    bool fits = rules.splits || !in_part;
    if (rules.budget_tokens > 0 && computed > 0)
      fits = fits && computed + item.tokens() <= rules.budget_tokens;
    if (rules.pins && computed + taken > 0)
      fits = fits && computed + taken + item.tokens() <= rules.cache_tokens;
    if (!fits) return std::max(0, item.from - wanted.from);
    take(item);
  }
  return wanted.to - wanted.from;
}

/// Those that nobody uses go, the one that was used the longest ago first.
void NaiveEncoder::drop_unused(int room) {
  while (true) {
    int sum = room;
    for (const Kept& each : kept_) sum += each.tokens;
    if (sum <= items_.rules.cache_tokens) return;
    auto worst = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it)
      if (it->users.empty() && (worst == kept_.end() || it->since < worst->since)) worst = it;
    if (worst == kept_.end()) return;
    kept_.erase(worst);
  }
}

/// @returns whether it was there
bool NaiveEncoder::need(const Item& entry, int id) {
  const EncoderRules& rules = items_.rules;
  const bool there = kept(entry.content) != nullptr;
  if (!there) {
    if (!rules.pins && entry.tokens() > rules.cache_tokens) return false;
    drop_unused(entry.tokens());
    kept_.push_back({entry.content, entry.tokens(), {}, 0});
  }
  for (Kept& each : kept_) {
    if (each.content != entry.content) continue;
    each.since = ++clock_;
    if (rules.pins) each.users.insert(id);
  }
  return there;
}

void NaiveEncoder::leave(std::uint64_t content, int id) {
  for (auto it = kept_.begin(); it != kept_.end(); ++it) {
    if (it->content != content || it->users.erase(id) == 0 || !it->users.empty()) continue;
    it->since = ++clock_;
    if (!items_.rules.shares) kept_.erase(it);
    return;
  }
}

void NaiveEncoder::plan(const std::vector<Chunk>& chunks, const std::vector<int>& gone) {
  for (const int id : gone) {
    std::vector<std::uint64_t> had;
    for (const Kept& each : kept_)
      if (each.users.contains(id)) had.push_back(each.content);
    for (const std::uint64_t content : had) leave(content, id);
  }
  int computed = 0, passes = 0;
  for (const Chunk& chunk : chunks) {
    const std::vector<Item> items = of(chunk.id), entries = entries_of(chunk.id);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool met = entries[i].from < chunk.to && entries[i].to > chunk.from;
      if (!(items_.rules.whole ? entries[i].to > chunk.from : met)) continue;
      const bool there = need(entries[i], chunk.id);
      for (std::size_t k = 0; k < items.size(); ++k) {
        if (!items_.rules.whole && k != i) continue;
        const bool first = known_[static_cast<std::size_t>(chunk.id)].insert(items[k].from).second;
        if (there) {
          found += first;
        } else {
          ++encoded;
          ++passes;
          computed += items[k].tokens();
        }
      }
    }
  }
  for (const Chunk& chunk : chunks)
    for (const Item& entry : entries_of(chunk.id))
      if (entry.to <= chunk.to) leave(entry.content, chunk.id);
  pass_ = passes > 0 ? items_.pass + items_.token * computed : 0;
}

Ps NaiveEncoder::take_pass() {
  return std::exchange(pass_, 0);
}

}  // namespace rooflua::reference
