// What scripts catch: no stop, and no line of the library.

#include <fstream>

#include "tests/scratch.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Each level of a recursion catches what ends it, and goes on.
constexpr const char* catching[] = {
    "local function f() pcall(f) f() end f()",
    "local function f() xpcall(f, tostring) f() end f()",
    "local function f() coroutine.resume(coroutine.create(f)) f() end f()",
    "local function f() pcall(coroutine.wrap(f)) f() end f()",
    "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) pcall(function() "
    "return "
    "t[k] end) return t[k] end local x = t.x",
    "local function f() while true do pcall(f) end end f()",
    "local t = {} setmetatable(t, {__tostring = function() pcall(tostring, t) return tostring(t) "
    "end}) tostring(t)",
    "local function f() for i in function() pcall(f) f() end do end end f()",
    "local function f() pcall(table.sort, {1, 2, 3}, f) f() end f()",
    "local function f() pcall(string.gsub, 'aa', 'a', f) f() end f()",
};

}  // namespace

TEST_CASE("a stop passes through every level that catches it") {
  script::VmOptions options = sandbox_options();
  options.timeout_s = 60;  // with a defect this test fails instead of hanging
  options.load_cpu_s = 0.2;
  script::Vm vm(options);
  const auto file = rooflua::test::scratch() / "rooflua_catching_test.lua";
  for (const char* text : catching) {
    INFO(text);
    std::ofstream(file) << "\n" << text << "\nreturn {}\n";
    const double start_s = cpu_s();
    std::string message;
    try {
      vm.call("rooflua.sandbox.chunks", "load_scenario", {Json(file.string())});
    } catch (const script::LuaError& error) {
      message = error.what();
    }
    CHECK(has(message, "rooflua_catching_test.lua:2: stopped: loading ran too many instructions"));
    CHECK(cpu_s() - start_s < 5);
  }
  std::filesystem::remove(file);
}

TEST_CASE("the time limit passes through every level that catches it") {
  script::VmOptions options = sandbox_options();
  options.timeout_s = 0.3;
  options.load_instructions = 0;
  script::Vm vm(options);
  for (const char* text : catching) {
    INFO(text);
    const double start_s = cpu_s();
    const std::string message = complaint(vm, text);
    INFO(message);
    // Coroutines are nested 150 times at most: their recursion may end before the limit.
    CHECK((has(message, "stopped after 0.3 s of CPU time") ||
           (has(text, "coroutine") && has(message, "stack overflow"))));
    CHECK(cpu_s() - start_s < 2);
  }
}

TEST_CASE("an error names a line of the user, whichever function raised it") {
  script::Vm vm(sandbox_options());
  for (const char* call : {"coroutine.wrap(5)",
                           "coroutine.create()",
                           "coroutine.resume(1)",
                           "rawset(1, 2, 3)",
                           "rawset({}, nil, 1)",
                           "setmetatable(1, 2)",

                           "tostring()",
                           "next(5)",
                           "pairs(5)",
                           "table.sort({1, 'a'})",
                           "table.insert(1)",
                           "table.concat({{}})",
                           "string.rep({})",
                           "('x'):rep({})",
                           "string.format('%d', 'x')",
                           "string.format()",

                           "math.floor('x')",
                           "require(5)",
                           "require 'no.such'",
                           "select(0)",
                           "unpack(5)",
                           "ipairs()",
                           "error('m', 2)",
                           "table.move(1, 2, 3, 4)",
                           "table.foreach(5)",
                           "bit.bor('x')",
                           "coroutine.wrap(error)('m')"}) {
    INFO(call);
    const std::string text = complaint(vm, std::string("local x = 1\n") + call + "\n");
    CHECK_FALSE(has(text, "rooflua."));
    CHECK(starts(text, has(call, "error") || has(call, "sort") ? "" : "test.lua:2: "));
    CHECK_FALSE(text.empty());
    const std::string caught =
        run(vm, std::string("return select(2, pcall(function() ") + call + " end))");
    CHECK_FALSE(has(caught, "rooflua."));
  }
}
