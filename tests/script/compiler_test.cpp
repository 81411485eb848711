// LuaJIT's compiler: the log of what it could not compile, and its one known miscompilation.

#include <algorithm>
#include <filesystem>
#include <memory>

#include "script/vm/compiler.h"
#include "script/vm/stack.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("the JIT log names the line that was not compiled, and why") {
  script::VmOptions options = sandbox_options();
  options.jit_log = true;
  script::Vm vm(options);
  run(vm, "local t = {}\nfor i = 1, 1000 do\n  t[i % 10] = function() return i end\nend");
  const auto lines = vm.jit_log();
  REQUIRE(!lines.empty());
  // The lines that the compiler tries first depend on addresses; this line is always among them.
  const bool named = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return starts(line, "test.lua:3: not compiled: NYI: bytecode FNEW");
  });
  CHECK(named);
}

TEST_CASE("this LuaJIT compiles table lengths right, or load forwarding is off") {
  script::Vm vm(sandbox_options());
  CHECK(run(vm, R"(
    local wrong = 0
    local grown = {}
    local seen = { list = grown }
    for i = 1, 1000 do
      grown[#grown + 1] = i
      if #seen.list ~= i then wrong = wrong + 1 end
    end
    return wrong
  )") == "0");
}

namespace {

/// A state of LuaJIT with its libraries, and nothing of ours.
struct Plain {
  Plain() { luaL_openlibs(L.get()); }
  bool forwards() {
    REQUIRE(luaL_dostring(L.get(), "for _, flag in ipairs { jit.status() } do"
                                   " if flag == 'fwd' then return true end end") == 0);
    return lua_toboolean(L.get(), -1) != 0;
  }
  std::unique_ptr<lua_State, void (*)(lua_State*)> L{luaL_newstate(), lua_close};
};

/// The part of a warning between "the LuaJIT of " and the verb.
std::string named_file(const std::string& warning, const std::string& verb) {
  const std::string head = "the LuaJIT of ";
  REQUIRE(starts(warning, head));
  const std::size_t end = warning.find(verb);
  REQUIRE(end != std::string::npos);
  return warning.substr(head.size(), end - head.size());
}

}  // namespace

TEST_CASE("a LuaJIT whose lengths are right keeps load forwarding, without a word") {
  Plain plain;
  CHECK(plain.forwards());
  if (script::mend_lengths(plain.L.get()).empty()) CHECK(plain.forwards());
}

TEST_CASE("wrong lengths turn load forwarding off, and the warning names the file of LuaJIT") {
  Plain plain;
  const std::string warning = script::mend_lengths(plain.L.get(), "return false, true");
  CHECK(std::filesystem::is_regular_file(named_file(warning, " compiles table lengths wrongly")));
  CHECK(warning.find("mends it: sudo apt-get install libluajit2-5.1-2 (it takes the place") !=
        std::string::npos);
  CHECK(!plain.forwards());
}

TEST_CASE("lengths that no compiled loop has read are not taken as right") {
  Plain plain;
  const std::string never = "rounds = (rounds or 0) + 1 return true, false";
  const std::string warning = script::mend_lengths(plain.L.get(), never);
  CHECK(std::filesystem::is_regular_file(named_file(warning, " compiled none of 8 loops")));
  CHECK(!plain.forwards());
  lua_getglobal(plain.L.get(), "rounds");
  CHECK(lua_tointeger(plain.L.get(), -1) == 8);
}

TEST_CASE("a loop that is compiled late is tested late, and no compiler needs no test") {
  Plain late;
  CHECK(script::mend_lengths(late.L.get(), "rounds = (rounds or 0) + 1 return true, rounds == 3") ==
        "");
  CHECK(late.forwards());
  Plain off;
  luaJIT_setmode(off.L.get(), 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  CHECK(script::mend_lengths(off.L.get()) == "");
}
