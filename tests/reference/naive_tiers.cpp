#include "tests/reference/naive_tiers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rooflua::reference {

namespace {

Ps after(Ps start, double time_s) {
  return start + std::max<Ps>(1, std::llround(time_s * 1e12));
}

double in_seconds(Ps time) {
  return static_cast<double>(time) / 1e12;
}

}  // namespace

// --- a store

bool NaiveStore::leaves_before(const Chunk& a, const Chunk& b) const {
  if (store_.eviction == Eviction::fifo) return a.put < b.put;
  if (store_.eviction == Eviction::lfu && a.uses != b.uses) return a.uses < b.uses;
  return a.used < b.used;
}

std::optional<std::vector<int>> NaiveStore::put(const std::vector<int>& keys) {
  std::vector<int> missing;
  for (const int key : keys)
    if (!chunks_.contains(key)) missing.push_back(key);
  std::map<int, Chunk> left = chunks_;
  int gone = 0;
  while (static_cast<int>(left.size() + missing.size()) > store_.chunks) {
    auto first = left.end();
    for (auto each = left.begin(); each != left.end(); ++each) {
      const bool of_run = std::find(keys.begin(), keys.end(), each->first) != keys.end();
      if (of_run || each->second.readers > 0 || each->second.arrives) continue;
      if (first == left.end() || leaves_before(each->second, first->second)) first = each;
    }
    if (first == left.end()) return std::nullopt;
    left.erase(first);
    ++gone;
  }
  chunks_ = std::move(left);
  evictions += gone;
  for (const int key : missing) {
    ++calls_;
    chunks_[key] = {.arrives = true, .put = calls_, .used = calls_};
  }
  return missing;
}

void NaiveStore::end_put(const std::vector<int>& keys) {
  for (const int key : keys) chunks_.at(key).arrives = false;
}

void NaiveStore::begin_read(const std::vector<int>& keys) {
  for (const int key : keys) ++chunks_.at(key).readers;
}

void NaiveStore::end_read(const std::vector<int>& keys) {
  for (const int key : keys) --chunks_.at(key).readers;
}

void NaiveStore::ask(const std::vector<int>& keys) {
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    const auto found = chunks_.find(*key);
    if (found == chunks_.end()) continue;
    found->second.used = ++calls_;
    ++found->second.uses;
  }
}

// --- requests

NaiveTiers::NaiveTiers(const TierCase& tiers, const std::vector<Prompt>& prompts)
    : tiers_(tiers),
      counts_(tiers.stores.size()),
      asked_(prompts.size(), false),
      told_(prompts.size(), 0) {
  for (const StoreCase& each : tiers.stores) stores_.emplace_back(each);
  const int size = tiers.stores.front().chunk_tokens;
  std::map<std::pair<int, std::vector<Token>>, int> known;
  for (const Prompt& prompt : prompts) {
    std::vector<int>& own = keys_.emplace_back();
    const auto& tokens = prompt.plain.tokens;
    for (int end = size; end <= static_cast<int>(tokens.size()); end += size) {
      std::vector<Token> chunk(tokens.begin() + end - size, tokens.begin() + end);
      const int parent = own.empty() ? -1 : own.back(), next = static_cast<int>(known.size());
      own.push_back(known.try_emplace({parent, std::move(chunk)}, next).first->second);
    }
  }
}

std::vector<int> NaiveTiers::keys(int id, int first, int end) const {
  const std::vector<int>& all = keys_[static_cast<std::size_t>(id)];
  return {all.begin() + first, all.begin() + std::max(first, end)};
}

int NaiveTiers::find(int id, int gpu, int sequence) const {
  const int size = tiers_.stores.front().chunk_tokens, end = (sequence - 1) / size;
  const std::vector<int>& all = keys_[static_cast<std::size_t>(id)];
  int chunk = gpu / size;
  while (chunk < end && stores_.front().has(all[static_cast<std::size_t>(chunk)])) ++chunk;
  return std::max(0, chunk * size - gpu);
}

