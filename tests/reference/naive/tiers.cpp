#include "tests/reference/naive/tiers.h"

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

void NaiveStore::cancel_put(const std::vector<int>& keys) {
  for (const int key : keys) chunks_.erase(key);
}

void NaiveStore::empty() {
  std::erase_if(chunks_, [](const auto& each) { return !each.second.arrives; });
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

NaiveTiers::NaiveTiers(const TierCase& tiers, const std::vector<Prompt>& prompts,
                       std::size_t replicas)
    : tiers_(tiers),
      counts_(tiers.stores.size()),
      asked_(prompts.size(), false),
      told_(prompts.size(), 0) {
  for (const StoreCase& each : tiers.stores) {
    stores_.emplace_back(replicas, NaiveStore(each));
    const int size = each.chunk_tokens;
    auto& by_request = keys_.emplace_back();
    auto& known = known_.emplace_back();
    for (const Prompt& prompt : prompts) {
      std::vector<int>& own = by_request.emplace_back();
      const auto& tokens = prompt.plain.tokens;
      for (int end = size; end <= static_cast<int>(tokens.size()); end += size) {
        std::vector<Token> chunk(tokens.begin() + end - size, tokens.begin() + end);
        const int parent = own.empty() ? -1 - prompt.plain.adapter : own.back();
        const auto next = static_cast<int>(known.size());
        own.push_back(known.try_emplace({parent, std::move(chunk)}, next).first->second);
      }
    }
  }
}

std::vector<int> NaiveTiers::keys(std::size_t store, int id, int first, int end) const {
  const std::vector<int>& all = keys_[store][static_cast<std::size_t>(id)];
  return {all.begin() + first, all.begin() + std::max(first, end)};
}

std::vector<NaiveTiers::Flow> NaiveTiers::flows_to(std::size_t replica, int id, int gpu,
                                                   int sequence) const {
  std::vector<Flow> out;
  int from = gpu;
  for (bool found = true; found;) {
    found = false;
    for (std::size_t s = 0; s < stores_.size() && !found; ++s) {
      const int chunk = from / size(s), end = (chunk + 1) * size(s);
      if (end > (tiers_.last_chunk ? sequence : sequence - 1)) continue;
      const int key = keys(s, id, chunk, chunk + 1).front();
      if (!at(s, replica).has(key)) continue;
      found = true;
      if (out.empty() || out.back().store != s) {
        out.push_back({});
        out.back().load = true;
        out.back().id = id;
        out.back().replica = replica;
        out.back().store = s;
      }
      out.back().keys.push_back(key);
      out.back().tokens += end - from;
      from = end;
    }
  }
  return out;
}

int NaiveTiers::find(std::size_t replica, int id, int gpu, int sequence) const {
  int tokens = 0;
  for (const Flow& each : flows_to(replica, id, gpu, sequence)) tokens += each.tokens;
  return tokens;
}

bool NaiveTiers::others_load(std::size_t replica, int id, int gpu, int sequence) const {
  if (!tiers_.shares_loads) return false;
  std::vector<Flow> loads;
  for (const auto& [owner, begun] : begun_) loads.insert(loads.end(), begun.begin(), begun.end());
  for (const Flow& flow : flows_)
    if (flow.load) loads.push_back(flow);
  for (const Flow& own : flows_to(replica, id, gpu, sequence)) {
    for (const Flow& other : loads) {
      if (other.id == id || other.replica != replica || other.store != own.store) continue;
      for (const int key : own.keys)
        if (std::find(other.keys.begin(), other.keys.end(), key) != other.keys.end()) return true;
    }
  }
  return false;
}

std::vector<int> NaiveTiers::flush(std::size_t replica, int id) {
  std::vector<int> out;
  for (Flow& flow : flows_) {
    if (!tiers_.flushes || flow.load || flow.id != id || flow.replica != replica) continue;
    flow.holds = true;
    out.insert(out.end(), flow.pinned.begin(), flow.pinned.end());
    flow.pinned.clear();
  }
  return out;
}

bool NaiveTiers::fills(int id, int tokens) const {
  const int told = told_[static_cast<std::size_t>(id)];
  for (std::size_t s = 0; s < stores_.size(); ++s)
    if (tokens / size(s) > told / size(s)) return true;
  return false;
}

void NaiveTiers::begin_load(std::size_t replica, int id, int gpu, int tokens) {
  std::vector<Flow>& begun = begun_[id] =
      flows_to(replica, id, gpu, gpu + tokens + (tiers_.last_chunk ? 0 : 1));
  for (const Flow& each : begun) {
    at(each.store, replica).begin_read(each.keys);
    counts_[each.store].loads += 1;
    counts_[each.store].hit_tokens += each.tokens;
  }
}

void NaiveTiers::send_load(int id, Ps now) {
  for (Flow& each : begun_.at(id)) {
    if (tiers_.promotes && each.store > 0 && size(each.store) == size(0)) {
      const auto placed = at(0, each.replica).put(each.keys);
      if (placed) each.promoted = *placed;
    }
    start(each, now, std::max(now, held_until(each.replica)));
  }
  begun_.erase(id);
}

void NaiveTiers::ask(std::size_t replica, int id, int sequence) {
  const auto place = static_cast<std::size_t>(id);
  if (asked_[place]) return;
  asked_[place] = true;
  for (std::size_t s = 0; s < stores_.size(); ++s)
    at(s, replica).ask(keys(s, id, 0, sequence / size(s)));
}

std::vector<int> NaiveTiers::computed(std::size_t replica, int id, int tokens, Ps now) {
  std::vector<int> out;
  if (tiers_.writes_back) return out;
  int& told = told_[static_cast<std::size_t>(id)];
  if (tokens <= told) return out;
  const int before = std::exchange(told, tokens);
  for (std::size_t s = 0; s < stores_.size(); ++s) {
    const int first = before / size(s), end = tokens / size(s);
    if (first >= end) continue;
    Flow flow;
    flow.id = id;
    flow.replica = replica;
    flow.store = s;
    put(flow, keys(s, id, first, end));
    if (flow.keys.empty()) continue;
    ++counts_[s].stores;
    start(std::move(flow), now, now);
    out.push_back(end * size(s));
  }
  return out;
}

/// What is put in is written, too.
void NaiveTiers::put(Flow& flow, const std::vector<int>& keys) {
  const std::optional<std::vector<int>> placed = at(flow.store, flow.replica).put(keys);
  if (!placed) {
    ++counts_[flow.store].skipped;
    return;
  }
  flow.keys.insert(flow.keys.end(), placed->begin(), placed->end());
  flow.tokens += size(flow.store) * static_cast<int>(placed->size());
}

void NaiveTiers::evicted(std::size_t replica, const std::vector<Lost>& all, Ps now) {
  if (!tiers_.writes_back) return;
  for (std::size_t s = 0; s < stores_.size(); ++s) {
    Flow flow;
    flow.holds = true;
    flow.replica = replica;
    flow.store = s;
    for (const auto& [tokens, kept, adapter] : all) {
      std::vector<int> keys;
      int parent = -1 - adapter;
      for (int end = size(s); end <= static_cast<int>(tokens.size()); end += size(s)) {
        const std::vector<Token> chunk(tokens.begin() + end - size(s), tokens.begin() + end);
        parent = known_[s].at({parent, chunk});
        if (end > kept) keys.push_back(parent);
      }
      if (!keys.empty()) put(flow, keys);
    }
    if (flow.keys.empty()) continue;
    ++counts_[s].stores;
    start(std::move(flow), now, now);
  }
}

Ps NaiveTiers::held_until(std::size_t replica) const {
  Ps end = 0;
  for (const Flow& flow : flows_)
    if (flow.holds && flow.replica == replica) end = std::max(end, flow.expected);
  return end;
}

std::vector<StoreCounts> NaiveTiers::counts() const {
  std::vector<StoreCounts> out = counts_;
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const NaiveStore& each : stores_[i]) out[i].evictions += each.evictions;
  }
  return out;
}

