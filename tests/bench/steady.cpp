// Preloaded into a program that is measured: LuaJIT gets the same seed in every process, so that it compiles the same
// traces, and one program takes the same number of instructions every time. ROOFLUA_BENCH_SEED says which seed.

#include <dlfcn.h>
#include <sys/syscall.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

extern "C" long syscall(long number, ...) noexcept {
  long given[6];
  va_list list;
  va_start(list, number);
  for (long& each : given) each = va_arg(list, long);
  va_end(list);
  if (number == SYS_getrandom) {
    const char* seed = std::getenv("ROOFLUA_BENCH_SEED");
    const auto bytes = static_cast<std::size_t>(given[1]);
    std::memset(reinterpret_cast<void*>(given[0]), seed != nullptr ? std::atoi(seed) : 1, bytes);
    return given[1];
  }
  using Call = long (*)(long, ...);
  static const auto call = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "syscall"));
  return call(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
