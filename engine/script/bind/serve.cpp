// Live simulations for Lua: natives that scripts/lib/rooflua/serve.lua wraps.

#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "measure/record/journal.h"
#include "measure/record/quantile_watch.h"
#include "measure/write/progress.h"
#include "script/bind/trace_box.h"
#include "script/serving/config.h"
#include "script/serving/own_metrics.h"
#include "script/serving/plays.h"
#include "script/serving/run.h"
#include "script/surroundings/surroundings.h"
#include "script/vm/context.h"
#include "script/vm/interrupt.h"
#include "script/vm/memory_account.h"
#include "serve/inbox/inbox.h"

namespace rooflua::script {

namespace {

/// The list at `index`: one policy per replica, each as the engine's interface. Neighbours that are
/// one table in Lua are one here.
template <class Policy, class State>
std::vector<std::shared_ptr<Policy>> wrap_list(Asking& asking, int index, State& state) {
  lua_State* L = asking.L;
  std::vector<std::shared_ptr<Policy>> out;
  const void* before = nullptr;
  const int count = static_cast<int>(lua_objlen(L, index));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    const void* own = lua_topointer(L, -1);
    if (own == before) {
      lua_pop(L, 1);
      out.push_back(out.back());
      continue;
    }
    out.push_back(std::make_shared<Policy>(asking, state));
    before = own;
  }
  return out;
}

void read_policies(lua_State* L, int first, Run& run) {
  ServeState& state = serve_state(L);
  run.asking.L = L;
  run.schedulers = wrap_list<LuaScheduler>(run.asking, first, state.border);
  run.steps = wrap_list<LuaStepModel>(run.asking, first + 1, state);
  LuaStepModel::remember(run.steps);
  if (!lua_isnil(L, first + 2)) {
    lua_pushvalue(L, first + 2);
    run.router = std::make_unique<LuaRouter>(run.asking, state.border);
  }
}

/// The list at `index`: {speculator, acceptance, depth} or false of each replica; nil: none
/// speculates.
std::vector<LuaSpeculation> read_speculations(lua_State* L, int index, Run& run) {
  std::vector<LuaSpeculation> out;
  if (lua_isnil(L, index)) return out;
  const int count = static_cast<int>(lua_objlen(L, index));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    out.push_back(lua_toboolean(L, -1) != 0 ? read_speculation(run.asking, serve_state(L), run.seed)
                                            : LuaSpeculation{});
    lua_pop(L, 1);
  }
  return out;
}

/// Lets the scenario's metrics in argument `index` listen to the run; nil: it has none.
void listen_metrics(lua_State* L, int index, Run& run) {
  if (lua_isnil(L, index)) return;
  lua_pushvalue(L, index);
  run.listen(std::make_unique<LuaOwnMetrics>(run.asking));
}

/// serve_open(config, schedulers, steps, router?, workload, metrics?, speculations?,
/// {tier_policies, evictions, stores}?, surroundings?) -> run
int serve_open(lua_State* L) {
  lua_settop(L, 9);
  const Json given = to_json(L, 1, "scenario");
  auto run = std::make_shared<Run>();
  read_policies(L, 2, *run);
  ServingConfig config = serving_config(given);
  if (!config.cluster.replicas.empty())
    run->seed = static_cast<std::uint64_t>(config.cluster.replicas.front().seed);
  run->speculations = read_speculations(L, 7, *run);
  run->tiers = read_tiers(L, 8, run->asking, serve_state(L).border);
  run->surroundings = read_surroundings(L, 9, run->asking);
  SummaryOptions& options = config.summary;
  read_workload(L, 5, *run, options.classes);
  if (config.listeners.inbox) run->workload = std::make_unique<Inbox>(std::move(run->workload));
  settle_class_slo(options);
  run->classes = options.classes;
  run->replica_names = options.replicas;
  run->summary = run->listen(std::make_unique<SummaryObserver>(std::move(options)));
  run->open_listeners(config.listeners, config.cluster);
  listen_metrics(L, 6, *run);
  run->simulation = std::make_unique<Simulation>(config.cluster, run->bindings());
  push_object<Run>(L, run);
  // close() gives the memory of the run back: the collector need not look for it.
  if (!config.closes) account_growth(L);
  return 1;
}

