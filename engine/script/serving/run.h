#pragma once
// A simulation that Lua holds, with everything that its bindings point to.

#include <fstream>
#include <memory>
#include <vector>

#include "measure/record/journal.h"
#include "measure/record/sketch.h"
#include "measure/record/summary.h"
#include "measure/record/why.h"
#include "measure/write/progress.h"
#include "measure/write/requests.h"
#include "measure/write/timeline.h"
#include "script/serving/own_metrics.h"
#include "script/serving/policies.h"
#include "script/serving/record.h"
#include "serve/simulation.h"

namespace rooflua::script {

/// A running simulation with everything that its bindings point to.
struct Run {
  std::vector<std::unique_ptr<LuaScheduler>> schedulers;
  std::vector<std::unique_ptr<LuaStepModel>> steps;
  std::unique_ptr<LuaRouter> router;
  std::unique_ptr<Workload> workload;
  std::unique_ptr<SummaryObserver> summary;
  std::unique_ptr<LuaOwnMetrics> own_metrics;  // null where the scenario has none
  std::unique_ptr<std::ofstream> requests_file, trace_file;
  std::unique_ptr<RequestsCsv> requests;
  std::unique_ptr<Timeline> timeline;
  std::unique_ptr<VllmBench> vllm_bench;
  std::unique_ptr<KeptRequests> kept;
  VllmBenchOptions vllm_traffic;
  std::vector<std::string> classes;  // names of the requests' classes
  Json partial;                      // why it was stopped; null where it was not
  std::unique_ptr<ProgressBar> progress;
  std::unique_ptr<Recording> recording;
  std::unique_ptr<WhyObserver> why;
  std::unique_ptr<Journal> journal;
  std::vector<std::unique_ptr<JournalledSteps>> journalled;
  std::unique_ptr<Sketch> sketch;
  std::vector<std::unique_ptr<SampledSteps>> sampled;
  std::vector<std::unique_ptr<FollowedSteps>> followed;
  std::unique_ptr<Simulation> simulation;
  bool broken = false;  // an error left the simulation in the middle of an instant
};
template <>
struct TypeName<Run> {
  static constexpr const char* value = "rooflua.Run";
  static constexpr const char* article = "a Run";
};

/// What the run amounts to so far, with the metrics of its scenario.
Summary summary_of(const Run& run);

/// The simulation in argument 1. @throws Error if it is another thing
Run& check_run(lua_State* L);

/// Looking into a run, and what it amounted to (bind_results.cpp).
void bind_results(lua_State* L);
/// Looking back at a live run (bind_journal.cpp).
void bind_journal(lua_State* L);

}  // namespace rooflua::script
