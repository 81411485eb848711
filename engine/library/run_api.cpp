// The functions of the C interface that run a served scenario.

#include <memory>

#include "base/json_text.h"
#include "library/handles.h"
#include "library/opening.h"
#include "library/run.h"

namespace rooflua::library {

namespace {

/// Of this thread. They are closed when the thread ends.
Handles<Run>& runs() {
  thread_local Handles<Run> all("run");
  return all;
}

}  // namespace

}  // namespace rooflua::library

// Not all of the namespace: the engine has a rooflua_batch as well.
using namespace rooflua::library;

extern "C" {

rooflua_run* rooflua_run_open(const char* scenario_path, const char* overrides_json, char* error,
                              std::size_t error_bytes) {
  const auto make = [&] { return std::make_unique<Run>(stated(scenario_path, overrides_json)); };
  return reinterpret_cast<rooflua_run*>(runs().open(make, error, error_bytes));
}

int rooflua_run_step(rooflua_run* run, std::int32_t steps, char* error, std::size_t error_bytes) {
  return answered([&] { return int{runs().at(run).step(steps)}; }, error, error_bytes);
}

int rooflua_run_until(rooflua_run* run, double time_s, char* error, std::size_t error_bytes) {
  return answered([&] { return int{runs().at(run).run_until(time_s)}; }, error, error_bytes);
}

int rooflua_run_now(rooflua_run* run, double* now_s, char* error, std::size_t error_bytes) {
  return answered(
      [&] {
        Run& open = runs().at(run);
        if (now_s == nullptr) throw Misuse("now_s", "is NULL");
        *now_s = open.now_s();
        return int{ROOFLUA_OK};
      },
      error, error_bytes);
}

int rooflua_run_state(rooflua_run* run, char* json, std::size_t bytes) {
  return answered_in_json([&] { return rooflua::dump_json(runs().at(run).state()); }, json, bytes);
}

rooflua_run* rooflua_run_fork(rooflua_run* run, char* error, std::size_t error_bytes) {
  const auto make = [&] { return runs().at(run).fork(); };
  return reinterpret_cast<rooflua_run*>(runs().open(make, error, error_bytes));
}

int rooflua_run_result(rooflua_run* run, char* json, std::size_t bytes) {
  return answered_in_json([&] { return runs().at(run).result(); }, json, bytes);
}

void rooflua_run_close(rooflua_run* run) {
  runs().close(run);
}

}  // extern "C"
