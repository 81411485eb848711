#include "serve/parts/gate/fair_queue.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace rooflua {

// --- bands and flows

FairQueue::Account FairQueue::account(std::int32_t priority, std::int32_t key) {
  const auto count = static_cast<std::int32_t>(bands_.size());
  const auto [found, is_new] = band_of_.emplace(priority, count);
  if (is_new) bands_.emplace_back().priority = priority;
  Band& band = bands_[static_cast<std::size_t>(found->second)];
  const auto flows = static_cast<std::int32_t>(band.flows.size());
  const auto [place, is_first] = band.places.emplace(key, flows);
  if (is_first) band.flows.emplace_back().key = key;
  return {found->second, place->second};
}

bool FairQueue::has_room(std::int32_t priority, std::int32_t prompt_tokens) const {
  const auto found = band_of_.find(priority);
  const Band* band =
      found == band_of_.end() ? nullptr : &bands_[static_cast<std::size_t>(found->second)];
  const std::int64_t held = band == nullptr ? 0 : band->held;
  const std::int64_t tokens = band == nullptr ? 0 : band->held_tokens;
  return (rules_.max_held == 0 || held < rules_.max_held) &&
         (rules_.max_held_tokens == 0 || tokens + prompt_tokens <= rules_.max_held_tokens);
}

const FairQueue::Band* FairQueue::highest() const {
  for (const auto& [priority, place] : band_of_) {
    const Band& band = bands_[static_cast<std::size_t>(place)];
    if (band.held > 0) return &band;
  }
  return nullptr;
}

FairQueue::Rank FairQueue::rank_of(const Flow& flow, std::int32_t place) const {
  const Order& first = flow.held.begin()->first;
  switch (rules_.fair) {
    case FairRule::global:
      return {0, first, place};
    case FairRule::round_robin:
      return {0, {0, flow.turn}, place};
    default:
      return {flow.service, first, place};
  }
}

/// Into the place that it has now. @pre it is in none
void FairQueue::rank(Band& band, std::int32_t place) {
  Flow& flow = band.flows[static_cast<std::size_t>(place)];
  if (flow.held.empty()) return;
  flow.rank = rank_of(flow, place);
  band.backlogged.insert(flow.rank);
}

/// A flow that had nothing to send has no claim to what it did not use.
void FairQueue::lift(Band& band, Flow& flow) {
  if (rules_.fair == FairRule::round_robin) flow.turn = ++turns_;
  if (rules_.fair != FairRule::vtc) return;
  if (!band.backlogged.empty()) {
    flow.service = std::max(flow.service, std::get<double>(*band.backlogged.begin()));
  } else if (band.emptied >= 0) {
    flow.service =
        std::max(flow.service, band.flows[static_cast<std::size_t>(band.emptied)].service);
  }
}

// --- requests

void FairQueue::hold(const Held& request) {
  ROOFLUA_ASSERT(!holds(request.slot));
  const Account account = this->account(request.priority, request.key);
  if (places_.size() <= static_cast<std::size_t>(request.slot))
    places_.resize(static_cast<std::size_t>(request.slot) + 1);
  const Order order{rules_.order == FlowOrder::edf ? request.deadline : 0, serial_++};
  places_[static_cast<std::size_t>(request.slot)] = {request, account, order};
  Band& band = bands_[static_cast<std::size_t>(account.band)];
  Flow& flow = flow_of(account);
  if (flow.held.empty())
    lift(band, flow);
  else
    band.backlogged.erase(flow.rank);
  flow.held.emplace(order, request.slot);
  rank(band, account.flow);
  flow.held_tokens += request.prompt_tokens;
  band.held_tokens += request.prompt_tokens;
  tokens_ += request.prompt_tokens;
  ++band.held;
  ++size_;
}

void FairQueue::remove(std::int32_t slot) {
  ROOFLUA_ASSERT(holds(slot));
  Place& place = places_[static_cast<std::size_t>(slot)];
  Band& band = bands_[static_cast<std::size_t>(place.account.band)];
  Flow& flow = flow_of(place.account);
  band.backlogged.erase(flow.rank);
  flow.held.erase(place.order);
  if (flow.held.empty()) band.emptied = place.account.flow;
  rank(band, place.account.flow);
  flow.held_tokens -= place.held.prompt_tokens;
  band.held_tokens -= place.held.prompt_tokens;
  tokens_ -= place.held.prompt_tokens;
  --band.held;
  --size_;
  place.account = {};
}

