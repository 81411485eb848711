#pragma once
// A full disk for tests: while it exists, no file of this process can grow beyond a size.

#include <sys/resource.h>

#include <csignal>

namespace rooflua::test {

struct SmallFiles {
  explicit SmallFiles(rlim_t most_bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);  // writes then fail, and the process lives
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{most_bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

}  // namespace rooflua::test