void NaiveTiers::begin_load(int id, int gpu, int tokens) {
  const int size = tiers_.stores.front().chunk_tokens;
  Flow flow;
  flow.load = true;
  flow.id = id;
  flow.tokens = tokens;
  flow.keys = keys(id, gpu / size, (gpu + tokens) / size);
  stores_.front().begin_read(flow.keys);
  counts_.front().loads += 1;
  counts_.front().hit_tokens += tokens;
  begun_[id] = flow;
}

void NaiveTiers::send_load(int id, Ps now) {
  start(begun_.at(id), now);
  begun_.erase(id);
}

void NaiveTiers::ask(int id, int sequence) {
  const auto place = static_cast<std::size_t>(id);
  if (asked_[place]) return;
  asked_[place] = true;
  stores_.front().ask(keys(id, 0, sequence / tiers_.stores.front().chunk_tokens));
}

int NaiveTiers::computed(int id, int tokens, Ps now) {
  const int size = tiers_.stores.front().chunk_tokens, end = tokens / size;
  int& told = told_[static_cast<std::size_t>(id)];
  if (end <= told) return 0;
  const auto run = keys(id, std::exchange(told, end), end);
  const std::optional<std::vector<int>> placed = stores_.front().put(run);
  if (!placed) {
    ++counts_.front().skipped;
    return 0;
  }
  if (placed->empty()) return 0;
  ++counts_.front().stores;
  Flow flow;
  flow.id = id;
  flow.keys = *placed;
  flow.tokens = size * static_cast<int>(placed->size());
  start(std::move(flow), now);
  return end * size;
}

std::vector<StoreCounts> NaiveTiers::counts() const {
  std::vector<StoreCounts> out = counts_;
  for (std::size_t i = 0; i < out.size(); ++i) out[i].evictions = stores_[i].evictions;
  return out;
}

// --- flows

void NaiveTiers::start(Flow flow, Ps now) {
  flow.alpha_s = in_seconds(tiers_.stores.front().alpha) + in_seconds(tiers_.link_alpha);
  flow.bytes = flow.left = flow.tokens;
  flow.start = now;
  flow.moves = flow.alpha_s == 0;
  flow.since = now;
  flow.due = after(now, flow.alpha_s);
  flows_.push_back(std::move(flow));
  if (flows_.back().moves) share(now);
}

std::optional<Ps> NaiveTiers::next() const {
  std::optional<Ps> out;
  for (const Flow& flow : flows_)
    if (!out || flow.due < *out) out = flow.due;
  return out;
}

std::vector<NaiveTiers::Flow> NaiveTiers::pass(Ps now) {
  std::vector<Flow> ended, left;
  bool changed = false;
  for (Flow& flow : flows_) {
    if (flow.due != now) {
      left.push_back(std::move(flow));
    } else if (flow.moves) {
      ended.push_back(std::move(flow));
      changed = true;
    } else {
      flow.moves = changed = true;
      flow.since = now;
      left.push_back(std::move(flow));
    }
  }
  flows_ = std::move(left);
  if (changed) share(now);
  for (const Flow& flow : ended)
    flow.load ? stores_.front().end_read(flow.keys) : stores_.front().end_put(flow.keys);
  return ended;
}

/// All flows of one wire have equal parts of it. A flow whose part stays the same keeps its end.
void NaiveTiers::share(Ps now) {
  const double whole = 1e12 / static_cast<double>(tiers_.link_token);
  for (Flow& flow : flows_) {
    if (!flow.moves) continue;
    int flows = 0;
    for (const Flow& other : flows_)
      flows += other.moves && (!tiers_.duplex || other.load == flow.load);
    const double rate = whole / flows;
    if (rate == flow.rate) continue;
    const bool first = flow.rate == 0;
    flow.left = std::max(0.0, flow.left - flow.rate * in_seconds(now - flow.since));
    flow.since = now;
    flow.rate = rate;
    flow.due = first && flows == 1 ? after(flow.start, flow.alpha_s + flow.bytes / rate)
                                   : now + static_cast<Ps>(std::ceil(flow.left / rate * 1e12));
  }
}

}  // namespace rooflua::reference
