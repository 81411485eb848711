#pragma once
// What every call of a Lua policy needs: the border is opened for its time, and a Lua error becomes
// an Error that says when it happened and keeps the script's file:line.

#include <string>

#include "base/error.h"
#include "script/serving/abi.h"
#include "script/serving/asking.h"
#include "script/serving/lua_reference.h"

namespace rooflua::script {

/// The state of a Lua state's border; made on first use, lives as long as it.
ServeState& serve_state(lua_State* L);

/// Copied, because compilers clear it by a slower instruction.
inline const ServeBorder closed_border;

/// Opens the border for one call. What the call made visible is gone when it ends, and positions
/// that the script remembers are stale. Calls of one simulation are not nested, and one that runs
/// inside a call of another one has an empty border (with_run.cpp).
class BorderScope {
 public:
  /// @param live  ServeBorder::live during the call
  BorderScope(ServeBorder& border, std::int32_t live) : border_(border) {
    ROOFLUA_ASSERT(border.live == 0);
    border_.live = live;
  }
  ~BorderScope() {
    const std::int32_t change = border_.change;
    border_ = closed_border;
    border_.change = change + 1;
  }
  BorderScope(const BorderScope&) = delete;
  BorderScope& operator=(const BorderScope&) = delete;

 private:
  ServeBorder& border_;
};

/// Shows the requests and the replicas of a route, within a BorderScope.
inline void show_route(ServeBorder& border, const RouteView& view) {
  const Requests& requests = view.source->requests();
  border.requests = requests.data();
  border.slots = requests.slots();
  border.view = nullptr;
  border.replica = nullptr;
  border.route = &view;
  border.holders = nullptr;
  border.holder_count = -1;
}

/// Throws the Lua error on top of the stack, popped, as an Error.
[[noreturn]] void rethrow(lua_State* L, const std::string& when);

/// "at 1.250000 s", for messages.
std::string seconds_text(double time_s);

/// "scheduler shortest_prompt", for messages.
std::string policy_name(lua_State* L, const LuaReference& instance, const char* kind);

}  // namespace rooflua::script
