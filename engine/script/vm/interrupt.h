#pragma once
// Stops a running script, compiled code included, on Ctrl-C or when a limit of CPU time has passed.
//
// LuaJIT never calls count hooks in compiled traces. With the line profiler on (its timer never
// ticks), every trace tests a flag in each line. A signal handler installs a hook and raises
// SIGPROF, which sets that flag; the trace is left, the interpreter calls the hook, and the hook
// raises a Lua error. The hook stays installed, so that a script that catches the error is stopped
// again; clear() removes it after the outermost call.
//
// LuaJIT has one profiler per process: the first living Interrupt owns it, and others do nothing.

#include <atomic>
#include <string>

struct lua_State;

namespace rooflua::script {

enum class StopReason : int { none, interrupted, timeout };

class Interrupt {
 public:
  /// @param ctrl_c     handle SIGINT. The second SIGINT prints that the third one ends the process
  ///                   (with status 130). A key that is held down counts once.
  /// @param timeout_s  CPU seconds of this process from now on; 0 = no limit
  Interrupt(lua_State* L, bool ctrl_c, double timeout_s);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// True if this object owns the signals; false if that of another VM in this process does.
  bool active() const { return active_; }
  void clear();

 private:
  bool active_ = false;
  bool ctrl_c_ = false;
  double timeout_s_ = 0;
};

/// While an object of this class lives, the first Ctrl-C only sets stop_requested(). The engine's
/// loop then ends between two instants, and the simulation can be continued later. A script that
/// does not return within `patience_s` is stopped by the hook, at whatever line it is.
class StopGently {
 public:
  static constexpr double patience_s = 0.05;
  StopGently();
  ~StopGently();
  StopGently(const StopGently&) = delete;
  StopGently& operator=(const StopGently&) = delete;
};

/// Not 0 after Ctrl-C or the time limit. Loops of the engine read it at every instant.
const std::atomic<int>& stop_requested();
StopReason stop_reason();
/// "interrupted", or the limit that has passed.
std::string stop_message();

/// Whether the hook that stops this script is set: every further line raises its error.
bool is_stopping(lua_State* L);

/// Whether CPU time is limited.
bool has_time_limit();

/// Ends the stopping: removes the hook and stops the timer, so that partial results can be reported
/// and files closed. Later signals have no effect, except that the third Ctrl-C ends the process.
/// @return the reason of the stop; `none` if there was none
StopReason absorb_stop();

/// The reason of the last stop in this process. clear() and absorb_stop() do not reset it.
StopReason last_stop();

/// From now on TERM (a time limit of the cluster, a node that is drained) stops this process like
/// the first Ctrl-C: workers end, and what is known can be printed. For commands that run and end.
void stop_on_terminate();

/// A shell's status for a program that was stopped by Ctrl-C (130) or TERM (143).
int interrupted_status();

/// Called in a forked worker: starts the time limit, because timers are not inherited. SIGTERM, by
/// which the parent forwards a Ctrl-C, stops the script as SIGINT does, however often it arrives.
void continue_in_worker();

/// Starts the time limit again, for the next of several runs in one worker.
void restart_time_limit();

}  // namespace rooflua::script
