#pragma once
// Runs the program through the shell, in the source tree.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/catch.h"

namespace rooflua::test {

struct Said {
  int status = -1;
  std::string text;  // stdout; stderr too if the arguments end with "2>&1"
};

/// `arguments` go through the shell; add "2>&1" to see messages.
inline Said rooflua(const std::string& arguments) {
  const std::string command =
      "cd '" + source_dir().string() + "' && " ROOFLUA_PROGRAM " " + arguments;
  Said said;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    said.text.append(buffer.data(), n);
  const int status = pclose(pipe);
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace rooflua::test
