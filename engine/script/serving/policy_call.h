#pragma once
// What every call of a Lua policy needs: the border is opened for its time, and a Lua error becomes
// an Error that says when it happened and keeps the script's file:line.

#include <string>

#include "script/serving/abi.h"
#include "script/serving/asking.h"
#include "script/serving/lua_reference.h"

namespace rooflua::script {

/// The state of a Lua state's border; made on first use, lives as long as it.
ServeState& serve_state(lua_State* L);

/// Opens the border for one call. What the call made visible is gone when it ends, and positions
/// that the script remembers are stale.
class BorderScope {
 public:
  /// @param live  ServeBorder::live during the call
  BorderScope(ServeBorder& border, std::int32_t live) : border_(border), saved_(border) {
    border_.live = live;
  }
  ~BorderScope() {
    const std::int32_t change = border_.change;
    border_ = saved_;
    border_.change = change + 1;
  }
  BorderScope(const BorderScope&) = delete;
  BorderScope& operator=(const BorderScope&) = delete;

 private:
  ServeBorder& border_;
  ServeBorder saved_;
};

/// Throws the Lua error on top of the stack, popped, as an Error.
[[noreturn]] void rethrow(lua_State* L, const std::string& when);

/// "at 1.250000 s", for messages.
std::string seconds_text(double time_s);

/// "scheduler shortest_prompt", for messages.
std::string policy_name(lua_State* L, const LuaReference& instance, const char* kind);

}  // namespace rooflua::script
