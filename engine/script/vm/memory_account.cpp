#include "script/vm/memory_account.h"

#include <malloc.h>

#include <algorithm>
#include <climits>
#include <string>

#include "base/error.h"
#include "script/vm/context.h"

#if defined(__SANITIZE_ADDRESS__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // its header may be missing
#endif

namespace rooflua::script {

std::size_t native_bytes() {
#if defined(__SANITIZE_ADDRESS__)
  return __sanitizer_get_current_allocated_bytes();
#elif defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

void check_memory(lua_State* L) {
  MemoryAccount* account = context_of(L).options.memory;
  if (account == nullptr || account->limit == 0) return;
  // The rest is left to the script, which has to clean up.
  const std::size_t most = account->limit - account->limit / 16;
  account->native = native_bytes();
  if (account->used() <= most) return;
  // Simulations that nothing refers to are finalised in the first cycle and freed by it.
  lua_gc(L, LUA_GCCOLLECT, 0);
  account->native = native_bytes();
  if (account->used() <= most) return;
  throw Error("", "not enough memory: scripts may use " + std::to_string(account->limit >> 20) +
                      " MiB; " + std::to_string(account->used() >> 20) + " MiB are used, " +
                      std::to_string((account->used() - account->lua) >> 20) +
                      " MiB of them held for simulations and tables. live:close() frees a "
                      "simulation");
}

NativeGrowth::NativeGrowth(lua_State* L) : L_(L), before_(native_bytes()) {}

void NativeGrowth::account() const {
  const std::size_t now = native_bytes();
  // A fraction: a full size would collect the whole heap for each of a few forks.
  const std::size_t kib = now > before_ ? (now - before_) >> 12 : 0;
  if (kib > 0) lua_gc(L_, LUA_GCSTEP, static_cast<int>(std::min<std::size_t>(kib, INT_MAX / 2048)));
  check_memory(L_);
}

}  // namespace rooflua::script
