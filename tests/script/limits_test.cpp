#include <algorithm>
#include <csignal>
#include <ctime>
#include <fstream>
#include <thread>

#include "script/vm/interrupt.h"
#include "tests/scratch.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr const char* runaways[] = {
    "while true do end",
    "for i = 1, 1e15 do end",
    "local t = {} while true do for i = 1, 100 do t[i] = i end end",
    "local function f() return f() end return f()",
    "repeat pcall(function() while true do end end) until false",
    "repeat xpcall(function() while true do end end, function() while true do end end) until false",
    "repeat xpcall(function() while true do end end, function(e) error(e) end) until false",
    "xpcall(function() while true do end end, function() pcall(function() while true do end end) "
    "end)",
    "xpcall(error, function() while true do end end)",
    "local co = coroutine.wrap(function() xpcall(function() while true do end end, function() "
    "while "
    "true do end end) end) while true do co() end",
    "local co = coroutine.wrap(function() while true do end end) co()",
    "while true do local t = {1, 2, 3} end",
    "local s = 0 while true do s = s + #tostring(s) end",
};

}  // namespace

TEST_CASE("the time limit stops every kind of endless loop, compiled and interpreted") {
  for (const bool jit : {true, false}) {
    script::VmOptions options = sandbox_options();
    options.timeout_s = 0.1;
    options.jit = jit;
    options.load_instructions = 0;
    script::Vm vm(options);
    for (const char* text : runaways) {
      INFO(text << (jit ? " compiled" : " interpreted"));
      const double start_s = cpu_s();
      const std::string message = complaint(vm, text);
      CHECK(starts(message, "test.lua:1: "));
      CHECK(has(message, "stopped after 0.1 s of CPU time"));
      CHECK(cpu_s() - start_s < 1.5);
    }
    CHECK(run(vm, "return 1 + 1") == "2");  // the VM can still be used
  }
}

TEST_CASE("a handler of xpcall sees every error but that of a stop") {
  script::Vm vm(sandbox_options());
  CHECK(
      run(vm, "return select(2, xpcall(error, function(e) return e .. ' seen' end, 'an error'))") ==
      "an error seen");
  CHECK(run(vm, "return select('#', xpcall(function(...) return ... end, error, 1, nil, nil))") ==
        "4");
  CHECK(complaint(vm, "xpcall(error, nil)") ==
        "test.lua:1: bad argument #2 to 'xpcall' (function expected, got nil)");
}

TEST_CASE("the text of an error may not run without end either") {
  const std::string text =
      "error(setmetatable({}, { __tostring = function() while true do end end }))";
  script::VmOptions options = sandbox_options();
  options.timeout_s = 0.1;
  {
    script::Vm vm(options);
    CHECK(has(complaint(vm, text), "stopped after 0.1 s of CPU time"));
  }
  options.timeout_s = 30;  // with a defect this test fails instead of hanging
  options.load_instructions = 1e6;
  script::Vm vm(options);
  const auto file = rooflua::test::scratch() / "rooflua_error_test.lua";
  std::ofstream(file) << text << "\n";
  try {
    vm.call("rooflua.sandbox.chunks", "load_scenario", {Json(file.string())});
    FAIL("it was loaded");
  } catch (const script::LuaError& error) {
    CHECK(has(error.what(), "loading ran too many instructions"));
  }
  std::filesystem::remove(file);
}

TEST_CASE("Ctrl-C stops a compiled loop with its line") {
  script::VmOptions options = sandbox_options();
  options.interruptible = true;
  script::Vm vm(options);
  for (int i = 0; i < 3; ++i) {
    std::thread user(interrupt_busy_process);
    const std::string message = complaint(vm, "local i = 0\nwhile true do i = i + 1 end");
    user.join();
    CHECK(message == "test.lua:2: interrupted");
  }
  CHECK(run(vm, "return 'alive'") == "alive");
}

TEST_CASE("only one VM of a process owns the signals") {
  script::VmOptions options = sandbox_options();
  options.interruptible = true;
  script::Vm first(options);
  script::Vm second(options);
  CHECK(run(second, "return 2") == "2");
}

