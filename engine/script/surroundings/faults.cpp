#include "script/surroundings/faults.h"

#include "base/error.h"

namespace rooflua::script {

namespace {

/// A field of the value on top of the stack; 0 where it has none.
double number_field(lua_State* L, const char* name) {
  lua_getfield(L, -1, name);
  const double value = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : 0;
  lua_pop(L, 1);
  return value;
}

}  // namespace

LuaFaults::LuaFaults(Asking& asking) : asking_(&asking) {
  lua_State* L = asking.L;
  if (!has_field(L, "next")) throw Error("faults", "it has no next(now_s, replicas) method");
  detect_s_ = number_field(L, "detect_s");
  connect_s_ = number_field(L, "connect_s");
  const LuaReference instance(L);
  next_ = made_function(L, "rooflua.border.faulting", "next_of", {&instance});
}

std::optional<Fault> LuaFaults::next(double now_s, std::int32_t replicas) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its faults (next)");
  next_.push(L);
  lua_pushnumber(L, now_s);
  lua_pushinteger(L, replicas);
  if (lua_pcall(L, 2, 5, 0) != 0) rethrow(L, "faults, " + seconds_text(now_s));
  std::optional<Fault> out;
  if (!lua_isnil(L, -5)) {
    out.emplace();
    out->time_s = lua_tonumber(L, -5);
    out->replica = static_cast<std::int32_t>(lua_tointeger(L, -4));
    out->kind = lua_toboolean(L, -3) != 0 ? Fault::Kind::slow : Fault::Kind::fail;
    out->for_s = lua_tonumber(L, -2);
    out->factor = lua_tonumber(L, -1);
  }
  lua_pop(L, 5);
  return out;
}

std::unique_ptr<LuaFaults> read_faults(lua_State* L, int index, Asking& asking) {
  if (lua_isnil(L, index)) return nullptr;
  lua_pushvalue(L, index);
  return std::make_unique<LuaFaults>(asking);
}

}  // namespace rooflua::script
