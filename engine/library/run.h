#pragma once
// A simulation of a served scenario that goes step by step. Its forks share its Lua state, which
// lives as long as one of them. Not for several threads at once.

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "script/scenario.h"
#include "script/vm/vm.h"

namespace rooflua::library {

class Run {
 public:
  /// At time 0.
  /// @param scenario  of stated() (library/opening.h)
  /// @throws Error
  explicit Run(const std::vector<Json>& scenario);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// `count` ends of steps. False: nothing is left to happen. @throws Misuse, Error
  bool step(int count);
  /// Every event up to that time; of infinity, all. Returns as step() does. @throws Misuse, Error
  bool run_until(double time_s);
  double now_s();
  /// The present (program/simulations.lua). @throws Error
  Json state();
  /// An independent copy of the present. @throws Error
  std::unique_ptr<Run> fork();
  /// The document of `rooflua run --json` so far, as text. It is kept until the run goes on.
  /// @throws Error
  const std::string& result();

 private:
  struct Opened;
  Run(std::shared_ptr<Opened> opened, Json number);
  Json ask(const char* function, const std::vector<Json>& more = {});

  std::shared_ptr<Opened> opened_;
  Json number_;  // by which program/simulations.lua knows it
  std::string result_;
};

}  // namespace rooflua::library
