#include "tests/reference/naive/gate.h"

#include <algorithm>
#include <limits>
#include <set>

namespace rooflua::reference {

const NaiveGate::Held* NaiveGate::find(int id) const {
  for (const Held& each : held_)
    if (each.id == id) return &each;
  return nullptr;
}

bool NaiveGate::has_room(int priority, int prompt) const {
  std::int64_t count = 0, tokens = 0;
  for (const Held& each : held_) {
    if (each.priority != priority) continue;
    ++count;
    tokens += each.prompt;
  }
  if (rules_.max_held > 0 && count >= rules_.max_held) return false;
  return rules_.max_held_tokens == 0 || tokens + prompt <= rules_.max_held_tokens;
}

bool NaiveGate::is_before(const Held& a, const Held& b) const {
  if (rules_.order == FlowOrder::edf && a.deadline != b.deadline) {
    if (a.deadline == unset || b.deadline == unset) return b.deadline == unset;
    return a.deadline < b.deadline;
  }
  return a.serial < b.serial;
}

const NaiveGate::Held* NaiveGate::head(const Key& key) const {
  const Held* best = nullptr;
  for (const Held& each : held_) {
    if (Key{each.priority, each.key} != key) continue;
    if (best == nullptr || is_before(each, *best)) best = &each;
  }
  return best;
}

void NaiveGate::hold(Held held) {
  const Key key{held.priority, held.key};
  held.serial = serial_++;
  Flow& flow = flows_[key];
  if (head(key) == nullptr) {
    flow.turn = rules_.fair == FairRule::round_robin ? ++turns_ : flow.turn;
    double least = std::numeric_limits<double>::infinity();
    for (const Held& each : held_)
      if (each.priority == held.priority)
        least = std::min(least, flows_[{each.priority, each.key}].service);
    const auto last = emptied_.find(held.priority);
    if (least == std::numeric_limits<double>::infinity())
      least = last == emptied_.end() ? 0 : flows_[last->second].service;
    if (rules_.fair == FairRule::vtc) flow.service = std::max(flow.service, least);
  }
  held_.push_back(held);
}

NaiveGate::Held NaiveGate::remove(int id) {
  const auto place =
      std::find_if(held_.begin(), held_.end(), [id](const Held& each) { return each.id == id; });
  const Held out = *place;
  held_.erase(place);
  const Key key{out.priority, out.key};
  if (head(key) == nullptr) emptied_[out.priority] = key;
  return out;
}

/// The first request of each flow of the highest band.
std::vector<const NaiveGate::Held*> NaiveGate::of_highest() const {
  std::vector<const Held*> out;
  if (held_.empty()) return out;
  int highest = std::numeric_limits<int>::max();
  for (const Held& each : held_) highest = std::min(highest, each.priority);
  std::set<Key> keys;
  for (const Held& each : held_)
    if (each.priority == highest) keys.insert({each.priority, each.key});
  for (const Key& key : keys) out.push_back(head(key));
  return out;
}

int NaiveGate::first() const {
  const Held* best = nullptr;
  for (const Held* each : of_highest()) {
    if (best == nullptr) {
      best = each;
      continue;
    }
    const Flow& a = flows_.at({each->priority, each->key});
    const Flow& b = flows_.at({best->priority, best->key});
    bool before = is_before(*each, *best);
    if (rules_.fair == FairRule::round_robin) before = a.turn < b.turn;
    const bool by_service = rules_.fair == FairRule::vtc || rules_.fair == FairRule::las;
    if (by_service && a.service != b.service) before = a.service < b.service;
    if (before) best = each;
  }
  return best == nullptr ? -1 : best->id;
}

std::vector<GateFlow> NaiveGate::flows() const {
  std::vector<GateFlow> out;
  for (const Held* first : of_highest()) {
    const Flow& flow = flows_.at({first->priority, first->key});
    GateFlow each;
    for (const Held& held : held_) {
      if (held.priority != first->priority || held.key != first->key) continue;
      ++each.held;
      each.held_tokens += held.prompt;
    }
    each.id = first->key;
    each.priority = first->priority;
    each.oldest_s = seconds(first->since);
    each.deadline_s = first->deadline == unset ? -1 : seconds(first->deadline);
    each.served_prompt_tokens = flow.prompt_tokens;
    each.served_output_tokens = flow.output_tokens;
    each.service = flow.service;
    each.granted = flow.granted;
    each.slot = first->id;
    out.push_back(each);
  }
  return out;
}

std::vector<GateBand> NaiveGate::bands() const {
  std::map<int, GateBand> bands;
  for (const Held& each : held_) {
    GateBand& band = bands[each.priority];
    band.priority = each.priority;
    ++band.held;
    band.held_tokens += each.prompt;
  }
  std::vector<GateBand> out;
  for (const auto& [priority, band] : bands) out.push_back(band);
  return out;
}

void NaiveGate::serve(const Key& key, double prompt, double output) {
  Flow& flow = flows_[key];
  flow.prompt_tokens += prompt;
  flow.output_tokens += output;
  flow.service += rules_.prompt_weight * prompt + rules_.output_weight * output;
}

void NaiveGate::pass(int id, int priority, int key, int prompt, double estimate) {
  const Key flow{priority, key};
  passed_[id] = {flow, prompt};
  ++flows_[flow].granted;
  flows_[flow].turn = ++turns_;
  counted_[id] = 0;
  if (rules_.count == ServiceCount::end) return;
  if (rules_.count == ServiceCount::estimate) counted_[id] = estimate;
  serve(flow, prompt, counted_[id]);
}

void NaiveGate::count(int id, int output) {
  serve(passed_.at(id).first, 0, output - counted_[id]);
  counted_[id] = output;
}

void NaiveGate::end(int id, int output) {
  const auto found = passed_.find(id);
  if (found == passed_.end()) return;
  if (rules_.count == ServiceCount::end) serve(found->second.first, found->second.second, 0);
  count(id, output);
  passed_.erase(id);
}

}  // namespace rooflua::reference
