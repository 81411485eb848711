#pragma once
// A question is answered by a process of its own, a copy of this one: it can be ended at any time,
// and what it loads is gone with it.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

struct bufferevent;
struct event_base;

namespace rooflua::lab {

class Worker {
 public:
  /// Writes one line of text to the process that waits for it.
  using Write = std::function<void(const std::string& line)>;
  struct Hooks {
    std::function<void(const std::string& line)> line;   // for each line that the work writes
    std::function<void(const std::string& line)> early;  // and that a stopped copy of it writes
    std::function<void()> end;  // the work is over. It may destroy the worker
  };

  /// Begins `work` in a copy of this process. Where there is a hook for it, from time to time
  /// another copy is made in the middle of the work, and stopped by TERM: it may write what is
  /// known so far.
  /// @throws Error if the system gives no process
  Worker(event_base* base, const std::function<void(const Write&)>& work, Hooks hooks);
  /// Ends the process and its copies at once.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  double passed_s() const;

 private:
  struct Channel {
    Worker* worker = nullptr;
    bufferevent* buffer = nullptr;
  };
  void open(Channel& channel, event_base* base, int socket);
  void read(Channel& channel);
  void ended(Channel& channel);

  pid_t process_ = -1;
  Hooks hooks_;
  Channel whole_, early_;  // what the work writes, and what its stopped copies write
  double began_s_ = 0;
};

}  // namespace rooflua::lab
