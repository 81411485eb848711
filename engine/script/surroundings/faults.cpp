// Faults written in Lua, as the engine sees them.

#include <limits>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/fault.h"

namespace rooflua::script {

namespace {

/// scripts/faults.
class LuaFaults : public FaultPolicy, public Surrounding {
 public:
  explicit LuaFaults(Asking& asking);
  std::optional<Fault> next(double now_s, std::int32_t replicas) override;
  double detect_s() const override { return detect_s_; }
  double connect_s() const override { return connect_s_; }
  double timeout_s() const override { return timeout_s_; }
  bool ends_requests() const override { return ends_requests_; }
  void bind(Bindings& bindings) override { bindings.faults = this; }

 private:
  Asking* asking_;
  LuaReference next_;
  double detect_s_ = 0, connect_s_ = 0, timeout_s_ = 0;
  bool ends_requests_ = false;
};

/// A field of the value on top of the stack.
double number_field(lua_State* L, const char* name, double otherwise) {
  lua_getfield(L, -1, name);
  const double value = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : otherwise;
  lua_pop(L, 1);
  return value;
}

LuaFaults::LuaFaults(Asking& asking) : asking_(&asking) {
  lua_State* L = asking.L;
  if (!has_field(L, "next")) throw Error("faults", "it has no next(now_s, replicas) method");
  detect_s_ = number_field(L, "detect_s", 0);
  connect_s_ = number_field(L, "connect_s", 0);
  timeout_s_ = number_field(L, "timeout_s", std::numeric_limits<double>::infinity());
  lua_getfield(L, -1, "kv_load_failure_policy");
  ends_requests_ = lua_isstring(L, -1) && std::string_view(lua_tostring(L, -1)) == "fail";
  lua_pop(L, 1);
  const LuaReference instance(L);
  next_ = made_function(L, "rooflua.border.faulting", "next_of", {&instance});
}

std::optional<Fault> LuaFaults::next(double now_s, std::int32_t replicas) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its faults (next)");
  next_.push(L);
  lua_pushnumber(L, now_s);
  lua_pushinteger(L, replicas);
  if (lua_pcall(L, 2, 6, 0) != 0) rethrow(L, "faults, " + seconds_text(now_s));
  std::optional<Fault> out;
  if (!lua_isnil(L, -6)) {
    out.emplace();
    out->time_s = lua_tonumber(L, -6);
    out->replica = static_cast<std::int32_t>(lua_tointeger(L, -5));
    out->kind = static_cast<Fault::Kind>(lua_tointeger(L, -4));
    out->for_s = lua_tonumber(L, -3);
    out->factor = lua_tonumber(L, -2);
    if (lua_isstring(L, -1)) out->link = lua_tostring(L, -1);
  }
  lua_pop(L, 6);
  return out;
}

}  // namespace

std::unique_ptr<Surrounding> read_faults(lua_State*, Asking& asking) {
  return std::make_unique<LuaFaults>(asking);
}

}  // namespace rooflua::script