void clear_progress(const Run& run) {
  if (auto* bar = run.find<ProgressBar>()) bar->clear();
}

/// Lets the simulation go on. A simulation that an error left in the middle of an instant cannot go
/// on. One that Ctrl-C stopped between two instants can.
template <class Go>
void go_on(Run& run, Go go) {
  if (run.broken) {
    throw Error("",
                "this simulation was left in the middle of a step by an error; go on with a "
                "fork made before, or open it again");
  }
  const StopGently gently;
  try {
    go(*run.simulation);
  } catch (const std::exception&) {
    run.broken = true;
    throw;
  }
  if (stop_requested() != 0) throw Error("", stop_message());
}

constexpr int instants_per_watch = 1 << 8;  // between two looks at the limits of quantiles

int serve_advance(lua_State* L, Run& run) {
  go_on(run, [L](Simulation& simulation) {
    while (!simulation.run(&stop_requested(), instants_per_look)) check_memory(L);
  });
  clear_progress(run);
  return 0;
}

int serve_advance_until(lua_State* L, Run& run) {
  const double until_s = check_number(L, 2, "run_until");
  if (!(until_s >= 0 && std::isfinite(until_s)))
    throw Error("run_until", "expected a time >= 0 in seconds");
  picoseconds(until_s, "run_until");  // a time that the clock cannot have breaks nothing
  go_on(run, [=](Simulation& simulation) {
    while (!simulation.run_until(until_s, &stop_requested(), instants_per_look)) check_memory(L);
  });
  clear_progress(run);
  return 0;
}

/// serve_run_or_stop(run): runs to the end, and returns nothing; or until Ctrl-C, the time limit or
/// a limit that it can no longer hold ("limits"), and returns {stopped_by, message, clock_s,
/// finished, sent}. The files then hold the requests that had not ended.
int serve_run_or_stop(lua_State* L, Run& run) {
  std::string message;
  const auto* watch = run.find<QuantileWatch>();
  const auto missed = [watch] { return watch != nullptr && watch->missed(); };
  const int instants = watch != nullptr ? instants_per_watch : instants_per_look;
  const StopGently gently;
  try {
    while (!run.simulation->run(&stop_requested(), instants) && !missed()) check_memory(L);
  } catch (const Error& error) {
    if (stop_requested() == 0) throw;
    message = error.what();
  }
  clear_progress(run);
  const StopReason reason = absorb_stop();
  if (reason == StopReason::none && !missed()) return 0;
  const Totals& totals = run.simulation->totals();
  Json out = Json::object();
  out["stopped_by"] = reason == StopReason::none      ? "limits"
                      : reason == StopReason::timeout ? "timeout"
                                                      : "interrupt";
  out["clock_s"] = run.simulation->now_s();
  out["finished"] = std::accumulate(totals.ended.begin(), totals.ended.end(), std::int64_t{0});
  out["sent"] = totals.arrived;
  if (!message.empty()) out["message"] = message;
  run.stop(out);
  return push_json(L, out, false);
}

int serve_step(lua_State* L, Run& run) {
  bool more = false;
  go_on(run, [&](Simulation& simulation) { more = simulation.step(); });
  lua_pushboolean(L, more);
  return 1;
}

/// serve_is_over(run): whether nothing is left to happen.
int serve_is_over(lua_State* L, Run& run) {
  bool over = false;
  go_on(run, [&](Simulation& simulation) {
    over = simulation.next_time() == never && simulation.requests().alive() == 0;
  });
  lua_pushboolean(L, over);
  return 1;
}

