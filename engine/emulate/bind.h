#pragma once
// The emulated server for Lua (scripts/lib/rooflua/serving/emulated.lua).

namespace rooflua::script {
class Vm;
}

namespace rooflua::emulate {

/// Adds its functions to the library's natives (`rooflua.native`) in this state.
void bind_emulate(script::Vm& vm);

}  // namespace rooflua::emulate
