#pragma once
// string.find, match, gmatch and gsub with LuaJIT's results, in loops that can be stopped.
//
// LuaJIT's own functions run in C and cannot be stopped: ".-.-.-.-x" over a long text takes years,
// and neither hooks nor signals reach it. Here every comparison is a step. Every `steps_per_look`
// steps (pattern_match.h) the hook that limits Lua code is called, as if so many instructions had
// run: while a scenario loads, after Ctrl-C, and after --timeout.

struct lua_State;

namespace rooflua::script {

/// Replaces the four functions in the library table `string`, for every script of this state. Also
/// replaces string.rep by one that reports a text that would be too long.
void bind_patterns(lua_State* L);

}  // namespace rooflua::script
