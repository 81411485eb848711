#pragma once
// Requests that a gate holds: bands by priority, flows in a band, requests in a flow. Each
// operation costs O(log n) for n held requests.
//
// Service of a flow is counted per band, in tokens times their weights (QueueRules).

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "serve/contract/admission.h"

namespace rooflua {

class FairQueue {
 public:
  struct Held {
    std::int32_t slot = -1, priority = 0, key = -1, prompt_tokens = 0;
    Picoseconds since = 0, deadline = never;
  };
  /// Where a request's service is counted.
  struct Account {
    std::int32_t band = -1, flow = -1;
  };

  explicit FairQueue(const QueueRules& rules) : rules_(rules) {}

  const QueueRules& rules() const { return rules_; }
  /// Other limits of bands, weights and estimates, from now on.
  void change_limits(const QueueRules& rules) { rules_ = rules; }
  std::int32_t size() const { return size_; }
  std::int64_t tokens() const { return tokens_; }
  bool holds(std::int32_t slot) const {
    return slot < static_cast<std::int32_t>(places_.size()) && place(slot).account.band >= 0;
  }
  const Held& held(std::int32_t slot) const { return place(slot).held; }
  /// Whether the band of this priority takes another prompt of so many tokens.
  bool has_room(std::int32_t priority, std::int32_t prompt_tokens) const;
  void hold(const Held& request);
  /// It goes, or is gone.
  void remove(std::int32_t slot);
  /// Which one goes next; -1: none is held.
  std::int32_t first() const;
  /// The flows of the highest band in order of their ids, for a policy that chooses among them.
  void list_flows(std::vector<GateFlow>& out, Picoseconds now) const;
  void list_bands(std::vector<GateBand>& out) const;
  /// Slots of all held requests.
  std::vector<std::int32_t> slots() const;

  /// The account of requests of this priority and flow.
  Account account(std::int32_t priority, std::int32_t key);
  /// A request passes, held or not.
  void grant(Account account);
  /// Service of tokens of a prompt and of an output at `now`; below 0: it was too much.
  void serve(Account account, double prompt_tokens, double output_tokens, Picoseconds now);

 private:
  /// (deadline or 0, order of arrival at the gate)
  using Order = std::pair<Picoseconds, std::int64_t>;
  /// (service, order of its first request or its turn, flow)
  using Rank = std::tuple<double, Order, std::int32_t>;
  struct Flow {
    std::int32_t key = -1;
    std::map<Order, std::int32_t> held;  // slots
    Rank rank;                           // in Band::backlogged, where something is held
    double service = 0, prompt_tokens = 0, output_tokens = 0;
    std::int64_t held_tokens = 0, turn = 0;
    std::int32_t granted = 0;
  };
  struct Band {
    std::int32_t priority = 0;
    std::unordered_map<std::int32_t, std::int32_t> places;  // of flows, by key
    std::vector<Flow> flows;
    std::set<Rank> backlogged;
    std::int32_t emptied = -1;  // the flow whose last held request went last
    std::int32_t held = 0;
    std::int64_t held_tokens = 0;
  };
  struct Place {
    Held held;
    Account account;
    Order order;
  };

  const Place& place(std::int32_t slot) const { return places_[static_cast<std::size_t>(slot)]; }
  Flow& flow_of(Account account) {
    return bands_[static_cast<std::size_t>(account.band)]
        .flows[static_cast<std::size_t>(account.flow)];
  }
  const Band* highest() const;
  Rank rank_of(const Flow& flow, std::int32_t place) const;
  void rank(Band& band, std::int32_t flow);
  void lift(Band& band, Flow& flow);
  double inflated(double service, Picoseconds now);
  double deflated(double service, Picoseconds now) const;

  QueueRules rules_;
  std::map<std::int32_t, std::int32_t> band_of_;  // by priority
  std::vector<Band> bands_;
  std::vector<Place> places_;  // by slot
  std::int32_t size_ = 0;
  std::int64_t tokens_ = 0, serial_ = 0, turns_ = 0;
  std::int64_t base_ = 0;  // service is kept times 2^(halvings so far - base)
};

}  // namespace rooflua
