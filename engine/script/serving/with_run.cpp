#include <string>

#include "base/error.h"
#include "script/serving/run.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

constexpr int deepest = 16;  // simulations inside each other

void refuse_busy(const Run& run, const char* call) {
  if (!run.asking.busy) return;
  const char* callback = run.asking.callback;
  throw Error(std::string("live:") + call,
              std::string("this simulation is busy: it ") +
                  (callback != nullptr ? "asks " + std::string(callback) : "runs") +
                  "; a callback can read now_s of it and use other simulations");
}

/// The memory of the engine that a simulation shares with the one around it, restored at the end.
class SharedMemory {
 public:
  SharedMemory(Asking& asking, lua_State* L, ServeState& state, Context& context)
      : asking_(asking), state_(state), context_(context), serve_(state), ledger_(context.ledger) {
    asking_.L = L;
    asking_.busy = true;
    ++context_.simulations;
  }
  ~SharedMemory() {
    asking_.busy = false;
    --context_.simulations;
    const std::int32_t change = state_.border.change;
    state_ = serve_;
    state_.border.change = change + 1;
    context_.ledger = ledger_;
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Whether a policy or an explanation around this call goes on when it returns.
  bool something_around() const {
    return context_.simulations > 1 || ledger_.listening != 0 || ledger_.corrected != 0;
  }
  /// Whether this call left corrections of its scenario in force.
  bool left_corrections() const { return context_.ledger.corrected != 0; }
  /// Nothing is asked, priced or listened to.
  void clear() {
    const std::int32_t change = state_.border.change;
    state_ = ServeState{};
    state_.border.change = change + 1;
    context_.ledger = Ledger{};
  }

 private:
  Asking& asking_;
  ServeState& state_;
  Context& context_;
  ServeState serve_;
  Ledger ledger_;
};

/// What the library shares (scripts/lib/rooflua/border/nested.lua), set aside where there is
/// something around.
class SharedInLua {
 public:
  SharedInLua(lua_State* L, bool nested) : L_(L) {
    if (!nested) return;
    library_function(L, "rooflua.border.nested", "enter").push(L);
    lua_call(L, 0, 1);
    kept_ = LuaReference(L);
  }
  /// To be called at the end, also after an exception, but not while Lua raises an error.
  void leave(const SharedMemory& memory) const {
    if (!kept_ && !memory.left_corrections()) return;
    library_function(L_, "rooflua.border.nested", "leave").push(L_);
    kept_ ? kept_.push(L_) : lua_pushnil(L_);
    if (lua_pcall(L_, 1, 0, 0) != 0) lua_pop(L_, 1);  // a Ctrl-C: nothing around goes on
  }

 private:
  lua_State* L_;
  LuaReference kept_;
};

}  // namespace

int with_run(lua_State* L, const char* call, int (*native)(lua_State*, Run&)) {
  // Held, so that a callback cannot free it.
  const std::shared_ptr<const Run> held = check_object<Run>(L, 1, "simulation");
  Run& run = const_cast<Run&>(*held);
  refuse_busy(run, call);
  Context& context = context_of(L);
  if (context.simulations >= deepest) {
    throw Error(std::string("live:") + call, std::to_string(deepest) +
                                                 " simulations run inside each other's policies; "
                                                 "no more are allowed");
  }
  SharedMemory memory(run.asking, L, serve_state(L), context);
  const SharedInLua lua(L, memory.something_around());
  memory.clear();
  try {
    const int results = native(L, run);
    lua.leave(memory);
    return results;
  } catch (const std::exception&) {
    lua.leave(memory);
    throw;
  }
}

}  // namespace rooflua::script
