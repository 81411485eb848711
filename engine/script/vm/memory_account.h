#pragma once
// The memory of scripts: the Lua heap, and what the engine holds for them (simulations, forks,
// tables). One cap holds for both together.

#include <cstddef>
#include <cstdint>
#include <string>

struct lua_State;

namespace rooflua::script {

struct MemoryAccount {
  std::size_t limit = 0;            // bytes; 0: no cap
  std::size_t lua = 0;              // in use by the Lua heap, if there is a cap
  std::size_t native = 0;           // by the engine, when it was measured last
  std::size_t native_at_start = 0;  // before the first script
  std::size_t process = 0;          // size of the process when `native` was measured; 0: unknown
  std::size_t told = 0;             // of `native`, to the collector of Lua
  std::int64_t measures = 0;        // how often it was measured

  /// Bytes that scripts have in use.
  std::size_t used() const {
    return lua + (native > native_at_start ? native - native_at_start : 0);
  }
};

/// Bytes that this process has allocated outside of the Lua heap. 0 where the C library does not
/// tell.
std::size_t native_bytes();

/// What an error says of a full account: the cap, and what the engine holds of it if that is much.
std::string not_enough(const MemoryAccount& account);

/// Measures, if the process has grown. Beyond the cap, garbage is collected. (The C library walks
/// all free pieces of memory to tell what is in use. A run leaves some behind, so that a measure in
/// each run would take time with the square of their number.)
/// @throws Error if the cap is still exceeded
void check_memory(lua_State* L);

/// An object was made that the collector of Lua owns but whose size it cannot see: the collector is
/// told how much memory such objects took since it was told last, and the cap is checked.
/// @throws Error if the cap is exceeded
void account_growth(lua_State* L);

}  // namespace rooflua::script
