#include "script/vm/interrupt.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <lua.hpp>

#include "base/error.h"
#include "script/vm/stack.h"

namespace rooflua::script {

namespace {

// Signal handlers can reach only globals, so the state that they stop is one. One owner per
// process.
std::atomic<lua_State*> owner{nullptr};
std::atomic<int> stop{0};
std::atomic<int> interrupts{0};
std::atomic<std::int64_t> last_press_ms{0};
std::atomic<int> expiries{0};
std::atomic<int> gentle{0};  // how many StopGently live: their loops read `stop` themselves
std::atomic<int> last_reason{0};
std::atomic<bool> absorbed{false};
std::atomic<bool> terminated{false};
double limit_s = 0;
char stopped_at[4096] = "";  // "scenario.lua:12: "
timer_t timer{}, patience{};
struct sigaction old_interrupt, old_timer, old_patience;

constexpr std::int64_t key_repeat_ms = 200;
constexpr double grace_s = 2.0;  // CPU seconds between the limit's error and the end of the process
int timer_signal() {
  return SIGRTMIN + 1;
}
int patience_signal() {
  return SIGRTMIN + 2;
}

void ignore_tick(void*, lua_State*, int, int) {}

void describe_stop(char* message, std::size_t size) {
  if (stop_reason() == StopReason::timeout) {
    std::snprintf(message, size, "stopped after %g s of CPU time (--timeout)", limit_s);
  } else {
    std::snprintf(message, size, "interrupted");
  }
}

/// Raises an error at every instruction until clear() is called. While the library unwinds there
/// may be no frame of the user's code left; the error then names the last known line of it.
void stop_hook(lua_State* L, lua_Debug*) {
  char message[120];
  describe_stop(message, sizeof message);
  {
    const std::string line = user_line(L);
    if (!line.empty()) std::snprintf(stopped_at, sizeof stopped_at, "%s: ", line.c_str());
  }
  lua_pushfstring(L, "%s%s", stopped_at, message);
  lua_error(L);
}

/// Restores errno when a signal handler ends, for the code that the handler interrupted.
class KeptErrno {
 public:
  KeptErrno() : kept_(errno) {}
  ~KeptErrno() { errno = kept_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int kept_;
};

void arm(StopReason reason) {
  if (absorbed.load()) return;
  int none = 0;
  stop.compare_exchange_strong(none, static_cast<int>(reason));
  last_reason = stop.load();
  if (lua_State* L = owner.load()) {
    lua_sethook(L, stop_hook, LUA_MASKCOUNT, 1);  // no call hook: message handlers must run
    ::raise(SIGPROF);
  }
}

void say(const char* message) {
  const ssize_t ignored = write(STDERR_FILENO, message, std::strlen(message));
  (void)ignored;
}

void end_process(const char* message, int status) {
  say(message);
  _exit(status);
}

timespec to_timespec(double seconds) {
  timespec out{};
  out.tv_sec = static_cast<time_t>(seconds);
  out.tv_nsec = static_cast<long>((seconds - static_cast<double>(out.tv_sec)) * 1e9);
  return out;
}

/// Starts the timer of StopGently. False in a forked process, which does not inherit timers.
bool wait_patiently(double seconds) {
  itimerspec when{};
  when.it_value = to_timespec(seconds);
  return timer_settime(patience, 0, &when, nullptr) == 0;
}

/// Whether the key was pressed again. A key that is held down sends Ctrl-C repeatedly.
bool pressed_again() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t now_ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
  return now_ms - last_press_ms.exchange(now_ms) >= key_repeat_ms;
}

/// The first stop of a run, which its loop may answer itself.
void stop_first() {
  if (gentle == 0) return arm(StopReason::interrupted);
  if (absorbed.load()) return;
  int none = 0;
  stop.compare_exchange_strong(none, static_cast<int>(StopReason::interrupted));
  last_reason = stop.load();
  if (!wait_patiently(StopGently::patience_s)) arm(StopReason::interrupted);
}

void on_interrupt(int) {
  const KeptErrno kept;
  const bool again = pressed_again();
  const int before = again || interrupts == 0 ? interrupts.fetch_add(1) : 0;
  if (before >= 2) end_process("rooflua: interrupted three times\n", 130);
  if (before == 1)
    say("\nrooflua: what runs cannot be stopped yet; Ctrl-C once more ends the program\n");
  if (before > 0) return arm(StopReason::interrupted);
  stop_first();
}

void on_terminate(int) {
  const KeptErrno kept;
  if (!terminated.exchange(true)) stop_first();
}

void on_patience(int) {
  const KeptErrno kept;
  if (stop != 0) arm(StopReason::interrupted);
}

void on_passed_on(int) {
  const KeptErrno kept;
  arm(StopReason::interrupted);
}

void on_timer(int) {
  const KeptErrno kept;
  if (absorbed.load()) return;
  if (expiries.fetch_add(1) >= 1) {
    end_process("rooflua: the time limit passed inside a call that cannot be interrupted\n", 1);
  }
  arm(StopReason::timeout);
}

void set_handler(int signal, void (*handler)(int), struct sigaction* old) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, old);
}

