#pragma once
// Natives for what a profiler recorded (bind/profiles.cpp).

#include "script/vm/stack.h"

namespace rooflua::script {

/// Adds them to the table of natives, which lies on top of the stack.
void bind_profiles(lua_State* L);

}  // namespace rooflua::script
