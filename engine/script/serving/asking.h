#pragma once
// A simulation that asks a policy is busy. A script cannot use it before the answer: a policy that
// steps, changes, copies or closes the simulation that asks it would pull the ground from under it.

struct lua_State;

namespace rooflua::script {

/// Whom a simulation asks. Its policies point to it.
struct Asking {
  lua_State* L = nullptr;          // the thread of Lua in which the simulation goes on now
  const char* callback = nullptr;  // "its scheduler (plan)"; null: it asks none
  bool busy = false;               // a script's call of the simulation has not returned
};

/// What a simulation asks, and what is copied with it.
class OfSimulation {
 public:
  virtual ~OfSimulation() = default;
  /// The simulation that a copy belongs to.
  virtual void belong_to(Asking& asking) = 0;
};

/// While it lives, a callback is asked.
class Ask {
 public:
  Ask(Asking& asking, const char* callback) : asking_(asking), before_(asking.callback) {
    asking_.callback = callback;
  }
  ~Ask() { asking_.callback = before_; }
  Ask(const Ask&) = delete;
  Ask& operator=(const Ask&) = delete;

 private:
  Asking& asking_;
  const char* before_;
};

}  // namespace rooflua::script