timer_t make_timer(clockid_t clock, int signal) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  timer_t made{};
  if (timer_create(clock, &event, &made) != 0) {
    throw Error("interrupts", "this system has no timers with signals");
  }
  return made;
}

/// Starts the timer of the time limit now; 0 stops it.
void set_timer(double timeout_s) {
  itimerspec when{};
  when.it_value = to_timespec(timeout_s);
  when.it_interval = to_timespec(timeout_s > 0 ? grace_s : 0);
  timer_settime(timer, 0, &when, nullptr);
}

void start_timer(double timeout_s) {
  limit_s = timeout_s;
  expiries = 0;
  set_handler(timer_signal(), on_timer, &old_timer);
  set_timer(timeout_s);
}

}  // namespace

const std::atomic<int>& stop_requested() {
  return stop;
}
StopReason stop_reason() {
  return static_cast<StopReason>(stop.load());
}
std::string stop_message() {
  char message[120];
  describe_stop(message, sizeof message);
  return message;
}

StopGently::StopGently() {
  ++gentle;
}
StopGently::~StopGently() {
  --gentle;
}

bool is_stopping(lua_State* L) {
  return lua_gethook(L) == stop_hook;
}

StopReason last_stop() {
  return static_cast<StopReason>(last_reason.load());
}

StopReason absorb_stop() {
  const StopReason reason = stop_reason();
  if (reason == StopReason::none) return reason;
  absorbed = true;
  if (limit_s > 0) set_timer(0);
  if (lua_State* L = owner.load()) lua_sethook(L, nullptr, 0, 0);
  stop = 0;
  return reason;
}

bool has_time_limit() {
  return owner.load() != nullptr && limit_s > 0;
}

void restart_time_limit() {
  if (owner.load() == nullptr || limit_s <= 0) return;
  expiries = 0;
  set_timer(limit_s);
}

void stop_on_terminate() {
  if (owner.load() != nullptr) set_handler(SIGTERM, on_terminate, nullptr);
}

int interrupted_status() {
  return 128 + (terminated.load() ? SIGTERM : SIGINT);
}

void continue_in_worker() {
  if (owner.load() == nullptr) return;
  set_handler(SIGTERM, on_passed_on, nullptr);
  if (limit_s <= 0) return;
  timer = make_timer(CLOCK_PROCESS_CPUTIME_ID, timer_signal());
  set_timer(limit_s);
}

Interrupt::Interrupt(lua_State* L, bool ctrl_c, double timeout_s)
    : ctrl_c_(ctrl_c), timeout_s_(timeout_s) {
  if (!ctrl_c && timeout_s <= 0) return;
  lua_State* nobody = nullptr;
  if (!owner.compare_exchange_strong(nobody, L)) return;
  active_ = true;
  stop = 0;
  last_reason = 0;
  interrupts = 0;
  absorbed = false;
  limit_s = 0;
  stopped_at[0] = '\0';
  luaJIT_profile_start(L, "li1000000000", ignore_tick, nullptr);
  try {
    if (ctrl_c) patience = make_timer(CLOCK_MONOTONIC, patience_signal());
    if (timeout_s > 0) timer = make_timer(CLOCK_PROCESS_CPUTIME_ID, timer_signal());
  } catch (const Error&) {
    luaJIT_profile_stop(L);
    owner = nullptr;
    throw;
  }
  if (ctrl_c) {
    set_handler(patience_signal(), on_patience, &old_patience);
    set_handler(SIGINT, on_interrupt, &old_interrupt);
  }
  if (timeout_s > 0) start_timer(timeout_s);
}

Interrupt::~Interrupt() {
  if (!active_) return;
  if (timeout_s_ > 0) {
    timer_delete(timer);
    sigaction(timer_signal(), &old_timer, nullptr);
  }
  if (ctrl_c_) {
    sigaction(SIGINT, &old_interrupt, nullptr);
    timer_delete(patience);
    sigaction(patience_signal(), &old_patience, nullptr);
  }
  lua_State* L = owner.exchange(nullptr);
  lua_sethook(L, nullptr, 0, 0);
  luaJIT_profile_stop(L);
}

void Interrupt::clear() {
  if (!active_) return;
  if (ctrl_c_) wait_patiently(0);
  lua_sethook(owner.load(), nullptr, 0, 0);
  stopped_at[0] = '\0';
  stop = 0;
  interrupts = 0;
  if (timeout_s_ > 0 && expiries.exchange(0) > 0) {
    // The limit has been used up; the next script of the same VM gets a new one.
    set_timer(timeout_s_);
  }
}

}  // namespace rooflua::script