/// serve_abort(run, id, outcome): ends a request before its last token. False: it is not alive.
int serve_abort(lua_State* L, Run& run) {
  const double id = check_number(L, 2, "abort: request");
  const std::string_view word = luaL_checkstring(L, 3);
  const std::optional<Outcome> outcome = value_named(outcome_words, word);
  if (!outcome || !ends_early(*outcome)) {
    std::vector<std::string> known;
    for (const Word<Outcome>& each : outcome_words) {
      if (ends_early(each.value)) known.emplace_back(each.name);
    }
    throw Error("abort", unknown_name("outcome", word, known));
  }
  bool was_live = false;
  go_on(run, [&](Simulation& simulation) {
    was_live = id >= 0 && id < 2147483647.0 &&
               simulation.abort_by_id(static_cast<std::int32_t>(id), *outcome);
  });
  lua_pushboolean(L, was_live);
  return 1;
}

/// Also of a busy simulation.
int serve_now(lua_State* L) {
  lua_pushnumber(L, check_object<Run>(L, 1, "simulation")->simulation->now_s());
  return 1;
}

int serve_finish(lua_State*, Run& run) {
  run.finish_outputs();
  return 0;
}

/// What serve_set() is given, as the engine's interfaces; empty where nothing changes.
struct Changes {
  std::vector<std::shared_ptr<LuaScheduler>> schedulers;
  std::vector<std::shared_ptr<LuaStepModel>> steps;
  std::unique_ptr<LuaRouter> router;
  std::vector<LuaSpeculation> speculations;
  LuaTiers tiers;
  Surroundings surroundings;
};

/// From arguments 2 to 7. Nothing of the run has changed yet when one of them is an error.
Changes read_changes(lua_State* L, Run& run) {
  ServeState& state = serve_state(L);
  const auto count = static_cast<std::size_t>(run.simulation->replica_count());
  const auto one_each = [&](int index, std::size_t found, const char* what) {
    if (!lua_isnil(L, index) && found != count)
      throw Error("set", std::string("expected one ") + what + " per replica");
  };
  Changes out;
  if (!lua_isnil(L, 2)) out.schedulers = wrap_list<LuaScheduler>(run.asking, 2, state.border);
  one_each(2, out.schedulers.size(), "scheduler");
  if (!lua_isnil(L, 3)) {
    out.steps = wrap_list<LuaStepModel>(run.asking, 3, state);
    LuaStepModel::remember(out.steps);
  }
  one_each(3, out.steps.size(), "step model");
  if (!lua_isnil(L, 4)) {
    lua_pushvalue(L, 4);
    out.router = std::make_unique<LuaRouter>(run.asking, state.border);
  }
  out.speculations = read_speculations(L, 5, run);
  one_each(5, out.speculations.size(), "speculator");
  out.tiers = read_tiers(L, 6, run.asking, state.border);
  one_each(6, out.tiers.policies.size(), "policy of tiers");
  out.surroundings = read_surroundings(L, 7, run.asking);
  for (std::size_t i = 0; i < out.speculations.size(); ++i) {
    const bool speculates =
        i < run.speculations.size() && run.speculations[i].speculator != nullptr;
    if (speculates != (out.speculations[i].speculator != nullptr)) {
      throw Error("set", "replica " + std::to_string(i + 1) +
                             (speculates ? " speculates and gets no speculator"
                                         : " does not speculate and gets a speculator"));
    }
  }
  return out;
}

/// serve_set(run, schedulers?, steps?, router?, speculations?, tiers?, surroundings?): from now on
int serve_set(lua_State* L, Run& run) {
  lua_settop(L, 7);
  Changes given = read_changes(L, run);
  Simulation& simulation = *run.simulation;
  // The simulation never points to a policy that is gone: each takes the place of the one before.
  // A key that is an error leaves the first replica as it was, and the others in between.
  const bool was_broken = std::exchange(run.broken, false);
  for (std::size_t i = 0; i < given.schedulers.size(); ++i) {
    simulation.set_scheduler(static_cast<std::int32_t>(i), *given.schedulers[i]);
    run.schedulers[i].swap(given.schedulers[i]);
    run.broken = true;
  }
  if (given.router != nullptr) {
    simulation.set_router(*given.router);
    run.router.swap(given.router);
  }
  for (std::size_t i = 0; i < given.steps.size(); ++i) {
    simulation.set_steps(static_cast<std::int32_t>(i), *given.steps[i]);
    run.steps[i].swap(given.steps[i]);
  }
  for (std::size_t i = 0; i < given.speculations.size(); ++i) {
    LuaSpeculation& each = given.speculations[i];
    if (each.speculator == nullptr) continue;
    simulation.set_speculation(static_cast<std::int32_t>(i), *each.speculator, *each.acceptance);
    std::swap(run.speculations[i], each);
  }
  if (given.tiers.policies.size() > 0) std::swap(run.tiers, given.tiers);
  run.surroundings.replace(given.surroundings);
  simulation.set_parts(run.bindings());
  run.broken = was_broken;
  return 0;
}

