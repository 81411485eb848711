#include "script/batch_function.h"

#include <lua.hpp>

#include "script/serving/lua_reference.h"
#include "script/vm/stack.h"

namespace rooflua::script {

BatchFunction::BatchFunction(Vm& vm, const char* module, const char* name) : vm_(&vm) {
  vm.protect([&](lua_State* L) {
    function_ = std::make_unique<LuaReference>(library_function(L, module, name));
  });
}

BatchFunction::~BatchFunction() = default;

template <class Take>
void BatchFunction::call(const Batch& batch, double context_max, const Take& take) {
  vm_->protect([&](lua_State* L) {
    function_->push(L);
    lua_pushlightuserdata(L, const_cast<Batch*>(&batch));
    lua_pushnumber(L, context_max);
    lua_call(L, 2, 1);
    take(L);
  });
}

double BatchFunction::number(const Batch& batch, double context_max) {
  double found = 0;
  call(batch, context_max, [&](lua_State* L) { found = lua_tonumber(L, -1); });
  return found;
}

Json BatchFunction::document(const Batch& batch, double context_max) {
  Json found;
  call(batch, context_max, [&](lua_State* L) { found = to_json(L, lua_gettop(L), "batch"); });
  return found;
}

}  // namespace rooflua::script
