#pragma once
// Adapters at one replica: those in slots of the GPU and those in the memory of its host. Both are
// caches that lose what was used least recently; what requests use is never lost.
//
// Invariants: the adapters of seated requests are in slots and at most as many as there are slots;
// what is in a slot is in the memory of the host as well.
// @source vLLM vllm/lora/worker_manager.py, LRUCacheWorkerLoRAManager; v1/core/sched/scheduler.py

#include <cstdint>
#include <utility>
#include <vector>

#include "serve/adapters/config.h"
#include "serve/contract/clock.h"

namespace rooflua {

class AdapterSlots {
 public:
  explicit AdapterSlots(const AdapterSlotsConfig& config);

  /// Why a request with this adapter (0: none) cannot be seated now.
  enum class Answer : std::int32_t { yes, no_slot, loading };
  /// Where adapters are loaded before admission, the load begins.
  Answer ask(std::int32_t adapter, Picoseconds now);
  /// When it is there. @pre ask() said that it is loading
  Picoseconds ready(std::int32_t adapter) const { return of(adapter).ready; }

  /// A request takes its seat. @pre ask() says yes
  void seat(std::int32_t adapter, Picoseconds now);
  /// It needs its adapter no longer.
  void unseat(std::int32_t adapter);
  /// Whether it is in a slot, or on its way into one.
  bool holds(std::int32_t adapter) const { return adapter > 0 && of(adapter).slotted; }
  /// Everything is lost. @pre no request is seated
  void lose();

  /// Copies into slots since the last call, and what they take.
  struct Loads {
    std::int32_t count = 0;
    double time_s = 0;
  };
  const Loads& loads() const { return loads_; }
  Loads take_loads() { return std::exchange(loads_, Loads{}); }
  /// Counts the different adapters of a step, after start_count(). @returns 1 for one that was not
  /// seen
  void start_count() { ++steps_; }
  std::int32_t count(std::int32_t adapter) {
    of(adapter).used = steps_;
    return std::exchange(of(adapter).counted, steps_) == steps_ ? 0 : 1;
  }

 private:
  struct Adapter {
    std::int32_t users = 0;
    bool slotted = false, on_host = false;
    Picoseconds ready = 0;               // of the load into its slot
    std::int64_t used = 0, counted = 0;  // the last step with it, or for which it was loaded
  };
  Adapter& of(std::int32_t adapter) { return all_[static_cast<std::size_t>(adapter - 1)]; }
  const Adapter& of(std::int32_t adapter) const {
    return all_[static_cast<std::size_t>(adapter - 1)];
  }
  double copy(std::int32_t adapter, Picoseconds now);
  template <class In>
  Adapter& oldest(In in, Picoseconds now);
  bool is_kept(const Adapter& each, Picoseconds now) const {
    return each.users > 0 || each.ready > now;
  }

  AdapterSlotsConfig config_;
  std::vector<Adapter> all_;
  std::int32_t slotted_ = 0, on_host_ = 0, in_use_ = 0;
  std::int64_t steps_ = 0;
  Picoseconds link_free_ = 0;  // loads before admission follow each other
  Loads loads_;
};

}  // namespace rooflua