TEST_CASE("a scenario that computes while it loads is stopped, whatever it catches") {
  const char* texts[] = {
      "while true do n = n + 1 end",
      "while true do pcall(function() while true do n = n + 1 end end) end",
      "while true do xpcall(error, function() while true do n = n + 1 end end) end",
      "while true do xpcall(function() while true do end end, function() while true do end end) "
      "end",
      "xpcall(function() while true do end end, function() return xpcall(function() while true do "
      "end "
      "end, function() while true do end end) end) while true do end",
      "while true do pcall(coroutine.wrap(function() while true do n = n + 1 end end)) end",
      "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
      "while true do pcall(pcall, function() while true do end end) end",
      "while true do pcall(string.find, ('a'):rep(5000), '.-.-.-.-.-.-x') end",
      "table.move({}, 1, 1e9, 2)",
      "table.move({}, -1e9, 0, -1e9)",
  };
  script::VmOptions options = sandbox_options();
  options.load_instructions = 1e6;
  options.timeout_s = 30;  // with a defect this test fails instead of hanging
  script::Vm vm(options);
  const auto file = rooflua::test::scratch() / "rooflua_endless_test.lua";
  for (const char* text : texts) {
    INFO(text);
    std::ofstream(file) << "local n = 0\n" << text << "\nreturn {}\n";
    std::string message;
    try {
      vm.call("rooflua.sandbox.chunks", "load_scenario", {Json(file.string())});
    } catch (const script::LuaError& error) {
      message = error.what();
    }
    CHECK(has(message, "rooflua_endless_test.lua:2: stopped: loading ran too many instructions"));
    CHECK(run(vm, "local n = 0 for i = 1, 1e7 do n = n + 1 end return n") == "10000000");
  }
  std::filesystem::remove(file);
}

TEST_CASE("loading is stopped by its time where calls do much in few instructions") {
  script::VmOptions options = sandbox_options();
  options.load_cpu_s = 0.2;
  script::Vm vm(options);
  const auto file = rooflua::test::scratch() / "rooflua_slow_test.lua";
  for (const char* call : {"require 'rooflua.json'.encode(t)", "table.concat(t)",
                           "require 'rooflua'.spec.model 'llama-3.1-8b'"}) {
    INFO(call);
    std::ofstream(file) << "local t = {} for i = 1, 1e5 do t[i] = i end\nfor i = 1, 1e9 do " << call
                        << " end\nreturn {}\n";
    const double start_s = cpu_s();
    std::string message;
    try {
      vm.call("rooflua.sandbox.chunks", "load_scenario", {Json(file.string())});
    } catch (const script::LuaError& error) {
      message = error.what();
    }
    CHECK(has(message, "rooflua_slow_test.lua:2: stopped: loading ran too many instructions"));
    CHECK(cpu_s() - start_s < 60);  // without the limit they take minutes
  }
  std::filesystem::remove(file);
}

TEST_CASE("one long sort is stopped before it ends, however the list is compared") {
  script::VmOptions options = sandbox_options();
  options.load_instructions = 1e6;
  script::Vm vm(options);
  const auto file = rooflua::test::scratch() / "rooflua_sort_test.lua";
  for (const char* order : {"", ", function(a, b) return a < b end", ", rawequal"}) {
    INFO(order);
    std::ofstream(file) << "local t = {} for i = 1, 50000 do t[i] = i * 7919 % 50021 end\n"
                        << "table.sort(t" << order << ")\nerror 'it was sorted'\n";
    std::string message;
    try {
      vm.call("rooflua.sandbox.chunks", "load_scenario", {Json(file.string())});
    } catch (const script::LuaError& error) {
      message = error.what();
    }
    CHECK(has(message, "rooflua_sort_test.lua:2: stopped: loading ran too many instructions"));
  }
  std::filesystem::remove(file);
}

TEST_CASE("a long list is sorted as a short one is") {
  script::Vm sandboxed(sandbox_options());
  const std::string list = "local t = {} for i = 1, 3001 do t[i] = i * 7919 % 3001 end ";
  CHECK(run(sandboxed, list + "table.sort(t) return t[1] .. ' ' .. t[1501] .. ' ' .. t[3001]") ==
        "0 1500 3000");
  CHECK(run(sandboxed, list + "for i = 1, #t do t[i] = ('%04d'):format(t[i]) end table.sort(t) "
                              "return t[1] .. ' ' .. t[1501] .. ' ' .. t[3001]") ==
        "0000 1500 3000");
  CHECK(complaint(list + "t[7] = 'x' table.sort(t)") == "attempt to compare string with number");
  CHECK(has(complaint(list + "table.sort(t, 5)"), "test.lua:1: bad argument #2 to 'sort'"));
  CHECK(has(complaint("table.sort(5)"), "test.lua:1: bad argument #1 to 'sort'"));
}

