// Live simulations for Lua: natives that scripts/lib/rooflua/serve.lua wraps.

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "script/bind/trace_box.h"
#include "script/serving/config.h"
#include "script/serving/run.h"
#include "script/vm/context.h"
#include "script/vm/interrupt.h"

namespace rooflua::script {

namespace {

/// The list at `index`: one instance of each replica, wrapped.
template <class Policy, class State>
std::vector<std::unique_ptr<Policy>> wrap_list(lua_State* L, int index, State& state) {
  std::vector<std::unique_ptr<Policy>> out;
  const int count = static_cast<int>(lua_objlen(L, index));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    out.push_back(std::make_unique<Policy>(L, state));
  }
  return out;
}

Bindings bindings_of(Run& run) {
  Bindings bindings;
  for (const auto& each : run.schedulers) bindings.schedulers.push_back(each.get());
  for (const auto& each : run.steps) {
    each->tell_bounds(run.timeline != nullptr);
    bindings.steps.push_back(each.get());
  }
  if (run.why != nullptr) {
    run.followed.clear();
    for (std::size_t i = 0; i < bindings.steps.size(); ++i) {
      LuaStepModel* model = run.steps[i].get();
      run.followed.push_back(std::make_unique<FollowedSteps>(
          *bindings.steps[i], *run.why,
          [model](const Batch& batch, StepPrice& price, std::vector<OpTime>& ops) {
            model->explain(batch, price, ops);
          }));
      bindings.steps[i] = run.followed.back().get();
    }
  }
  if (run.recording != nullptr) {
    run.recording->steps.clear();
    for (StepModel*& model : bindings.steps) {
      run.recording->steps.push_back(
          std::make_unique<RecordedSteps>(*model, run.recording->record));
      model = run.recording->steps.back().get();
    }
  }
  if (run.journal != nullptr) {
    run.journalled.clear();
    for (StepModel*& model : bindings.steps) {
      run.journalled.push_back(std::make_unique<JournalledSteps>(*model, *run.journal));
      model = run.journalled.back().get();
    }
  }
  if (run.sketch != nullptr) {
    run.sampled.clear();
    for (StepModel*& model : bindings.steps) {
      run.sampled.push_back(std::make_unique<SampledSteps>(*model, run.sketch->sample()));
      model = run.sampled.back().get();
    }
  }
  bindings.router = run.router.get();
  bindings.workload = run.workload.get();
  bindings.observers.push_back(run.summary.get());
  for (Observer* each : std::initializer_list<Observer*>{
           run.requests.get(), run.timeline.get(), run.vllm_bench.get(), run.progress.get(),
           run.why.get(), run.journal.get(), run.sketch.get(), run.kept.get(),
           run.own_metrics.get()}) {
    if (each != nullptr) bindings.observers.push_back(each);
  }
  return bindings;
}

void read_policies(lua_State* L, int first, Run& run) {
  ServeState& state = serve_state(L);
  run.schedulers = wrap_list<LuaScheduler>(L, first, state.border);
  run.steps = wrap_list<LuaStepModel>(L, first + 1, state);
  if (!lua_isnil(L, first + 2)) {
    lua_pushvalue(L, first + 2);
    run.router = std::make_unique<LuaRouter>(L, state.border);
  }
}

void open_outputs(const Json& given, const std::vector<std::string>& classes, Run& run) {
  const auto open = [&](const char* key) -> std::unique_ptr<std::ofstream> {
    const Json* path = given.find(key);
    if (path == nullptr || !path->is_text()) return nullptr;
    auto file = std::make_unique<std::ofstream>(path->text(), std::ios::binary);
    if (!*file) throw Error(path->text(), "cannot be written");
    return file;
  };
  run.classes = classes;
  const Json* requests_path = given.find("requests_path");
  run.requests_file = open("requests_path");
  if (run.requests_file != nullptr && requests_path->text().ends_with(".json")) {
    run.vllm_bench = std::make_unique<VllmBench>();
    run.vllm_traffic = traffic_of(given);
  } else if (run.requests_file != nullptr) {
    run.requests =
        std::make_unique<RequestsCsv>(*run.requests_file, requests_path->text(), classes);
  }
  if ((run.trace_file = open("trace_path"))) {
    TimelineOptions options;
    options.classes = classes;
    run.timeline =
        std::make_unique<Timeline>(*run.trace_file, given.find("trace_path")->text(), options);
  }
  if (const Json* record = given.find("record"); record != nullptr && record->boolean()) {
    run.recording = std::make_unique<Recording>();
  }
  if (const Json* why = given.find("why"); why != nullptr && why->is_number()) {
    run.why = std::make_unique<WhyObserver>(static_cast<std::int32_t>(why->integer()));
  }
  if (const Json* journal = given.find("journal"); journal != nullptr && journal->boolean()) {
    run.journal = std::make_unique<Journal>();
  }
  if (const Json* sketch = given.find("sketch"); sketch != nullptr && sketch->boolean()) {
    run.sketch = std::make_unique<Sketch>();
  }
  if (const Json* keep = given.find("keep_requests"); keep != nullptr && keep->boolean()) {
    run.kept = std::make_unique<KeptRequests>();
  }
  if (const Json* title = given.find("progress"); title != nullptr && title->is_text()) {
    run.progress = std::make_unique<ProgressBar>(title->text(), 0);
  }
}

/// The observer of the scenario's metrics in argument `index`; null where it is nil.
std::unique_ptr<LuaOwnMetrics> own_metrics(lua_State* L, int index) {
  if (lua_isnil(L, index)) return nullptr;
  lua_pushvalue(L, index);
  return std::make_unique<LuaOwnMetrics>(L);
}

/// serve_open(config, schedulers, steps, router or nil, workload, metrics or nil) -> run
int serve_open(lua_State* L) {
  lua_settop(L, 6);
  const Json given = to_json(L, 1, "scenario");
  auto run = std::make_shared<Run>();
  read_policies(L, 2, *run);
  SummaryOptions options;
  options.slo = slo_of(given);
  options.classes = class_names(given);
  if (is_object<TraceBox>(L, 5)) {
    const auto& box = check_object<TraceBox>(L, 5, "workload");
    run->workload = trace_workload(*box);
    if (options.classes.empty()) options.classes = box->trace->classes;
  } else {
    lua_pushvalue(L, 5);
    run->workload = std::make_unique<LuaWorkload>(L);
  }
  if (const Json* kept = given.find("exact_requests"); kept != nullptr && kept->is_number()) {
    options.exact_requests = kept->integer();
  }
  const std::vector<std::string> classes = options.classes;
  run->summary = std::make_unique<SummaryObserver>(std::move(options));
  open_outputs(given, classes, *run);
  run->own_metrics = own_metrics(L, 6);
  run->simulation = std::make_unique<Simulation>(cluster_config(given), bindings_of(*run));
  push_object<Run>(L, run);
  return 1;
}

/// Lets the simulation go on. What an error leaves in the middle of an instant cannot; what Ctrl-C
/// stops between two instants can.
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

int serve_advance(lua_State* L) {
  Run& run = check_run(L);
  const double until_s = lua_isnoneornil(L, 2) ? -1 : check_number(L, 2, "until");
  if (lua_isnoneornil(L, 2)) {
    go_on(run, [](Simulation& simulation) { simulation.run(&stop_requested()); });
  } else if (until_s >= 0 && std::isfinite(until_s)) {
    go_on(run, [=](Simulation& simulation) { simulation.run_until(until_s, &stop_requested()); });
  } else {
    throw Error("run_until", "expected a time >= 0 in seconds");
  }
  if (run.progress) run.progress->clear();
  return 0;
}

/// serve_run_or_stop(run): to its end, or to where Ctrl-C or the time limit stops it: nothing, or
/// {stopped_by, message, clock_s, finished, sent}, and the files were told who was left.
int serve_run_or_stop(lua_State* L) {
  Run& run = check_run(L);
  std::string message;
  const StopGently gently;
  try {
    while (stop_requested().load(std::memory_order_relaxed) == 0 && run.simulation->advance()) {
    }
  } catch (const Error& error) {
    if (stop_requested() == 0) throw;
    message = error.what();
  }
  if (run.progress) run.progress->clear();
  const StopReason reason = absorb_stop();
  if (reason == StopReason::none) return 0;
  for (const RequestDone& each : run.simulation->unfinished()) {
    for (Observer* observer : std::initializer_list<Observer*>{
             run.requests.get(), run.vllm_bench.get(), run.timeline.get()}) {
      if (observer != nullptr) observer->on_done(each);
    }
  }
  const Totals& totals = run.simulation->totals();
  Json out = Json::object();
  out["stopped_by"] = reason == StopReason::timeout ? "timeout" : "interrupt";
  out["clock_s"] = run.simulation->now_s();
  out["finished"] = std::accumulate(totals.ended.begin(), totals.ended.end(), std::int64_t{0});
  out["sent"] = totals.arrived;
  if (!message.empty()) out["message"] = message;
  if (run.timeline) run.timeline->partial(out);
  run.partial = out;
  push_json(L, out, false);
  return 1;
}

int serve_step(lua_State* L) {
  bool more = false;
  go_on(check_run(L), [&](Simulation& simulation) { more = simulation.step(); });
  lua_pushboolean(L, more);
  return 1;
}

int serve_now(lua_State* L) {
  lua_pushnumber(L, check_run(L).simulation->now_s());
  return 1;
}

int serve_finish(lua_State* L) {
  Run& run = check_run(L);
  if (run.requests) run.requests->finish();
  if (run.vllm_bench && run.requests_file) {
    Json document = run.vllm_bench->result(run.summary->summary(), run.vllm_traffic);
    if (!run.partial.is_null()) document["partial"] = run.partial;
    *run.requests_file << dump_json(document) << "\n";
    if (!*run.requests_file) throw Error("--requests", "could not be written");
  }
  if (run.timeline) run.timeline->finish();
  run.requests.reset();
  run.timeline.reset();
  run.requests_file.reset();
  run.trace_file.reset();
  return 0;
}

/// serve_set(run, schedulers or nil, steps or nil, router or nil): from the next plan on.
int serve_set(lua_State* L) {
  lua_settop(L, 4);
  Run& run = check_run(L);
  ServeState& state = serve_state(L);
  const auto count = static_cast<std::size_t>(run.simulation->replica_count());
  if (!lua_isnil(L, 2)) {
    auto fresh = wrap_list<LuaScheduler>(L, 2, state.border);
    if (fresh.size() != count) throw Error("set", "expected one scheduler per replica");
    for (std::size_t i = 0; i < count; ++i)
      run.simulation->set_scheduler(static_cast<std::int32_t>(i), *fresh[i]);
    run.schedulers = std::move(fresh);
  }
  if (!lua_isnil(L, 3)) {
    auto fresh = wrap_list<LuaStepModel>(L, 3, state);
    if (fresh.size() != count) throw Error("set", "expected one step model per replica");
    run.steps.swap(fresh);  // the old ones live until the simulation has the new ones
    const auto recorded = run.recording ? std::move(run.recording->steps)
                                        : std::vector<std::unique_ptr<RecordedSteps>>{};
    const auto journalled = std::move(run.journalled);
    const Bindings bindings = bindings_of(run);
    for (std::size_t i = 0; i < count; ++i)
      run.simulation->set_steps(static_cast<std::int32_t>(i), *bindings.steps[i]);
  }
  if (!lua_isnoneornil(L, 4)) {
    lua_pushvalue(L, 4);
    auto fresh = std::make_unique<LuaRouter>(L, state.border);
    run.simulation->set_router(*fresh);
    run.router = std::move(fresh);
  }
  return 0;
}

/// serve_fork(run, schedulers, steps, router or nil, metrics or nil) -> an independent run from
/// here on.
int serve_fork(lua_State* L) {
  lua_settop(L, 5);
  Run& run = check_run(L);
  auto fork = std::make_shared<Run>();
  read_policies(L, 2, *fork);
  fork->workload = run.workload->fork();
  if (fork->workload == nullptr) {
    throw Error("fork",
                "the workload's requests(rng) returned a function, whose state cannot be copied; "
                "return a table with next(state)");
  }
  fork->summary = std::make_unique<SummaryObserver>(*run.summary);
  if (run.journal != nullptr) fork->journal = std::make_unique<Journal>(*run.journal);
  fork->own_metrics = own_metrics(L, 5);
  fork->classes = run.classes;
  fork->broken = run.broken;
  fork->simulation = run.simulation->fork(bindings_of(*fork));
  push_object<Run>(L, fork);
  return 1;
}

int serve_can_fork(lua_State* L) {
  lua_pushboolean(L, check_run(L).workload->fork() != nullptr);
  return 1;
}

int serve_is_broken(lua_State* L) {
  lua_pushboolean(L, check_run(L).broken);
  return 1;
}

/// Frees the simulation; the object stays, closed.
int serve_close(lua_State* L) {
  check_run(L);
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
  bind_traces(L);
  set_function(L, "serve_table", guarded<table>);
  set_function(L, "serve_open", guarded<serve_open>);
  set_function(L, "serve_advance", guarded<serve_advance>);
  set_function(L, "serve_run_or_stop", guarded<serve_run_or_stop>);
  set_function(L, "serve_step", guarded<serve_step>);
  set_function(L, "serve_now", guarded<serve_now>);
  set_function(L, "serve_finish", guarded<serve_finish>);
  set_function(L, "serve_set", guarded<serve_set>);
  set_function(L, "serve_fork", guarded<serve_fork>);
  set_function(L, "serve_can_fork", guarded<serve_can_fork>);
  set_function(L, "serve_is_broken", guarded<serve_is_broken>);
  set_function(L, "serve_close", guarded<serve_close>);
}

}  // namespace rooflua::script
