#pragma once
// The prompt in a pseudo-terminal: the test types like a user and reads the output for the screen.

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/scratch.h"

namespace rooflua::test {

/// A temporary folder of this test, removed at its end.
class Folder {
 public:
  std::string file(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name));
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

 private:
  ScratchFolder folder_;
};

inline void pause_ms(long milliseconds) {
  timespec pause{milliseconds / 1000, (milliseconds % 1000) * 1'000'000};
  nanosleep(&pause, nullptr);
}

class Terminal {
 public:
  explicit Terminal(const Folder& folder, const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> words{ROOFLUA_PROGRAM, "repl"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& each : words) argv.push_back(each.data());
    argv.push_back(nullptr);
    const std::string history = folder.file("state/history"), home = folder.file("");
    winsize size{};
    size.ws_row = 40;
    size.ws_col = 100;
    process_ = forkpty(&screen_, nullptr, nullptr, &size);
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      setenv("ROOFLUA_HISTORY", history.c_str(), 1);
      setenv("HOME", home.c_str(), 1);
      setenv("TERM", "xterm", 1);
      setenv("LC_ALL", "C.UTF-8", 1);
      if (chdir(source_dir().c_str()) == 0) execv(argv[0], argv.data());
      _exit(127);
    }
    expect("> ");
  }
  ~Terminal() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    close(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys) {
    REQUIRE(write(screen_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }

  /// Waits until `text` appears after the last expected text. @return the time of that in seconds
  double expect(const std::string& text, double limit_s = 60) {
    const auto start = std::chrono::steady_clock::now();
    const auto passed_s = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    std::size_t at = 0;
    while ((at = said_.find(text, seen_)) == std::string::npos) {
      INFO("waiting for: " << text << "\nso far: " << said_.substr(seen_));
      REQUIRE(passed_s() < limit_s);
      REQUIRE(more());
    }
    seen_ = at + text.size();
    return passed_s();
  }

  /// Types `keys` repeatedly, more slowly each time, until `text` appears.
  void insist(const std::string& keys, const std::string& text) {
    for (long wait_ms = 300; said_.find(text, seen_) == std::string::npos; wait_ms += 100) {
      INFO("insisting on: " << text << "\nso far: " << said_.substr(seen_));
      REQUIRE(wait_ms < 3000);
      if (write(screen_, keys.data(), keys.size()) < 0) break;
      pause_ms(wait_ms);
      for (int i = 0; i < 4; ++i) more();
    }
    expect(text);
  }

  /// Waits until the program is blocked in a call that does not return by itself.
  void expect_asleep() {
    const std::string file = "/proc/" + std::to_string(process_) + "/stat";
    for (int i = 0; i < 6000; ++i) {
      std::string stat;
      std::getline(std::ifstream(file), stat);
      const std::size_t name_end = stat.rfind(") ");
      REQUIRE(name_end != std::string::npos);
      if (stat[name_end + 2] == 'S') return;
      pause_ms(10);
    }
    FAIL("it does not come to rest");
  }

  /// Types a line and expects an answer. Typed text is echoed, so the answer must differ from it.
  void ask(const std::string& line, const std::string& answer) {
    type(line + "\r");
    expect("\r\n");
    expect(answer);
    expect("> ");
  }

  /// The exit status, once the program has ended.
  int status() {
    const auto start = std::chrono::steady_clock::now();
    while (more()) {
      INFO("it does not end; so far: " << said_.substr(seen_));
      REQUIRE(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
    }
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const std::string& said() const { return said_; }

 private:
  bool more() {
    pollfd ready{screen_, POLLIN, 0};
    if (poll(&ready, 1, 100) <= 0) return true;
    char buffer[4096];
    const ssize_t n = read(screen_, buffer, sizeof buffer);
    if (n <= 0) return false;
    said_.append(buffer, static_cast<std::size_t>(n));
    return true;
  }

  pid_t process_ = -1;
  int screen_ = -1;
  std::string said_;
  std::size_t seen_ = 0;
};

inline const std::string ctrl_c = "\x03", ctrl_d = "\x04", up = "\x1b[A", tab = "\t";

}  // namespace rooflua::test
