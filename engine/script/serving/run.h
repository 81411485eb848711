#pragma once
// A simulation that Lua holds, with everything that its bindings point to.

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/record/summary.h"
#include "script/serving/asking.h"
#include "script/serving/config.h"
#include "script/serving/router.h"
#include "script/serving/scheduler.h"
#include "script/serving/speculator.h"
#include "script/serving/step_model.h"
#include "script/serving/tiers.h"
#include "script/surroundings/surroundings.h"
#include "serve/loop/simulation.h"

namespace rooflua::script {

constexpr int instants_per_look = 1 << 16;  // of the clock, between two looks at the memory

/// A file that a listener writes while the run goes.
struct RunOutput {
  std::ofstream file;
  Observer* listener = nullptr;  // one of Run::listeners
  /// Writes what can only be written at the end. @throws Error if something could not be written
  std::function<void()> finish;
  bool finished = false;
};

struct Run {
  Asking asking;                                          // shared by all its policies
  std::vector<std::shared_ptr<LuaScheduler>> schedulers;  // by replica
  std::vector<std::shared_ptr<LuaStepModel>> steps;       // alike replicas share one
  std::unique_ptr<LuaRouter> router;
  Surroundings surroundings;
  std::vector<LuaSpeculation> speculations;  // by replica; empty: none speculates
  LuaTiers tiers;
  std::unique_ptr<Workload> workload;
  std::int64_t trace_requests = 0;         // of a workload that is a trace
  std::vector<std::string> classes;        // names of the requests' classes
  std::vector<std::string> replica_names;  // "" where it has no name of its own
  std::vector<std::unique_ptr<RunOutput>> outputs;
  std::vector<std::unique_ptr<Observer>> listeners;  // all that are told of the run, in this order
  SummaryObserver* summary = nullptr;                // one of them
  std::uint64_t seed = 0;                            // of the scenario
  Json partial;                                      // why it was stopped; null where it was not
  std::optional<double> noted_frac;                  // Summary::noted_frac, once it is known
  // Of all steps, if they were sampled: seconds that a GPU takes at its peak, and at the bandwidth
  // of its memory, on average over the GPUs.
  std::optional<double> work_s;
  double moving_s = 0;
  /// {left_out, notes} of the workload, where other processes read it to its end; else null.
  Json workload_told;
  std::unique_ptr<Simulation> simulation;
  bool broken = false;  // an error left the simulation in the middle of an instant

  /// The listener is told of the run from its start.
  template <class Listener>
  Listener* listen(std::unique_ptr<Listener> listener) {
    listeners.push_back(std::move(listener));
    return static_cast<Listener*>(listeners.back().get());
  }
  /// The listener of that kind; null if there is none.
  template <class Listener>
  Listener* find() const {
    for (const auto& each : listeners) {
      if (auto* found = dynamic_cast<Listener*>(each.get())) return found;
    }
    return nullptr;
  }

  /// Opens the listeners that are asked for. @throws Error if a file cannot be written
  void open_listeners(const ListenerOptions& asked, const ClusterConfig& cluster);
  /// The run was stopped: outputs are told of the requests that had not ended.
  void stop(const Json& why);
  /// Finishes and closes the outputs, those that are not finished yet.
  void finish_outputs();
  bool speculates() const;  // in one of its replicas at least
  /// The policies and listeners, for the simulation.
  Bindings bindings() const;
};
template <>
struct TypeName<Run> {
  static constexpr const char* value = "rooflua.Run";
  static constexpr const char* article = "a Run";
};

/// What the run amounts to so far, with the metrics of its scenario.
Summary summary_of(const Run& run);

/// Calls a native with the simulation in argument 1, which is busy until the native returns. What
/// the simulation around it shares with it (the border, the batch that is priced, the account of
/// the step) is set aside for that time. @throws Error if the argument is another thing, if the
/// simulation is busy, or if too many simulations run inside each other
int with_run(lua_State* L, const char* call, int (*native)(lua_State*, Run&));

/// The text of a template argument.
template <std::size_t size>
struct CallName {
  char text[size];
  constexpr CallName(const char (&given)[size]) { std::copy_n(given, size, text); }
};

template <CallName call, int (*native)(lua_State*, Run&)>
int with_this_run(lua_State* L) {
  static constexpr auto name = call;
  return with_run(L, name.text, native);
}

/// The Lua function of a native that takes a simulation. `call` is the method's name in messages.
template <CallName call, int (*native)(lua_State*, Run&)>
int on_run(lua_State* L) {
  return guarded<with_this_run<call, native>>(L);
}

/// Looking into a run, and its results (bind/results.cpp).
void bind_results(lua_State* L);
/// Looking back at a live run (bind/journal.cpp).
void bind_journal(lua_State* L);
/// One run on several cores (serving/divided.cpp).
void bind_divided(lua_State* L);

}  // namespace rooflua::script
