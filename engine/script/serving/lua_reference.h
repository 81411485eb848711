#pragma once
// Lua values that C++ holds on to.

#include <utility>

#include "script/vm/stack.h"

namespace rooflua::script {

/// A value that the Lua registry keeps alive.
class LuaReference {
 public:
  LuaReference() = default;
  /// Takes the value on top of the stack.
  explicit LuaReference(lua_State* L) : L_(L), index_(luaL_ref(L, LUA_REGISTRYINDEX)) {}
  LuaReference(LuaReference&& other) noexcept { swap(other); }
  LuaReference& operator=(LuaReference&& other) noexcept {
    swap(other);
    return *this;
  }
  ~LuaReference() {
    if (L_ != nullptr) luaL_unref(L_, LUA_REGISTRYINDEX, index_);
  }
  void push() const { lua_rawgeti(L_, LUA_REGISTRYINDEX, index_); }
  explicit operator bool() const { return L_ != nullptr; }

 private:
  void swap(LuaReference& other) {
    std::swap(L_, other.L_);
    std::swap(index_, other.index_);
  }
  lua_State* L_ = nullptr;
  int index_ = LUA_NOREF;
};

/// Field of the value on top of the stack, as a reference; empty if it is nil.
LuaReference field_reference(lua_State* L, const char* name);

/// The function `name` of a library module.
LuaReference library_function(lua_State* L, const char* module, const char* name);
/// Whether the value on top of the stack has that field.
bool has_field(lua_State* L, const char* name);

}  // namespace rooflua::script
