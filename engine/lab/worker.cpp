#include "lab/worker.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "script/vm/interrupt.h"

namespace rooflua::lab {

namespace {

double wall_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// --- in the process that works

constexpr int whole_socket = 3, early_socket = 4;
int write_to = whole_socket;
std::size_t copies = 0;
/// Milliseconds of the clock between two copies.
constexpr std::array<int, 9> pauses = {15, 15, 20, 50, 100, 250, 500, 1000, 2000};

void wait_for_next_copy() {
  const int pause = pauses[std::min(copies++, pauses.size() - 1)];
  itimerval when{};
  when.it_value.tv_sec = pause / 1000;
  when.it_value.tv_usec = pause % 1000 * 1000;
  setitimer(ITIMER_REAL, &when, nullptr);
}

/// Opens a file anew at the place up to which it was read. A copied descriptor has one place
/// together with the other process, and each would miss what the other one reads.
void read_apart(int file) {
  struct stat about {};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return;
  if ((fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY) return;
  char path[] = "/proc/self/fd/\0\0\0";  // a number of three digits at most
  char* digit = path + 14;
  if (file >= 100) *digit++ = static_cast<char>('0' + file / 100);
  if (file >= 10) *digit++ = static_cast<char>('0' + file / 10 % 10);
  *digit = static_cast<char>('0' + file % 10);
  const int apart = open(path, O_RDONLY | O_CLOEXEC);
  if (apart < 0) _exit(0);
  lseek(apart, lseek(file, 0, SEEK_CUR), SEEK_SET);
  dup2(apart, file);
  close(apart);
}

/// The copy is stopped as a Ctrl-C would stop it, and goes on to write what is known. Until it has
/// files of its own, the other one waits. Calls only what a handler of a signal may call.
void copy_and_stop(int) {
  constexpr int most_files = 256;  // a question has a few
  const int before = errno;
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) == 0) {
    const pid_t parent = getpid(), copy = _Fork();
    if (copy == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(0);
      for (int file = early_socket + 1; file < most_files; ++file) read_apart(file);
      close(ready[0]);
      close(ready[1]);
      write_to = early_socket;
      raise(SIGTERM);
      errno = before;
      return;
    }
    close(ready[1]);
    char none = 0;
    while (read(ready[0], &none, 1) < 0 && errno == EINTR) {
    }  // ends where the copy closed it
    close(ready[0]);
  }
  wait_for_next_copy();
  errno = before;
}

void write_line(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t sent = ::send(write_to, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) _exit(1);
    at += static_cast<std::size_t>(sent);
  }
}

void keep_sockets(int whole, int early) {
  // Above the numbers that they get, so that neither is closed by the other.
  const int a = fcntl(whole, F_DUPFD, 16), b = fcntl(early, F_DUPFD, 16);
  dup2(a, whole_socket);
  dup2(b, early_socket);
  close_range(early_socket + 1, ~0U, 0);
}

void set_signals(bool makes_copies) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGINT, SIG_IGN);  // of the terminal: the server ends this process
  std::signal(SIGCHLD, SIG_IGN);
  script::continue_in_worker();
  if (!makes_copies) return;
  struct sigaction action {};
  action.sa_handler = copy_and_stop;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  wait_for_next_copy();
}

[[noreturn]] void work_alone(const std::function<void(const Worker::Write&)>& work, int whole,
                             int early, bool makes_copies) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  keep_sockets(whole, early);
  copies = 0;
  set_signals(makes_copies);
  try {
    work(write_line);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace

Worker::Worker(event_base* base, const std::function<void(const Write&)>& work, Hooks hooks)
    : hooks_(std::move(hooks)), began_s_(wall_s()) {
  int whole[2], early[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, whole) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, early) != 0)
    throw Error("lab", "the system gives no more sockets");
  process_ = fork();
  if (process_ == 0) work_alone(work, whole[1], early[1], hooks_.early != nullptr);
  close(whole[1]);
  close(early[1]);
  if (process_ < 0) {
    close(whole[0]);
    close(early[0]);
    throw Error("lab", "the system gives no more processes");
  }
  setpgid(process_, process_);
  open(whole_, base, whole[0]);
  open(early_, base, early[0]);
}

Worker::~Worker() {
  for (Channel* each : {&whole_, &early_})
    if (each->buffer != nullptr) bufferevent_free(each->buffer);
  kill(-process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

double Worker::passed_s() const {
  return wall_s() - began_s_;
}

void Worker::open(Channel& channel, event_base* base, int socket) {
  evutil_make_socket_nonblocking(socket);
  channel.worker = this;
  channel.buffer = bufferevent_socket_new(base, socket, BEV_OPT_CLOSE_ON_FREE);
  bufferevent_setcb(
      channel.buffer,
      [](bufferevent*, void* at) {
        auto* own = static_cast<Channel*>(at);
        own->worker->read(*own);
      },
      nullptr,
      [](bufferevent*, short what, void* at) {
        auto* own = static_cast<Channel*>(at);
        if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0) own->worker->ended(*own);
      },
      &channel);
  bufferevent_enable(channel.buffer, EV_READ);
}

void Worker::read(Channel& channel) {
  std::vector<std::string> lines;
  std::size_t length = 0;
  while (char* line =
             evbuffer_readln(bufferevent_get_input(channel.buffer), &length, EVBUFFER_EOL_LF)) {
    lines.emplace_back(line, length);
    std::free(line);
  }
  const auto& hook = &channel == &early_ ? hooks_.early : hooks_.line;
  for (const std::string& each : lines)
    if (hook) hook(each);
}

/// Copies end before the work does, or with it.
void Worker::ended(Channel& channel) {
  bufferevent_free(channel.buffer);
  channel.buffer = nullptr;
  if (&channel == &whole_) std::function<void()>(hooks_.end)();
}

}  // namespace rooflua::lab
