#pragma once
// A VM with the source tree as home, and the results and errors of scripts in it.

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string>

#include "script/vm/vm.h"
#include "tests/catch.h"

namespace rooflua::test {

inline script::VmOptions sandbox_options() {
  script::VmOptions options;
  options.home = source_dir();
  options.interruptible = false;
  return options;
}

/// The result of the script `text`, as text.
inline std::string run(script::Vm& vm, const std::string& text) {
  return vm.run_text(text, "@test.lua");
}

/// The message of the error that `text` raises; "" if it raises none.
inline std::string complaint(script::Vm& vm, const std::string& text) {
  try {
    vm.run_text(text, "@test.lua");
  } catch (const script::LuaError& error) {
    return error.what();
  }
  return "";
}

inline std::string complaint(const std::string& text) {
  script::Vm vm(sandbox_options());
  return complaint(vm, text);
}

/// CPU time of this process.
inline double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Run in a thread of its own: sends SIGINT when the process has used 60 ms of CPU time, however
/// long that takes on a busy machine.
inline void interrupt_busy_process() {
  const timespec pause{0, 5'000'000};
  for (const double start_s = cpu_s(); cpu_s() < start_s + 0.06;) nanosleep(&pause, nullptr);
  kill(getpid(), SIGINT);
}

inline bool starts(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace rooflua::test