// --- flows

/// It waits until it begins as if it had that much more alpha.
void NaiveTiers::start(Flow flow, Ps now, Ps begins) {
  flow.alpha_s = in_seconds(tiers_.stores[flow.store].alpha) + in_seconds(tiers_.link_alpha) +
                 in_seconds(begins - now);
  flow.bytes = flow.left = flow.tokens;
  flow.start = now;
  flow.moves = flow.alpha_s == 0;
  flow.since = now;
  flow.due = after(now, flow.alpha_s);
  flow.expected = after(now, flow.alpha_s + flow.bytes / whole_rate());
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
  for (Flow& flow : flows_)
    if (flow.moves) flow.expected = flow.due;
  for (Flow& flow : ended) {
    NaiveStore& store = at(flow.store, flow.replica);
    flow.load ? store.end_read(flow.keys) : store.end_put(flow.keys);
    at(0, flow.replica).end_put(flow.promoted);
  }
  // Of flows of one load that end together the last one tells that it is over.
  for (auto each = ended.rbegin(); each != ended.rend(); ++each) {
    const auto of_it = [&](const Flow& other) { return other.load && other.id == each->id; };
    each->last = each->load && std::none_of(flows_.begin(), flows_.end(), of_it) &&
                 std::none_of(ended.rbegin(), each, of_it);
  }
  return ended;
}

std::vector<NaiveTiers::Flow> NaiveTiers::lose(std::size_t replica, Ps now) {
  std::vector<Flow> lost, left;
  for (Flow& flow : flows_) (flow.replica == replica ? lost : left).push_back(std::move(flow));
  flows_ = std::move(left);
  std::vector<int> seen;
  for (Flow& flow : lost) {
    NaiveStore& store = at(flow.store, replica);
    flow.load ? store.end_read(flow.keys) : store.cancel_put(flow.keys);
    at(0, replica).cancel_put(flow.promoted);
    flow.last = flow.load && std::find(seen.begin(), seen.end(), flow.id) == seen.end();
    seen.push_back(flow.id);
  }
  if (!lost.empty()) share(now);
  return lost;
}

void NaiveTiers::empty(std::size_t replica) {
  for (std::size_t s = 0; s < stores_.size(); ++s)
    if (!tiers_.stores[s].per_node) at(s, replica).empty();
}

/// All flows of one wire, which each replica has one of, have equal parts of it. A flow whose part
/// stays the same keeps its end.
void NaiveTiers::share(Ps now) {
  const double whole = whole_rate();
  for (Flow& flow : flows_) {
    if (!flow.moves) continue;
    int flows = 0;
    for (const Flow& other : flows_)
      flows += other.moves && other.replica == flow.replica &&
               (!tiers_.duplex || other.load == flow.load);
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
