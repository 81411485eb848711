#include "script/vm/memory_account.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string>
#include <utility>

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

namespace {

/// Address space of this process in bytes. 0 where the system does not tell.
std::size_t process_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = "";
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  static const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size > 0 ? std::strtoull(text, nullptr, 10) * page_bytes : 0;
}

/// While the process keeps its size, what the engine holds fits into memory that was measured.
void measure_growth(MemoryAccount& account) {
  constexpr std::size_t least = std::size_t{1} << 20;
  const std::size_t process = process_bytes();
  const std::size_t change =
      process > account.process ? process - account.process : account.process - process;
  if (process > 0 && account.process > 0 && change < std::max(least, account.native / 32)) return;
  account.native = native_bytes();
  account.process = process;
  ++account.measures;
}

}  // namespace

void check_memory(lua_State* L) {
  MemoryAccount* account = context_of(L).options.memory;
  if (account == nullptr || account->limit == 0) return;
  // The rest is left to the script, which has to clean up.
  const std::size_t most = account->limit - account->limit / 16;
  measure_growth(*account);
  if (account->used() <= most) return;
  // Simulations that nothing refers to are finalised in the first cycle and freed by it.
  lua_gc(L, LUA_GCCOLLECT, 0);
  account->native = native_bytes();
  if (account->used() <= most) return;
  throw Error("", not_enough(*account));
}

std::string not_enough(const MemoryAccount& account) {
  std::string out =
      "not enough memory: scripts may use " + std::to_string(account.limit >> 20) + " MiB";
  const std::size_t held = account.used() - account.lua;
  if (held > account.limit / 16)
    out += "; " + std::to_string(account.used() >> 20) + " MiB are used, " +
           std::to_string(held >> 20) +
           " MiB of them held for simulations and tables. live:close() frees a simulation";
  return out;
}

void account_growth(lua_State* L) {
  if (MemoryAccount* account = context_of(L).options.memory; account != nullptr) {
    measure_growth(*account);
    const std::size_t before = std::exchange(account->told, account->native);
    // A fraction: a full size would collect the whole heap for each of a few forks.
    const std::size_t kib = account->native > before ? (account->native - before) >> 12 : 0;
    if (kib > 0)
      lua_gc(L, LUA_GCSTEP, static_cast<int>(std::min<std::size_t>(kib, INT_MAX / 2048)));
  }
  check_memory(L);
}

}  // namespace rooflua::script
