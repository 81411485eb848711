#pragma once
// Stops a running script from outside, compiled code too: Ctrl-C and a CPU-time limit.
//
// Count hooks never fire in compiled traces. With the line profiler on (its timer never ticks),
// every trace holds a guard per line; a signal arms a hook and raises SIGPROF, the guard fails, the
// interpreter takes over and the hook raises a Lua error. The hook stays armed, so that a script
// that catches the error is stopped again; clear() disarms it after the outermost call.
//
// LuaJIT keeps one profiler per process: the first living Interrupt owns it, others do nothing.

#include <atomic>
#include <string>

struct lua_State;

namespace rooflua::script {

enum class StopReason : int { none, interrupted, timeout };

class Interrupt {
 public:
  /// @param ctrl_c     handle SIGINT; the second one says that the third one ends the process, with
  ///                   status 130; a key held down counts once
  /// @param timeout_s  CPU seconds of this process from now on; 0 = no limit
  Interrupt(lua_State* L, bool ctrl_c, double timeout_s);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// True where this one owns the signals; false where another VM of the process does.
  bool active() const { return active_; }
  void clear();

 private:
  bool active_ = false;
  bool ctrl_c_ = false;
  double timeout_s_ = 0;
};

/// While one lives, the first Ctrl-C only sets stop_requested(), and the engine's loop ends between
/// two instants, where a simulation can go on later. A script that does not come back within
/// `patience_s` is stopped wherever it is.
class StopGently {
 public:
  static constexpr double patience_s = 0.05;
  StopGently();
  ~StopGently();
  StopGently(const StopGently&) = delete;
  StopGently& operator=(const StopGently&) = delete;
};

/// Not 0 once somebody wants the script to stop. Loops of the engine look here at every instant.
const std::atomic<int>& stop_requested();
StopReason stop_reason();
/// "interrupted", or which limit passed.
std::string stop_message();

/// Takes note of a stop and lifts it: the hook and the timer are off, so that what is known can be
/// reported and files be closed. Later signals stop nothing any more (the third Ctrl-C still ends
/// the process). Answers why; `none` if nobody asked to stop.
StopReason absorb_stop();

/// Why something was last stopped in this process; survives clear() and absorb_stop().
StopReason last_stop();

/// In a forked worker: the time limit counts from here (timers are not inherited), and SIGTERM,
/// by which the parent passes a Ctrl-C on, stops as SIGINT does, however often it comes.
void continue_in_worker();

/// The time limit counts from now: for the next of several runs in one worker.
void restart_time_limit();

}  // namespace rooflua::script
