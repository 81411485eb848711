#pragma once
// The queue of a gate without any order kept: every question looks at every held request.

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/reference/cases/gate.h"

namespace rooflua::reference {

class NaiveGate {
 public:
  struct Held {
    int id = -1, priority = 0, key = -1, prompt = 0;
    Ps since = 0, deadline = unset;
    std::int64_t serial = 0;
  };
  struct Flow {
    double service = 0, prompt_tokens = 0, output_tokens = 0;
    int granted = 0;
    std::int64_t turn = 0;
  };
  using Key = std::pair<int, int>;  // priority, flow

  explicit NaiveGate(const QueueRules& rules) : rules_(rules) {}

  const std::vector<Held>& held() const { return held_; }
  const Held* find(int id) const;
  bool has_room(int priority, int prompt) const;
  void hold(Held held);
  Held remove(int id);
  /// The request that goes first by the rules; -1: none.
  int first() const;
  std::vector<GateFlow> flows() const;
  std::vector<GateBand> bands() const;

  void pass(int id, int priority, int key, int prompt, double estimate);
  void count(int id, int output);
  void end(int id, int output);
  int in_flight() const { return static_cast<int>(passed_.size()); }
  const std::map<int, std::pair<Key, int>>& passed() const { return passed_; }

 private:
  std::vector<const Held*> of_highest() const;
  const Held* head(const Key& key) const;
  bool is_before(const Held& a, const Held& b) const;
  void serve(const Key& key, double prompt, double output);

  QueueRules rules_;
  std::vector<Held> held_;
  std::map<Key, Flow> flows_;
  std::map<int, Key> emptied_;                 // by priority: the flow that was emptied last
  std::map<int, std::pair<Key, int>> passed_;  // by id: flow, prompt
  std::map<int, double> counted_;              // by id: output
  std::int64_t turns_ = 0, serial_ = 0;
};

}  // namespace rooflua::reference
