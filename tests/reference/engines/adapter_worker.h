#pragma once
// Low-rank adapters of a random question: what a step with them costs, by a worker that looks at
// every step: in the order of its rows it touches what is there, and loads what is missing.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "tests/reference/cases/serving.h"

namespace rooflua::reference {

/// What adapters of a question cost, in whole picoseconds. Lists are by adapter, from 1.
struct AdapterCase {
  int count = 0, slots = 1, cpu_slots = 1;
  Ps each = 0, token = 0;  // per different adapter of a step, per token of a request with one
  std::vector<Ps> slot, fetch;
};

class AdapterWorker {
 public:
  AdapterWorker(const AdapterCase& adapters, const ServingCase& question)
      : adapters_(adapters), tariff_(question.tariff) {
    for (const Prompt& prompt : question.prompts) of_request_.push_back(prompt.plain.adapter);
  }

  Ps operator()(const Rows& rows) { return tariff_(rows) + of_adapters(rows); }

  /// What the step takes for its adapters. @param kept  those that no load pushes out
  Ps of_adapters(const Rows& rows, const std::set<int>& kept = {}) {
    kept_ = kept;
    Ps price = 0;
    std::set<int> needed;
    ++step_;
    for (const Row& row : rows) {
      const int adapter = of_request_[static_cast<std::size_t>(row.id)];
      if (adapter == 0) continue;
      price += adapters_.token * row.tokens;
      if (needed.insert(adapter).second) price += adapters_.each + load(adapter);
    }
    most = std::max(most, static_cast<int>(needed.size()));
    return price;
  }

  int loads = 0, most = 0;

 private:
  Ps load(int adapter) {
    Ps price = 0;
    const auto at = static_cast<std::size_t>(adapter - 1);
    used_[adapter] = step_;
    if (!on_host_.contains(adapter)) {
      price += adapters_.fetch[at];
      if (static_cast<int>(on_host_.size()) == adapters_.cpu_slots) slotted_.erase(evict(on_host_));
      on_host_.insert(adapter);
    }
    if (slotted_.contains(adapter)) return price;
    if (static_cast<int>(slotted_.size()) == adapters_.slots) evict(slotted_);
    slotted_.insert(adapter);
    ++loads;
    return price + adapters_.slot[at];
  }

  /// What was used in the earliest step; of several the one with the lowest number.
  int evict(std::set<int>& from) {
    const int gone = *std::min_element(from.begin(), from.end(), [this](int a, int b) {
      const bool keeps = kept_.contains(a);
      return keeps != kept_.contains(b) ? !keeps : used_[a] < used_[b];
    });
    from.erase(gone);
    return gone;
  }

  AdapterCase adapters_;
  Tariff tariff_;
  std::vector<int> of_request_;
  std::set<int> slotted_, on_host_, kept_;
  std::map<int, int> used_;
  int step_ = 0;
};

}  // namespace rooflua::reference
