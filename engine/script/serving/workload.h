#pragma once
// A workload written in Lua, as the engine sees it.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script/serving/abi.h"
#include "script/serving/asking.h"
#include "script/serving/lua_reference.h"
#include "serve/contract/workload.h"

namespace rooflua::script {

/// The left_out = {source, unit, total, reasons = {[why] = count}} of a workload's state.
std::optional<Unsent> left_out_of(const Asking& asking, const LuaReference& state);

/// The sentences of a state's notes: a list, or a function of the state that returns one.
std::vector<std::string> notes_of(const Asking& asking, const LuaReference& state);

/// Pushes a copy of what a workload keeps, for a fork. @throws Error if some of it cannot be copied
void push_twin(lua_State* L, const LuaReference& state);

/// The classes = {name, ..} of the requests of a workload's state: the name of class 0 first. None
/// for a function, and where the state does not name them.
std::vector<std::string> classes_of(const Asking& asking, int state);

/// scripts/workloads: what `requests(rng)` returned, where it has no plays (plays.h). Either a
/// function, or a table of state with next(state) and optionally done(state, now_s, session,
/// class, completed, landed_tokens), more(state) and cancels(state). `done`
/// returns one request or a list of them; `more` is asked after every `done`, until it has no
/// request; then `cancels`, until it has no session whose requests the client cancels at that time.
class LuaWorkload : public Workload, public OfSimulation {
 public:
  /// @param source  the function or table, on top of the stack, taken
  /// @param asking  of the simulation that it belongs to
  explicit LuaWorkload(Asking& asking);
  bool next(RequestSpec& spec) override;
  void on_done(const RequestDone& done, FollowUps& follow_ups) override;
  bool reads_ends() const override { return bool(done_) || bool(more_) || bool(cancels_); }
  Picoseconds due() const override;
  void on_due(Picoseconds now, Client& client) override;
  bool shares_content() const override { return shares_content_; }
  std::optional<Unsent> left_out() const override;
  std::vector<std::string> notes() const override;
  std::unique_ptr<Workload> fork() const override;
  void belong_to(Asking& asking) override { asking_ = &asking; }

 private:
  bool ask(const LuaReference& call, const LuaReference& function, std::int32_t ended,
           RequestSpec& spec);
  void send_list(int list, FollowUps& follow_ups);
  void ask_cancels(Picoseconds now);
  bool read_numbers(RequestSpec& spec);
  bool read_request(int first, RequestSpec& spec);
  bool read_answer(const LuaReference& function, int first, RequestSpec& spec);
  Asking* asking_;
  rooflua_follow_up* asked_;  // where rooflua.border.workloads reads questions and writes answers
  struct Cancelled {
    Picoseconds time = 0;
    std::int32_t session = -1;
  };
  LuaReference state_, next_, done_, more_, cancels_, call_next_, call_done_, call_more_;
  std::vector<Cancelled> cancelled_;  // not yet
  std::vector<Segment> segments_;
  std::int64_t count_ = 0;
  bool shares_content_ = false;
};

}  // namespace rooflua::script
