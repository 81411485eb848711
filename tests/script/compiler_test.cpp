// LuaJIT's compiler: the log of what it could not compile, and its one known miscompilation.

#include <algorithm>

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
