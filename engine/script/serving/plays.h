#pragma once
// Plays that a workload written in Lua yields.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script/serving/asking.h"
#include "script/serving/lua_reference.h"
#include "serve/plays/plays.h"

namespace rooflua::script {

/// What plays(state) yields. A play is read once, when it is taken.
class LuaPlaySource : public PlaySource {
 public:
  /// @param state  the table that requests(rng) returned, on top of the stack, taken
  explicit LuaPlaySource(Asking& asking);
  bool next(Play& play) override;
  std::unique_ptr<PlaySource> fork() const override;
  void belong_to(Asking& asking) { asking_ = &asking; }
  std::optional<Unsent> left_out() const;
  std::vector<std::string> notes() const;

 private:
  Asking* asking_;
  LuaReference state_, plays_;
  std::int64_t taken_ = 0;
  bool shares_content_ = false, arrives_ = false;
};

/// scripts/workloads: requests(rng) returned a table with plays(state).
class LuaPlays final : public Plays, public OfSimulation {
 public:
  LuaPlays(std::unique_ptr<LuaPlaySource> source, const PlaysOptions& options)
      : Plays(std::move(source), options) {}
  std::unique_ptr<Workload> fork() const override;
  void belong_to(Asking& asking) override;
  /// What the state and the engine left out.
  std::optional<Unsent> left_out() const override;
  std::vector<std::string> notes() const override;

 private:
  LuaPlays(const LuaPlays& other, std::unique_ptr<PlaySource> source)
      : Plays(other, std::move(source)) {}
};

/// What requests(rng) returned, on top of the stack, taken: plays, or a LuaWorkload.
/// @param classes  names of classes; where there are none, filled with those of the workload
std::unique_ptr<Workload> lua_workload(Asking& asking, std::vector<std::string>& classes);

}  // namespace rooflua::script
