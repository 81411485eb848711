#pragma once
// Lua values that C++ holds on to.

#include <initializer_list>
#include <utility>

#include "script/vm/stack.h"

namespace rooflua::script {

/// A value that the Lua registry keeps alive. The reference may be made in a coroutine, and outlive
/// it: the value is let go through a thread that lives as long as the Lua state.
class LuaReference {
 public:
  LuaReference() = default;
  /// Takes the value on top of the stack.
  explicit LuaReference(lua_State* L);
  LuaReference(LuaReference&& other) noexcept { swap(other); }
  LuaReference& operator=(LuaReference&& other) noexcept {
    swap(other);
    return *this;
  }
  ~LuaReference() {
    if (lasting_ != nullptr) luaL_unref(lasting_, LUA_REGISTRYINDEX, index_);
  }
  /// @param L  the thread of Lua that runs now
  void push(lua_State* L) const { lua_rawgeti(L, LUA_REGISTRYINDEX, index_); }
  explicit operator bool() const { return lasting_ != nullptr; }

 private:
  void swap(LuaReference& other) {
    std::swap(lasting_, other.lasting_);
    std::swap(index_, other.index_);
  }
  lua_State* lasting_ = nullptr;  // Context::lasting
  int index_ = LUA_NOREF;
};

/// Field of the value on top of the stack, as a reference; empty if it is nil.
LuaReference field_reference(lua_State* L, const char* name);

/// The function `name` of a library module.
LuaReference library_function(lua_State* L, const char* module, const char* name);
/// What the library function `name` makes of these values: a function without arguments that the
/// engine calls often. Each argument of a call would be one more value to push.
LuaReference made_function(lua_State* L, const char* module, const char* name,
                           std::initializer_list<const LuaReference*> values);
/// Whether the value on top of the stack has that field.
bool has_field(lua_State* L, const char* name);

}  // namespace rooflua::script
