#include "script/vm/compiler.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "script/vm/stack.h"

namespace rooflua::script {

namespace {

/// Reads the length of a table that grows through another reference. Returns whether it was right,
/// and whether the loop was compiled, or nothing is compiled in this state.
constexpr const char* length_loop = R"(
  local util = require "jit.util"
  local function free_trace()
    local trace = 1
    while util.traceinfo(trace) do trace = trace + 1 end
    return trace
  end
  jit.off(free_trace)
  local trace = free_trace()
  local grown = {}
  local seen = { list = grown }
  for i = 1, 300 do
    grown[#grown + 1] = i
    if #seen.list ~= i then return false, true end
  end
  return true, not jit.status() or util.traceinfo(trace) ~= nil
)";

/// A loop that is not compiled says nothing of compiled code: one may fail to be by chance, for
/// LuaJIT puts off what failed, and looks for memory near itself at random places.
constexpr int attempts = 8;

enum class Lengths { right, wrong, not_compiled };

/// Every attempt is a chunk of its own, with its own counters.
Lengths lengths_of(lua_State* L, const std::string& loop) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (luaL_loadbuffer(L, loop.data(), loop.size(), "=self-test") != 0 ||
        lua_pcall(L, 0, 2, 0) != 0) {
      throw Error("LuaJIT",
                  std::string("the start-up self-test failed: ") + lua_tostring(L, -1));
    }
    const bool right = lua_toboolean(L, -2) != 0, compiled = lua_toboolean(L, -1) != 0;
    lua_pop(L, 2);
    if (!right) return Lengths::wrong;
    if (compiled) return Lengths::right;
  }
  return Lengths::not_compiled;
}

void set_option(lua_State* L, const char* option) {
  lua_getglobal(L, "jit");
  lua_getfield(L, -1, "opt");
  lua_getfield(L, -1, "start");
  lua_pushstring(L, option);
  if (lua_pcall(L, 1, 0, 0) != 0) {
    const std::string message = lua_tostring(L, -1);
    throw Error("LuaJIT", "jit.opt.start(" + std::string(option) + "): " + message);
  }
  lua_pop(L, 2);
}

/// The file that LuaJIT was loaded from, without links.
std::string luajit_file() {
  Dl_info file{};
  if (dladdr(reinterpret_cast<const void*>(&lua_gettop), &file) == 0 || file.dli_fname == nullptr)
    return "an unknown file";
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(file.dli_fname, failed);
  return printable(failed ? file.dli_fname : real.string());
}

}  // namespace

bool is_luajit(lua_State* L) {
  lua_getglobal(L, "jit");
  const bool there = lua_type(L, -1) == LUA_TTABLE;
  lua_pop(L, 1);
  return there;
}

std::string mend_lengths(lua_State* L, const std::string& loop) {
  const Lengths found = lengths_of(L, loop.empty() ? length_loop : loop);
  if (found == Lengths::right) return "";
  set_option(L, "-fwd");
  const std::string off = "; load forwarding is off, scripts run slower";
  if (found == Lengths::wrong)
    return "the LuaJIT of " + luajit_file() + " compiles table lengths wrongly" + off +
           ". On Debian and Ubuntu this mends it: sudo apt-get install libluajit2-5.1-2 (it takes the "
           "place of libluajit-5.1-2, which the package luajit brings)";
  return "the LuaJIT of " + luajit_file() + " compiled none of " + std::to_string(attempts) +
         " loops, so that its table lengths are not tested" + off;
}

void prepare_compiler(lua_State* L) {
  if (const std::string warning = mend_lengths(L); !warning.empty()) log::warn(warning);
  // hotloop: with LuaJIT's 56 turns the start of `hello` changed the protection of compiled code
  // 785 times, with 200 it does 477 times. What a simulation runs, it runs thousands of times.
  for (const char* option :
       {"maxmcode=8192", "maxtrace=4000", "maxrecord=8000", "tryside=64", "maxside=1000",
        "hotloop=200"}) {
    set_option(L, option);
  }
}

}  // namespace rooflua::script
