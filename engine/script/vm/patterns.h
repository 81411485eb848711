#pragma once
// string.find, match, gmatch and gsub with LuaJIT's results, in loops that can be stopped.
//
// LuaJIT's own run in C from end to end: a pattern such as ".-.-.-.-x" over a long text takes
// longer than anybody lives, and neither hooks nor signals reach it. Here every comparison is a
// step, and every `steps_per_look` steps the hook that bounds Lua code (while a scenario loads,
// after Ctrl-C, past --timeout) is asked, as if so many instructions had run.

struct lua_State;

namespace rooflua::script {

constexpr int steps_per_look = 100000;

/// Puts the four functions, and a rep that says when a text would be too long, in place of those of
/// the library table `string`, for every script of this state.
void bind_patterns(lua_State* L);

}  // namespace rooflua::script
