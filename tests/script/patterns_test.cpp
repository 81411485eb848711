// The engine's pattern functions have the results of LuaJIT's, and can be stopped.

#include <csignal>
#include <thread>

#include "tests/scratch.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Matches of hours each, one for every kind of item that backtracks.
const char* const explosive[] = {
    "local s = ('a'):rep(5000) local x = s:find('.-.-.-.-.-.-x') return x",
    "local s = ('a'):rep(5000) local x = s:match('a*a*a*a*a*a*b') return x",
    "local s = ('a'):rep(5000) local x = s:gsub('[^b]+[%a]+[a-z]+[^x]+b', '') return x",
    "local s = ('a'):rep(5000) for x in s:gmatch('(a-)(a-)(a-)(a-)(a-)b') do return x end",
    "local s = ('a'):rep(60) local x = s:find(('a?'):rep(60) .. ('a'):rep(60) .. 'b') return x",
    "local s = ('('):rep(1e6) local x = s:find('%b()') return x",
    "local s = ('a'):rep(1e5) local x = s:find('[' .. ('b'):rep(1e6) .. ']') return x",
};

}  // namespace

TEST_CASE("the engine's pattern functions give what LuaJIT's give, on random patterns and texts") {
  const std::string questions = R"lua(
    local stock = {}
    for _, name in ipairs { "find", "match", "gmatch", "gsub" } do
      stock[name] = select(2, require("debug").getupvalue(string[name], 1))
      assert(type(stock[name]) == "function" and stock[name] ~= string[name])
    end
    local state = SEED
    local function random(n)
      state = (state * 16807) % 2147483647
      return state % n + 1
    end
    local items = { "a", "b", "0", " ", ".", "%a", "%A", "%d", "%s", "%w", "%W", "%p", "%x", "%u", "%l", "%c",
      "%g", "%z", "%Z", "%.", "%-", "%%", "[ab]", "[^a]", "[a-c]", "[%d_]", "[]a]", "[^]a]", "[a-]", "[%]]", "[a",
      "\0", "\200", "[\128-\255]", "%f[%w]", "%f[%W]", "%b()",
                    "%bab", "%1", "%2", "(", ")", "()", "(a)", "(.-)", "^", "$", "-", "*", "?", "%",
                    "[", "]", "%b", "%f"
}
local suffixes = {"", "", "", "*", "+", "-", "?"} local letters = {"a", "b",  "c",    "A",  "0",
                                                                   "7", " ",  "_",    "(",  ")",
                                                                   ".", "\0", "\200", "\n", "-",
                                                                   "%", "^",  "$"} local function
text(most)
      local out = {}
      for i = 1, random(most) - 1 do out[i] = letters[random(#letters)] end
      return table.concat(out)
    end
    local function pattern()
      local out = { random(5) == 1 and "^" or "" }
      for i = 1, random(5) do
        out[#out + 1] = items[random(#items)]
        out[#out + 1] = suffixes[random(#suffixes)]
      end
      if random(6) == 1 then out[#out + 1] = "$" end
      return table.concat(out)
    end
    local replacements = { "", "<%0>", "%1%1", "x%%", "%2", "%", "%a", 7, true, { a = "A", ["0"] = 1, b = false },
      function(...) return select("#", ...) .. tostring((...)) end, function() return nil end,
      function() return {} end }
    local function answer(f, ...)
      local results, n = { pcall(f, ...) }, 0
      for i = 1, table.maxn(results) do results[i], n = tostring(results[i]), i end
      return table.concat(results, "|", 1, n)
    end
    local function all(f, s, p)
      local out = {}
      for a, b in f(s, p) do
        out[#out + 1] = tostring(a) .. "," .. tostring(b)
        if #out > 30 then break end
      end
      return table.concat(out, ";")
    end
    local matched = 0
    local function same(name, ...)
      local own, expected
      if name == "gmatch" then
        own, expected = answer(all, string.gmatch, ...), answer(all, stock.gmatch, ...)
      else
        own, expected = answer(string[name], ...), answer(stock[name], ...)
      end
      if own ~= expected then 
        error(("%s(%q, %q): %q, LuaJIT: %q"):format(name, (...), (select(2, ...)), own, expected), 0)
      end
      if own:find("true|", 1, true) == 1 and own ~= "true|nil" then matched = matched + 1 end
    end
    for _ = 1, 400 do
      local s, p = text(14), pattern()
      local from = random(4) == 1 and random(40) - 20 or nil
      local most = random(4) == 1 and random(4) - 2 or nil
      same("find", s, p, from)
      same("find", s, p, from, true)
      same("match", s, p, from)
      same("gmatch", s, p)
      same("gsub", s, p, replacements[random(#replacements)], most)
    end
    for _, f in ipairs { "find", "match", "gsub" } do
      for _, arguments in ipairs { {}, { "a" }, { {}, "a" }, { "a", {} }, { "a", "a", {} }, { 12, 2, "x" } } do
        same(f, unpack(arguments))
      end
    end
    assert(not pcall(string.gmatch) and not pcall(string.gmatch, "a") and not pcall(string.gmatch, {}, "a"))
    return matched
  )lua";
  script::VmOptions options = sandbox_options();
  options.trusted = true;
  script::Vm vm(options);
  int matched = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    std::string text = questions;
    text.replace(text.find("SEED"), 4, std::to_string(seed * 7919));
    matched += std::stoi(run(vm, text));
  }
  CHECK(matched > 20000);  // of 80,000 random patterns: enough of them were well formed
}

TEST_CASE("the time limit stops a pattern that would take for ever") {
  script::VmOptions options = sandbox_options();
  options.timeout_s = 0.1;
  for (const bool trusted : {false, true}) {
    options.trusted = trusted;
    script::Vm vm(options);
    for (const char* text : explosive) {
      INFO(text);
      CHECK(complaint(vm, text) == "test.lua:1: stopped after 0.1 s of CPU time (--timeout)");
      CHECK(run(vm, "return 1 + 1") == "2");
    }
  }
}

TEST_CASE("Ctrl-C stops a pattern with the line that asked for it") {
  script::VmOptions options = sandbox_options();
  options.interruptible = true;
  script::Vm vm(options);
  std::thread user(interrupt_busy_process);
  const std::string message =
      complaint(vm, "local s = ('a'):rep(5000)\nlocal x = s:find('.-.-.-.-.-.-x') return x");
  user.join();
  CHECK(message == "test.lua:2: interrupted");
}

TEST_CASE("steps of a pattern count as instructions while a scenario loads") {
  script::VmOptions options = sandbox_options();
  options.load_instructions = 2e6;
  script::Vm vm(options);
  const auto file = rooflua::test::scratch() / "explosive_pattern_test.lua";
  for (const char* text : explosive) {
    INFO(text);
    std::FILE* out = std::fopen(file.c_str(), "w");
    std::fprintf(out, "local title\ntitle = (function() %s end)()\nreturn {}\n", text);
    std::fclose(out);
    std::string message;
    try {
      vm.call("rooflua.sandbox.chunks", "load_scenario", {Json(file.string())});
    } catch (const script::LuaError& error) {
      message = error.what();
    }
    CHECK(has(message, "explosive_pattern_test.lua:2: stopped: loading ran too many instructions"));
  }
  std::filesystem::remove(file);
}

TEST_CASE("string.rep says when a text would be too long, and copies as before otherwise") {
  script::Vm vm(sandbox_options());
  CHECK(complaint(vm, "local x = string.rep('x', 1e10)") ==
        "test.lua:1: string.rep: a text of 10000000000 bytes; the longest has 2147483392");
  CHECK(has(complaint(vm, "return #('ab'):rep(1e9, ',')"), "a text of 3000000000 bytes"));
  CHECK(run(vm,
            "return ('ab'):rep(3) .. ('ab'):rep(2, ',') .. ('x'):rep(0) .. ('x'):rep(-1) .. "
            "(''):rep(1e15) .. ('y'):rep(1, ',')") == "abababab,aby");
}