TEST_CASE("table.insert and table.move do what LuaJIT's do, and refuse what would not end") {
  script::Vm sandboxed(sandbox_options());
  CHECK(run(sandboxed,
            "local t = {1, 2, 3} table.insert(t, 1, 0) table.insert(t, 5, 4) table.insert(t, 5) "
            "return table.concat(t, ' ')") == "0 1 2 3 4 5");
  CHECK(run(sandboxed, "return table.concat(table.move({1, 2, 3, 4}, 1, 3, 2), ' ')") == "1 1 2 3");
  CHECK(run(sandboxed, "return table.concat(table.move({1, 2, 3, 4}, 2, 4, 1), ' ')") == "2 3 4 4");
  CHECK(run(sandboxed, "return table.concat(table.move({1, 2}, 1, 2, 3, {7, 8}), ' ')") ==
        "7 8 1 2");
  CHECK(run(sandboxed, "return #table.move({1, 2}, 2, 1, 1)") == "2");
  CHECK(complaint("table.insert({}, -2 ^ 31, 1)") ==
        "test.lua:1: table.insert: expected a position of at least 1, found number -2147483648");
  CHECK(has(complaint("table.insert(5, 1)"), "bad argument #1 to 'insert'"));
  CHECK(has(complaint("table.insert({}, 1, 2, 3)"), "wrong number of arguments to 'insert'"));
  CHECK(has(complaint("table.move({}, 1)"), "table.move: last: expected a number, found nil"));
}

TEST_CASE("a check is bounded as loading is: a policy that does not answer is an error") {
  script::VmOptions options = sandbox_options();
  options.load_instructions = 3e7;
  script::Vm vm(options);
  const auto file = rooflua::test::scratch() / "rooflua_stuck_test.lua";
  const char* stuck[] = {"function S:bind() while true do end end function S:time() return 1 end",
                         "function S:time() while true do end end"};
  for (const char* methods : stuck) {
    INFO(methods);
    std::ofstream(file) << "local policy = require 'rooflua.policy'\n"
                        << "local S = policy.define { name = 's', doc = 'd', params = {} }\n"
                        << methods << "\nreturn { rooflua = 1, model = 'llama-3.1-8b',\n"
                        << "  hardware = 'h200', steps = S {}, vary = { seed = { 1, 2, 3 } },\n"
                        << "  workload = require 'workloads.poisson' {} }\n";
    const Json checked = vm.call("rooflua.program.check", "file", {Json(file.string())});
    CHECK(checked.find("errors")->number() == 1);
    const Json& finding = checked.find("findings")->items().at(0);
    CHECK(finding.find("line")->number() == 3);
    CHECK(has(finding.find("message")->text(), "stopped: checking ran too many instructions"));
  }
  std::filesystem::remove(file);
}

TEST_CASE("a memory cap turns bombs into an error and leaves the VM healthy") {
  script::VmOptions options = sandbox_options();
  options.memory_bytes = std::size_t{64} << 20;
  script::Vm vm(options);
  const char* bombs[] = {
      "local t = {} for i = 1, 1e9 do t[i] = i end",
      "local t = {} for i = 1, 1e9 do t[i] = {} end",
      "local s = 'x' while true do s = s .. s end",
      "return #string.rep('x', 2e9)",
      "local t = {} while true do t[#t + 1] = function() return t end end",
      "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
      "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
      "local t = {} for i = 1, 1e5 do t[i] = ('x'):rep(1e4) end return table.concat(t)",
      "return ('x'):rep(1e6):gsub('x', ('y'):rep(1e4))",
      "return ('x'):rep(1e6):gsub('.', function(x) return x:rep(1e4) end)",
      ("local t = {} for i = 1, 200 do t[i] = ('x'):rep(1e6) end return "
       "('%s'):rep(200):format(unpack(t))"),
      "local t = {} for x in ('x'):rep(1e7):gmatch('.') do t[#t + 1] = {x} end",
  };
  for (int round = 0; round < 2; ++round) {
    for (const char* bomb : bombs) {
      INFO(bomb);
      CHECK(has(complaint(vm, bomb), "not enough memory"));
      CHECK(run(vm, "return 1 + 1") == "2");
    }
  }
}