/// serve_fork(run, schedulers, steps, router?, metrics?, speculations?, tiers?, surroundings?) -> a
/// run
int serve_fork(lua_State* L, Run& run) {
  lua_settop(L, 8);
  auto fork = std::make_shared<Run>();
  read_policies(L, 2, *fork);
  fork->seed = run.seed;
  fork->speculations = read_speculations(L, 6, *fork);
  fork->tiers = read_tiers(L, 7, fork->asking, serve_state(L).border);
  fork->surroundings = read_surroundings(L, 8, fork->asking);
  fork->workload = run.workload->fork();
  if (auto* workload = dynamic_cast<OfSimulation*>(fork->workload.get()))
    workload->belong_to(fork->asking);
  if (fork->workload == nullptr)
    throw Error("fork", "what comes to an emulated server cannot be copied");
  fork->summary = fork->listen(std::make_unique<SummaryObserver>(*run.summary));
  if (const Journal* journal = run.find<Journal>())
    fork->listen(std::make_unique<Journal>(*journal));
  listen_metrics(L, 5, *fork);
  fork->classes = run.classes;
  fork->broken = run.broken;
  fork->simulation = run.simulation->fork(fork->bindings());
  push_object<Run>(L, fork);
  account_growth(L);
  return 1;
}

int serve_is_broken(lua_State* L, Run& run) {
  lua_pushboolean(L, run.broken);
  return 1;
}

/// Frees the simulation; the object stays, closed.
int serve_close(lua_State* L, Run&) {
  return collect_box<Run>(L);
}

int table(lua_State* L) {
  static const char key = 0;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  lua_rawget(L, LUA_REGISTRYINDEX);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    ServeState& state = serve_state(L);
    lua_pushlightuserdata(L, const_cast<char*>(&key));
    new (lua_newuserdata(L, sizeof(ServeTable))) ServeTable(serve_table(state));
    lua_rawset(L, LUA_REGISTRYINDEX);
    lua_pushlightuserdata(L, const_cast<char*>(&key));
    lua_rawget(L, LUA_REGISTRYINDEX);
  }
  lua_pushlightuserdata(L, lua_touserdata(L, -1));
  return 1;
}

}  // namespace

void bind_serve(lua_State* L) {
  bind_results(L);
  bind_journal(L);
  bind_divided(L);
  bind_traces(L);
  bind_pools(L);
  set_function(L, "serve_table", guarded<table>);
  set_function(L, "serve_open", guarded<serve_open>);
  set_function(L, "serve_advance", on_run<"run", serve_advance>);
  set_function(L, "serve_advance_until", on_run<"run_until", serve_advance_until>);
  set_function(L, "serve_run_or_stop", on_run<"run", serve_run_or_stop>);
  set_function(L, "serve_step", on_run<"step", serve_step>);
  set_function(L, "serve_is_over", on_run<"step", serve_is_over>);
  set_function(L, "serve_abort", on_run<"abort", serve_abort>);
  set_function(L, "serve_now", guarded<serve_now>);
  set_function(L, "serve_finish", on_run<"result", serve_finish>);
  set_function(L, "serve_set", on_run<"set", serve_set>);
  set_function(L, "serve_fork", on_run<"fork", serve_fork>);
  set_function(L, "serve_is_broken", on_run<"fork", serve_is_broken>);
  set_function(L, "serve_close", on_run<"close", serve_close>);
}

}  // namespace rooflua::script
