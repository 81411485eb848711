#pragma once
// A workload written in Lua, as the engine sees it.

#include <memory>
#include <optional>
#include <vector>

#include "script/serving/abi.h"
#include "script/serving/asking.h"
#include "script/serving/lua_reference.h"
#include "serve/contract/workload.h"

namespace rooflua::script {

/// The left_out = {source, unit, total, reasons = {[why] = count}} of a workload's state.
std::optional<Unsent> left_out_of(const Asking& asking, const LuaReference& state);

/// scripts/workloads: what `requests(rng)` returned, where it has no plays (plays.h). Either a
/// function, or a table of plain state with next(state) and optionally done(state, now_s, session,
/// class, completed) and more(state), which can be copied. `done` returns one request or a list of
/// them; `more` is asked after every `done`, until it has no request.
class LuaWorkload : public Workload, public OfSimulation {
 public:
  /// @param source  the function or table, on top of the stack, taken
  /// @param asking  of the simulation that it belongs to
  explicit LuaWorkload(Asking& asking);
  bool next(RequestSpec& spec) override;
  void on_done(const RequestDone& done, FollowUps& follow_ups) override;
  bool shares_content() const override { return shares_content_; }
  std::optional<Unsent> left_out() const override;
  /// Null for a function: its state cannot be reached.
  std::unique_ptr<Workload> fork() const override;
  void belong_to(Asking& asking) override { asking_ = &asking; }

 private:
  bool ask(const LuaReference& call, const LuaReference& function, std::int32_t ended,
           RequestSpec& spec);
  void send_list(int list, FollowUps& follow_ups);
  bool read_numbers(RequestSpec& spec);
  bool read_request(int first, RequestSpec& spec);
  bool read_answer(const LuaReference& function, int first, RequestSpec& spec);
  Asking* asking_;
  rooflua_follow_up* asked_;  // where rooflua.border.workloads reads questions and writes answers
  LuaReference state_, next_, done_, more_, call_next_, call_done_, call_more_;
  std::vector<Segment> segments_;
  std::int64_t count_ = 0;
  bool shares_content_ = false;
};

}  // namespace rooflua::script
