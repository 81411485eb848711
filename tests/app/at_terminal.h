#pragma once
// Runs the program at a terminal of its own.

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/app/program.h"

namespace rooflua::test {

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The child of a fork becomes the program.
[[noreturn]] inline void become_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{ROOFLUA_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& each : words) raw.push_back(each.data());
  raw.push_back(nullptr);
  if (chdir(source_dir().c_str()) == 0) execv(raw[0], raw.data());
  _exit(99);
}

/// Calls `act` when the program has printed `sign` the given number of times. @return the output of
/// the terminal
template <class Act>
Said at_terminal(const std::vector<std::string>& arguments, const std::string& sign,
                 std::size_t times, Act act) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  REQUIRE(child >= 0);
  if (child == 0) become_program(arguments);
  Said said;
  bool done = false;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
    said.text.append(buffer.data(), static_cast<std::size_t>(n));
    if (done || count(said.text, sign) < times) continue;
    act(child, terminal);
    done = true;
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  INFO(said.text);
  REQUIRE(done);
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

}  // namespace rooflua::test
