#pragma once
// The memory of scripts: the Lua heap, and what the engine holds for them (simulations, forks,
// tables). One cap holds for both together.

#include <cstddef>

struct lua_State;

namespace rooflua::script {

struct MemoryAccount {
  std::size_t limit = 0;            // bytes; 0: no cap
  std::size_t lua = 0;              // in use by the Lua heap, if there is a cap
  std::size_t native = 0;           // by the engine, when it was measured last
  std::size_t native_at_start = 0;  // before the first script

  /// Bytes that scripts have in use.
  std::size_t used() const {
    return lua + (native > native_at_start ? native - native_at_start : 0);
  }
};

/// Bytes that this process has allocated outside of the Lua heap. 0 where the C library does not
/// tell.
std::size_t native_bytes();

/// Measures. Beyond the cap, garbage is collected. @throws Error if the cap is still exceeded
void check_memory(lua_State* L);

/// While it lives, an object is made that the collector of Lua owns but whose size it cannot see.
/// At the end the collector is told of that size, and the cap is checked.
class NativeGrowth {
 public:
  explicit NativeGrowth(lua_State* L);
  /// @throws Error if the cap is exceeded
  void account() const;

 private:
  lua_State* L_;
  std::size_t before_;
};

}  // namespace rooflua::script