TEST_CASE("deep recursion is an error, not a signal") {
  script::VmOptions options = sandbox_options();
  options.timeout_s = 5;
  script::Vm vm(options);
  CHECK(has(complaint(vm, "local function f(n) return 1 + f(n + 1) end return f(1)"),
            "stack overflow"));
  CHECK(has(
      complaint(
          vm,
          "local t = {} for i = 1, 1e5 do t = {t} end return require('rooflua.json').encode(t)"),
      "nested too deeply"));
  CHECK(has(complaint(vm, "return require('rooflua.json').decode(('['):rep(1e5))"),
            "nested more than"));
  CHECK(!complaint(vm, "return ('x'):rep(1e5):find(('.-'):rep(1e4) .. 'y')").empty());
  CHECK(!complaint(vm,
                   "local function f() return pcall(f) and 1 or error('deep') end local function "
                   "g() return f() + g() end return g()")
             .empty());
  CHECK(!complaint(vm,
                   "local t = setmetatable({}, {}) getmetatable(t).__index = function(s, k) return "
                   "s[k] end return t.x")
             .empty());
  const char* deep[] = {
      "local function f() return coroutine.wrap(f)() end local x = f() return x",
      "local function f() return (('x'):gsub('.', f)) end local x = f() return x",
      "local t = setmetatable({}, {}) getmetatable(t).__tostring = function(s) return tostring(s) "
      ".. '' end return tostring(t)",
      "local function f() table.sort({2, 1, 3}, function(a, b) f() return a < b end) end f()",
      "local t = setmetatable({}, {__eq = function(a, b) return a == b end}) local u = "
      "setmetatable({}, getmetatable(t)) return t == u",
      "local c = setmetatable({}, {}) getmetatable(c).__concat = function(a, b) return a .. b end "
      "return c .. c",
      "local t = {} for i = 1, 1e6 do t[i] = i end return select('#', unpack(t))",
      "local e = require('rooflua.cost').explain local function f() return e(f).time_s end local x "
      "= f() return x",
      "local m = require('rooflua.cost').memoize local g local f = m(function(k) return g(k + 1) "
      "end) g = f local x = f(1) return x",
  };
  for (const char* text : deep) {
    INFO(text);
    CHECK(!complaint(vm, text).empty());
    CHECK(run(vm, "return 1 + 1") == "2");
  }
}

TEST_CASE("deep recursion is an error in a thread of another program") {
  std::string found;
  std::thread([&] {
    script::VmOptions options = sandbox_options();
    options.owns_process = false;
    script::Vm vm(options);
    found = complaint(vm, "local function f() return (('x'):gsub('.', f)) end return (f())");
  }).join();
  CHECK(has(found, "stack overflow"));
}

TEST_CASE("a batch kept past its step is an error") {
  script::VmOptions options = sandbox_options();
  options.trusted = true;
  script::Vm vm(options);
  const std::string text = R"(
    local batch, border = require "rooflua.border.batch", require("rooflua.border.views").border
    local data = require("ffi").new "rooflua_batch"
    data.decodes, data.tokens, border.batch = 3, 3, data
    batch.attach(function() return 7 end, function() return nil end)
    local now = batch.live()
    local list = now.decode_contexts
    assert(now.decodes == 3 and now.decode_context_max == 7)
    local later = batch.live()
    assert(not pcall(function() return now.decodes end) and later.decodes == 3)
    assert(not pcall(function() return #list end))
    border.batch_live = 0
    local stale = later.tokens
    return stale
  )";
  CHECK(complaint(vm, text) == "test.lua:13: this batch was used after its step");
}

TEST_CASE("errors inside callbacks come out with their own line") {
  script::Vm vm(sandbox_options());
  const std::string start = "local cost, mfu = require 'rooflua.cost', require 'rooflua.mfu'\n";
  CHECK(complaint(vm, start + "cost.explain(function() error 'mine' end)") == "test.lua:2: mine");
  CHECK(complaint(vm, start + "cost.memoize(function() error 'mine' end)(1)") ==
        "test.lua:2: mine");
  CHECK(has(complaint(vm, start + "error {}"), "not text"));
  CHECK(
      has(complaint(
              vm, start + "error(setmetatable({}, {__tostring = function() return 'shown' end}))"),
          "shown"));
  CHECK(has(complaint(vm, start + "error()"), "not text"));
}

TEST_CASE("a coroutine can price, and yield in the middle of explain is an error") {
  script::Vm vm(sandbox_options());
  const std::string start =
      "local cost, mfu = require 'rooflua.cost', require 'rooflua.mfu'\n"
      "local db = mfu.open 'h200-sxm'\n";
  CHECK(run(vm, start + "return coroutine.wrap(function() coroutine.yield(cost.gemm(db, 1, 16, 16) "
                        "> 0) end)()") == "true");
  const std::string yields = start +
                             "local co = coroutine.wrap(function() cost.explain(function() "
                             "coroutine.yield(1) end) return 2 end)\n"
                             "co() local r = co() return r";
  CHECK(run(vm, yields) == "2");
}

TEST_CASE("a number of exact requests that is none is an error with its key") {
  script::Vm vm(sandbox_options());
  for (const char* wrong : {"1.5", "-1", "1e300", "0/0", "'x'", "{}"}) {
    INFO(wrong);
    const std::string message = complaint(
        vm,
        std::string("local serve = require 'rooflua.serve'\nserve.run { model = 'llama-3.1-8b', "
                    "hardware = 'h200', metrics = { exact_requests = ") +
            wrong +
            " }, workload = require 'workloads.poisson' { rate_per_s = 1, num_requests = 1, "
            "prompt_tokens = 1, output_tokens = 1 } }");
    CHECK(starts(message, "test.lua:2: "));
    CHECK(has(message, "exact_requests: expected a whole number"));
  }
}