std::int32_t FairQueue::first() const {
  const Band* band = highest();
  if (band == nullptr) return -1;
  const std::int32_t flow = std::get<std::int32_t>(*band->backlogged.begin());
  return band->flows[static_cast<std::size_t>(flow)].held.begin()->second;
}

std::vector<std::int32_t> FairQueue::slots() const {
  std::vector<std::int32_t> out;
  for (std::int32_t slot = 0; slot < static_cast<std::int32_t>(places_.size()); ++slot)
    if (holds(slot)) out.push_back(slot);
  return out;
}

// --- service

void FairQueue::grant(Account account) {
  Band& band = bands_[static_cast<std::size_t>(account.band)];
  Flow& flow = flow_of(account);
  ++flow.granted;
  if (!flow.held.empty()) band.backlogged.erase(flow.rank);
  flow.turn = ++turns_;
  rank(band, account.flow);
}

void FairQueue::serve(Account account, double prompt_tokens, double output_tokens,
                      Picoseconds now) {
  const double added =
      inflated(rules_.prompt_weight * prompt_tokens + rules_.output_weight * output_tokens, now);
  Band& band = bands_[static_cast<std::size_t>(account.band)];
  Flow& flow = flow_of(account);
  flow.prompt_tokens += prompt_tokens;
  flow.output_tokens += output_tokens;
  if (!flow.held.empty()) band.backlogged.erase(flow.rank);
  flow.service += added;
  rank(band, account.flow);
}

namespace {

std::int64_t halvings(double half_life_s, Picoseconds now) {
  return half_life_s > 0 ? static_cast<std::int64_t>(seconds(now) / half_life_s) : 0;
}

}  // namespace

/// What counts as much as all other service does after it was halved. The order of flows does not
/// change when all of them are halved.
double FairQueue::inflated(double service, Picoseconds now) {
  constexpr std::int64_t most = 400;  // a double holds 2^1023
  const std::int64_t passed = halvings(rules_.half_life_s, now);
  if (passed - base_ > most) {
    const auto back = static_cast<int>(std::min<std::int64_t>(passed - base_, 4000));
    for (Band& band : bands_) {
      band.backlogged.clear();
      for (Flow& flow : band.flows) flow.service = std::ldexp(flow.service, -back);
      for (std::size_t i = 0; i < band.flows.size(); ++i) rank(band, static_cast<std::int32_t>(i));
    }
    base_ = passed;
  }
  return std::ldexp(service, static_cast<int>(passed - base_));
}

double FairQueue::deflated(double service, Picoseconds now) const {
  const std::int64_t passed = halvings(rules_.half_life_s, now) - base_;
  return std::ldexp(service, -static_cast<int>(std::min<std::int64_t>(passed, 4000)));
}

// --- what policies see

void FairQueue::list_flows(std::vector<GateFlow>& out, Picoseconds now) const {
  out.clear();
  const Band* band = highest();
  if (band == nullptr) return;
  for (const Rank& rank : band->backlogged) {
    const Flow& flow = band->flows[static_cast<std::size_t>(std::get<std::int32_t>(rank))];
    GateFlow& each = out.emplace_back();
    each.slot = flow.held.begin()->second;
    const Held& first = held(each.slot);
    each.id = flow.key;
    each.priority = band->priority;
    each.held = static_cast<std::int32_t>(flow.held.size());
    each.held_tokens = static_cast<double>(flow.held_tokens);
    each.oldest_s = seconds(first.since);
    each.deadline_s = first.deadline == never ? -1 : seconds(first.deadline);
    each.served_prompt_tokens = flow.prompt_tokens;
    each.served_output_tokens = flow.output_tokens;
    each.service = deflated(flow.service, now);
    each.granted = flow.granted;
  }
  std::sort(out.begin(), out.end(),
            [](const GateFlow& a, const GateFlow& b) { return a.id < b.id; });
}

void FairQueue::list_bands(std::vector<GateBand>& out) const {
  out.clear();
  for (const auto& [priority, place] : band_of_) {
    const Band& band = bands_[static_cast<std::size_t>(place)];
    if (band.held > 0) out.push_back({static_cast<double>(band.held_tokens), priority, band.held});
  }
}

}  // namespace rooflua
