#pragma once
// Policies written in Lua, as the engine's seams see them. Each holds a reference to its instance;
// a Lua error becomes an Error that says when it happened and keeps the script's file:line.

#include <memory>
#include <string>

#include "measure/record/why.h"
#include "script/serving/abi.h"
#include "script/vm/stack.h"
#include "serve/policy.h"
#include "serve/workload.h"

namespace rooflua::script {

/// A value that the Lua registry keeps alive.
class LuaReference {
 public:
  LuaReference() = default;
  /// Takes the value on top of the stack.
  explicit LuaReference(lua_State* L) : L_(L), index_(luaL_ref(L, LUA_REGISTRYINDEX)) {}
  LuaReference(LuaReference&& other) noexcept { swap(other); }
  LuaReference& operator=(LuaReference&& other) noexcept {
    swap(other);
    return *this;
  }
  ~LuaReference() {
    if (L_ != nullptr) luaL_unref(L_, LUA_REGISTRYINDEX, index_);
  }
  void push() const { lua_rawgeti(L_, LUA_REGISTRYINDEX, index_); }
  explicit operator bool() const { return L_ != nullptr; }

 private:
  void swap(LuaReference& other) {
    std::swap(L_, other.L_);
    std::swap(index_, other.index_);
  }
  lua_State* L_ = nullptr;
  int index_ = LUA_NOREF;
};

/// Field of the value on top of the stack, as a reference; empty if it is nil.
LuaReference field_reference(lua_State* L, const char* name);

/// scripts/schedulers: plan, optional key and victim, every_step.
class LuaScheduler : public SchedulerPolicy {
 public:
  /// @param instance  on top of the stack, taken
  LuaScheduler(lua_State* L, ServeBorder& border);
  void plan(const Replica& replica, Plan& plan) override;
  bool has_key() const override { return has_key_; }
  double key(const Request& request) override;
  bool has_victim() const override { return has_victim_; }
  bool every_step() const override { return every_step_; }

 private:
  lua_State* L_;
  ServeBorder* border_;
  LuaReference instance_, call_plan_, call_key_;
  bool has_key_ = false, has_victim_ = false, every_step_ = false;
};

/// scripts/routers.
class LuaRouter : public Router {
 public:
  LuaRouter(lua_State* L, ServeBorder& border);
  std::int32_t route(const Request& request, const RouteView& view) override;
  double staleness_s() const override { return staleness_s_; }

 private:
  lua_State* L_;
  ServeBorder* border_;
  LuaReference instance_, call_route_;
  double staleness_s_ = 0;
};

/// scripts/steps: bound, and called through rooflua.pricing so that corrections apply and the
/// ledger is read.
class LuaStepModel : public StepModel {
 public:
  LuaStepModel(lua_State* L, ServeState& state);
  void price(const Batch& batch, StepPrice& price) override;
  /// Whether prices say what bounds a step (StepPrice::bound). Slower: for traces.
  void tell_bounds(bool on) { tells_bounds_ = on; }
  /// The same price with its bound, operation by operation: slow.
  void explain(const Batch& batch, StepPrice& price, std::vector<OpTime>& ops);

 private:
  void call(const LuaReference& function, const Batch& batch, int results);
  void read_price(int index, StepPrice& price) const;

  lua_State* L_;
  ServeState* state_;
  LuaReference instance_, call_price_, call_bounded_, call_explain_;
  bool tells_bounds_ = false;
  double* evidence_s_;  // the ledger's accumulator
};

/// scripts/workloads: what `requests(rng)` returned. Either a function, or a table of plain state
/// with next(state) and optionally done(state, now_s, session, class, completed), which can be
/// copied.
class LuaWorkload : public Workload {
 public:
  /// @param source  the function or table, on top of the stack, taken
  explicit LuaWorkload(lua_State* L);
  bool next(RequestSpec& spec) override;
  void on_done(const RequestDone& done, FollowUps& follow_ups) override;
  bool shares_content() const override { return shares_content_; }
  /// The state's left_out = {source, unit, total, reasons = {[why] = count}}.
  std::optional<Unsent> left_out() const override;
  /// Null for a function: its state cannot be reached.
  std::unique_ptr<Workload> fork() const override;

 private:
  bool read_request(int first, RequestSpec& spec);
  lua_State* L_;
  LuaReference state_, next_, done_;
  std::vector<Segment> segments_;
  std::int64_t count_ = 0;
  bool shares_content_ = false;
};

/// The state of a Lua state's border; made on first use, lives as long as it.
ServeState& serve_state(lua_State* L);

}  // namespace rooflua::script
