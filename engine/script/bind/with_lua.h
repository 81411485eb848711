#pragma once
// Calls of the engine during which it may ask a lookup in Lua.

#include "script/vm/context.h"

namespace rooflua::script {

/// Runs `call` where a lookup in Lua may run: it finds this state in the context, and the
/// permission.
template <class Call>
auto with_lua(lua_State* L, Call call) {
  struct Restore {
    Context& context;
    lua_State* state;
    bool allowed;
    ~Restore() {
      context.L = state;
      context.may_call_lua = allowed;
    }
  };
  Context& context = context_of(L);
  const Restore restore{context, context.L, context.may_call_lua};
  context.L = L;
  context.may_call_lua = true;
  return call();
}

}  // namespace rooflua::script
