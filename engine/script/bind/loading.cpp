// Natives for the limit on loading: a scenario may take so many instructions, and so much CPU time,
// to load or be checked. The time counts for calls that do much in few instructions.

#include <cstring>
#include <ctime>

#include "script/vm/context.h"
#include "script/vm/interrupt.h"

namespace rooflua::script {

namespace {

constexpr int hook_period = 1000;
// The library may run this much longer, so that it can return to end_loading.
constexpr double library_grace = 1e6;

double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Once the budget is spent, every further instruction of the user's code raises the error, so that
/// a script that catches the error cannot go on. The library's own code may still return, because
/// the library calls begin_loading and end_loading.
void load_hook(lua_State* L, lua_Debug* at) {
  Context& context = context_of(L);
  // Natives that work long call it themselves, without a place.
  const bool is_one = context.load_over && at != nullptr;
  if (!context.load_spent) context.load_budget -= is_one ? 1 : hook_period;
  if (context.load_budget > 0 && cpu_s() > context.load_end_s) context.load_budget = 0;
  if (context.load_budget > 0) return;
  const bool grace = context.load_spent || context.load_budget > -library_grace;
  if (grace && !in_user_code(L)) {
    // A loop whose length divides the period would be met in the library every time.
    if (!context.load_over) lua_sethook(L, load_hook, LUA_MASKCOUNT, 1);
    context.load_over = true;
    return;
  }
  if (!context.load_spent) lua_sethook(L, load_hook, LUA_MASKCOUNT, 1);
  context.load_spent = true;
  raise(L, context.load_words.c_str());
}

/// begin_loading(words): until end_loading the compiler is off, and a count hook limits how many
/// instructions run. `words` is the error message when they are spent.
int begin_loading(lua_State* L) {
  Context& context = context_of(L);
  context.load_words = check_text(L, 1, "begin_loading");
  if (context.options.load_instructions <= 0) return 0;
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  context.load_budget = context.options.load_instructions;
  context.load_spent = context.load_over = false;
  context.load_end_s = cpu_s() + context.options.load_cpu_s;
  if (lua_gethook(L) == nullptr) lua_sethook(L, load_hook, LUA_MASKCOUNT, hook_period);
  return 0;
}

int end_loading(lua_State* L) {
  const LibraryOptions& options = context_of(L).options;
  if (lua_gethook(L) == load_hook) lua_sethook(L, nullptr, 0, 0);
  if (options.jit) luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON);
  return 0;
}

/// is_stopped(): whether the script was stopped, by a signal or by the limit on loading.
int is_stopped(lua_State* L) {
  const bool spent = lua_gethook(L) == load_hook && context_of(L).load_spent;
  lua_pushboolean(L, static_cast<int>(spent || is_stopping(L)));
  return 1;
}

/// stop_again(problem): where the script was stopped, raises the error of the stop; it is
/// `problem`, or `problem` was raised in its place, because the stack had no room for it.
int stop_again(lua_State* L) {
  Context& context = context_of(L);
  const bool limited = lua_gethook(L) == load_hook;
  // No hook runs where the stack is full, and a script that catches its overflow may stay there.
  if (limited && !context.load_spent && cpu_s() > context.load_end_s) {
    context.load_budget = 0;
    context.load_spent = true;
    lua_sethook(L, load_hook, LUA_MASKCOUNT, 1);
  }
  const bool spent = limited && context.load_spent;
  if (!spent && !is_stopping(L)) return 0;
  lua_settop(L, 1);
  lua_pushstring(L, spent ? context.load_words.c_str() : stop_message().c_str());
  const bool is_it = lua_type(L, 1) == LUA_TSTRING &&
                     std::strstr(lua_tostring(L, 1), lua_tostring(L, 2)) != nullptr;
  return is_it ? raise_as_it_is(L, lua_tostring(L, 1)) : raise(L, lua_tostring(L, 2));
}

}  // namespace

void bind_loading(lua_State* L) {
  set_function(L, "begin_loading", guarded<begin_loading>);
  set_function(L, "end_loading", guarded<end_loading>);
  set_function(L, "is_stopped", guarded<is_stopped>);
  set_function(L, "stop_again", stop_again);
}

}  // namespace rooflua::script
