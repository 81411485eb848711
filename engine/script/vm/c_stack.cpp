#include "script/vm/c_stack.h"

#include <pthread.h>

#include <cstdint>
#include <lua.hpp>

namespace rooflua::script {

namespace {

/// The lowest address that the stack of this thread can have; 0 where the system does not say.
std::uintptr_t lowest_address() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  if (pthread_attr_getstack(&attributes, &lowest, &bytes) != 0) lowest = nullptr;
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(lowest);
}

}  // namespace

void check_c_stack(lua_State* L) {
  constexpr std::uintptr_t reserve = std::uintptr_t{1} << 20;
  thread_local const std::uintptr_t lowest = lowest_address();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here - lowest < reserve) luaL_error(L, "stack overflow");
}

}  // namespace rooflua::script
