#include "script/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <lua.hpp>

#include "base/error.h"
#include "script/stack.h"

namespace rooflua::script {

namespace {

// Signal handlers have no other way to find what they stop. One owner per process.
std::atomic<lua_State*> owner{nullptr};
std::atomic<int> stop{0};
std::atomic<int> interrupts{0};
std::atomic<int> expiries{0};
double limit_s = 0;
timer_t timer{};
struct sigaction old_interrupt, old_timer;

constexpr double grace_s = 2.0;  // CPU seconds a script gets to notice before the process ends
int timer_signal() {
  return SIGRTMIN + 1;
}

void ignore_tick(void*, lua_State*, int, int) {}

void stop_hook(lua_State* L, lua_Debug*) {
  char message[120];
  if (stop_reason() == StopReason::timeout) {
    std::snprintf(message, sizeof message, "stopped after %g s of CPU time (--timeout)", limit_s);
  } else {
    std::snprintf(message, sizeof message, "interrupted");
  }
  raise(L, message);
}

void arm(StopReason reason) {
  int none = 0;
  stop.compare_exchange_strong(none, static_cast<int>(reason));
  if (lua_State* L = owner.load()) {
    lua_sethook(L, stop_hook, LUA_MASKCOUNT, 1);  // not calls: message handlers must run
    ::raise(SIGPROF);
  }
}

void end_process(const char* message, int status) {
  const ssize_t ignored = write(STDERR_FILENO, message, std::strlen(message));
  (void)ignored;
  _exit(status);
}

void on_interrupt(int) {
  if (interrupts.fetch_add(1) >= 2) end_process("rooflua: interrupted three times\n", 130);
  arm(StopReason::interrupted);
}

void on_timer(int) {
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

timespec to_timespec(double seconds) {
  timespec out{};
  out.tv_sec = static_cast<time_t>(seconds);
  out.tv_nsec = static_cast<long>((seconds - static_cast<double>(out.tv_sec)) * 1e9);
  return out;
}

void start_timer(double timeout_s) {
  limit_s = timeout_s;
  expiries = 0;
  set_handler(timer_signal(), on_timer, &old_timer);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = timer_signal();
  if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) != 0) {
    throw Error("--timeout", "this system has no CPU-time timers");
  }
  itimerspec when{};
  when.it_value = to_timespec(timeout_s);
  when.it_interval = to_timespec(grace_s);
  timer_settime(timer, 0, &when, nullptr);
}

}  // namespace

const std::atomic<int>& stop_requested() {
  return stop;
}
StopReason stop_reason() {
  return static_cast<StopReason>(stop.load());
}

Interrupt::Interrupt(lua_State* L, bool ctrl_c, double timeout_s)
    : ctrl_c_(ctrl_c), timeout_s_(timeout_s) {
  if (!ctrl_c && timeout_s <= 0) return;
  lua_State* nobody = nullptr;
  if (!owner.compare_exchange_strong(nobody, L)) return;
  active_ = true;
  stop = 0;
  interrupts = 0;
  luaJIT_profile_start(L, "li1000000000", ignore_tick, nullptr);
  if (ctrl_c) set_handler(SIGINT, on_interrupt, &old_interrupt);
  if (timeout_s > 0) start_timer(timeout_s);
}

Interrupt::~Interrupt() {
  if (!active_) return;
  if (timeout_s_ > 0) {
    timer_delete(timer);
    sigaction(timer_signal(), &old_timer, nullptr);
  }
  if (ctrl_c_) sigaction(SIGINT, &old_interrupt, nullptr);
  lua_State* L = owner.exchange(nullptr);
  lua_sethook(L, nullptr, 0, 0);
  luaJIT_profile_stop(L);
}

void Interrupt::clear() {
  if (!active_) return;
  lua_sethook(owner.load(), nullptr, 0, 0);
  stop = 0;
  interrupts = 0;
  if (timeout_s_ > 0 && expiries.exchange(0) > 0) {
    // the limit counts once; a further script of the same VM starts a new one
    itimerspec when{};
    when.it_value = to_timespec(timeout_s_);
    when.it_interval = to_timespec(grace_s);
    timer_settime(timer, 0, &when, nullptr);
  }
}

}  // namespace rooflua::script
