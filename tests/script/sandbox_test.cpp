#include "tests/script/sandbox.h"

#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("a sandboxed script sees the allow-list and nothing else") {
  script::Vm vm(sandbox_options());
  const std::string names = run(vm, R"(
    local found = {}
    for _, name in ipairs { "io", "os", "debug", "package", "jit", "ffi", "load", "loadstring", "loadfile",
        "dofile", "getfenv", "setfenv", "newproxy", "collectgarbage", "module", "_G", "gcinfo" } do
      if pcall(function() return assert(loadstring) end) then found[#found + 1] = name end
    end
    return table.concat(found, " ")
  )");
  CHECK(names.empty());
  for (const char* name :
       {"io", "os", "debug", "package", "jit", "ffi", "load", "loadstring", "loadfile", "dofile",
        "getfenv", "setfenv", "newproxy", "collectgarbage", "module", "_G"}) {
    INFO(name);
    CHECK(
        has(complaint(vm, std::string("return ") + name), std::string("unknown global '") + name));
  }
  CHECK(run(vm, "return string.dump == nil and table.concat{bit.bor(1, 2), math.floor(2.5)}") ==
        "32");
}

TEST_CASE("reading or assigning an undeclared global is an error with line and suggestion") {
  script::Vm vm(sandbox_options());
  CHECK(starts(complaint(vm, "\nreturn tabel"),
               "test.lua:2: unknown global 'tabel'; did you mean 'table'"));
  CHECK(starts(complaint(vm, "\n\ntotal = 1"),
               "test.lua:3: assigning the undeclared global 'total'"));
}

TEST_CASE("no module of the library's inside can be required") {
  script::Vm vm(sandbox_options());
  for (const char* name : {"ffi",
                           "jit",
                           "io",
                           "os",
                           "debug",
                           "package",
                           "string",
                           "jit.util",
                           "rooflua.native",
                           "rooflua.border.abi",
                           "rooflua.base.core",
                           "rooflua.sandbox.chunks",
                           "rooflua.border.views",
                           "table.new",
                           "string.buffer",
                           "../x",
                           "/etc/passwd",
                           "lib.rooflua.abi.",
                           "..",
                           ".steps",
                           ""}) {
    INFO(name);
    CHECK(starts(complaint(vm, "local m = require '" + std::string(name) + "' return m"),
                 "test.lua:1: require"));
  }
  // A file of the library that is required by its path in scripts/ gets the sandbox's globals.
  CHECK(!complaint(vm, "return require 'lib.rooflua.abi'").empty());
  CHECK(!complaint(vm, "return require 'lib.rooflua.chunks'").empty());
}

TEST_CASE("bytecode is not loaded") {
  const auto file = rooflua::test::scratch() / "rooflua_bytecode_test.lua";
  script::VmOptions options = sandbox_options();
  options.trusted = true;
  script::Vm vm(options);
  run(vm, "local f = io.open('" + file.string() +
              "', 'wb') f:write(string.dump(function() end)) f:close()");
  const Json path(file.string());
  CHECK_THROWS_AS(vm.call("rooflua.sandbox.chunks", "load_scenario", {path}), script::LuaError);
  CHECK(has(
      complaint(vm,
                "local r = require('rooflua.sandbox.chunks').run_text(string.dump(function() end), "
                "'x') return r"),
      "attempt to load"));
  std::filesystem::remove(file);
}

TEST_CASE("the string metatable cannot be reached or changed") {
  script::Vm vm(sandbox_options());
  CHECK(run(vm, "return getmetatable('')") == "nil");
  CHECK(has(complaint(vm, "string.upper = print"), "string is read-only (assigning 'upper')"));
  CHECK(run(vm, "return ('x'):upper() .. string.upper('y')") == "XY");
  CHECK(!complaint(vm, "setmetatable('', {})").empty());
  CHECK(!complaint(vm, "return ('x'):dump()").empty());
}

TEST_CASE("no script can change a library") {
  script::Vm vm(sandbox_options());
  for (const char* name : {"math.floor", "table.sort", "bit.bor", "coroutine.wrap", "math.mine"})
    CHECK(has(complaint(vm, std::string(name) + " = nil"), "is read-only (assigning"));
  CHECK(has(complaint(vm, "rawset(math, 'floor', 1)"), "rawset: this table is read-only"));
  CHECK(run(vm, "return math.floor(2.5) .. string.format('%d', 3)") == "23");
  CHECK(has(complaint(vm, "require('rooflua.cost').gemm = print"), "rooflua.cost is read-only"));
  CHECK(has(complaint(vm, "rawset(require 'rooflua.cost', 'gemm', print)"),
            "rawset: this table is read-only (assigning 'gemm')"));
  CHECK(has(complaint(vm, "rawset(require('rooflua.cost').flop, 'gemm', print)"),
            "rawset: this table is read-only (assigning 'gemm')"));
  CHECK(has(complaint(vm, "require('rooflua').cost = 1"), "read-only"));
  CHECK(has(complaint(vm, "setmetatable(require 'rooflua.cost', {})"), "protected metatable"));
  CHECK(has(
      complaint(vm,
                "rawset(require 'rooflua.cost', 'gemm', 1) return require('rooflua.cost').gemm()"),
      ""));
  CHECK(run(vm, "return type(require('rooflua.spec').model)") == "function");
  CHECK(has(complaint(vm, "return require('rooflua.cost').set_corrections"), "unknown field"));
}

TEST_CASE("objects of the engine give no way into their insides") {
  script::Vm vm(sandbox_options());
  const std::string start =
      "local db = require('rooflua.mfu').open 'h200-sxm' local _, e = db:gemm(1, 16, 16) "
      "local b = require('rooflua.cost').batch { decodes = 1 } ";
  CHECK(run(vm, start + "return tostring(getmetatable(db)) .. tostring(getmetatable(b)) .. "
                        "tostring(getmetatable(e))") == "nilnilfalse");
  CHECK(has(complaint(vm, start + "db.gemm = 1"), "read-only"));
  CHECK(has(complaint(vm, start + "b.tokens = 1"), "read-only"));
  CHECK(has(complaint(vm, start + "e.mfu = 1"), "read-only"));
  CHECK(!complaint(vm, start + "return b + 1").empty());
  CHECK(!complaint(vm, start + "return b[1]").empty());
  CHECK(run(vm, start + "return b.prefills[1000000000]") == "nil");
  CHECK(run(vm, start + "return b.decode_contexts[-1]") == "nil");
}

TEST_CASE("pairs visits keys in the same order in every process") {
  script::Vm vm(sandbox_options());
  CHECK(run(vm, R"(
    local t, keys = { b = 1, a = 2, [3] = 3, [1] = 4, c = 5, [true] = 6 }, {}
    for key in pairs(t) do keys[#keys + 1] = tostring(key) end
    return table.concat(keys, " ")
  )") == "true 1 3 a b c");
  CHECK(run(vm,
            "local n = 0 local t = {a = 1, b = 2} for k in pairs(t) do t.b = nil n = n + 1 end "
            "return n") == "1");
}

TEST_CASE("next goes through a table as pairs does, and an emptied table as Lua does") {
  script::Vm vm(sandbox_options());
  const std::string walk = R"(
    local function walk(t, visit)
      local keys, key, value = {}, next(t)
      while key ~= nil do
        keys[#keys + 1] = tostring(key) .. "=" .. tostring(value)
        if visit then visit(key) end
        key, value = next(t, key)
      end
      return table.concat(keys, " ")
    end
  )";
  const std::string table = " local t = { b = 1, a = 2, [3] = 3, [1] = 4, c = 5, [true] = 6 } ";
  CHECK(run(vm, walk + table + "return walk(t)") == "true=6 1=4 3=3 a=2 b=1 c=5");
  CHECK(run(vm, walk + table + "return walk(t, function(key) t[key] = nil end)") ==
        "true=6 1=4 3=3 a=2 b=1 c=5");
  CHECK(run(vm, walk + table + "walk(t) t.aa = 7 t.c = nil return walk(t)") ==
        "true=6 1=4 3=3 a=2 aa=7 b=1");
  CHECK(run(vm, walk + table + "return walk(t, function() walk(t) end)") ==
        "true=6 1=4 3=3 a=2 b=1 c=5");
  CHECK(run(vm, table + "local keys = {} for key in next, t do keys[#keys + 1] = key end "
                        "return #keys .. keys[4]") == "6a");
  CHECK(run(vm, table + "return next(t, 'aa')") == "b");
  CHECK(run(vm, table + "return tostring(next(t, 'c'))") == "nil");
  CHECK(run(vm, "return tostring(next({}))") == "nil");
  CHECK(run(vm, table + "local out = {} table.foreach(t, function(key) out[#out + 1] = "
                        "tostring(key) end) return table.concat(out, ' ')") == "true 1 3 a b c");
  CHECK(has(complaint(vm, "next()"), "test.lua:1: next: expected a table, found nil"));
}

TEST_CASE("keys without an order are refused at the user's line") {
  script::Vm vm(sandbox_options());
  for (const char* walk : {"for key in pairs(t) do end", "for key in next, t do end", "next(t)",
                           "next({}, {})", "table.foreach(t, print)"}) {
    INFO(walk);
    CHECK(has(complaint(vm, std::string("local t = { [{}] = 1, [{}] = 2 }\n") + walk),
              "test.lua:2: keys that are tables have no order that is the same in every run"));
  }
}

TEST_CASE("no word shows an address") {
  script::Vm vm(sandbox_options());
  const char* words[] = {
      "tostring({})",
      "tostring(function() end)",
      "tostring(coroutine.create(function() end))",
      "('%s %10s'):format({}, print)",
      "string.format('%s', setmetatable({}, {}))",
      "tostring(require('rooflua.json').null)",
      "select(2, pcall(error, tostring({})))",
  };
  for (const char* word : words) {
    INFO(word);
    CHECK_FALSE(has(run(vm, std::string("return ") + word), "0x"));
  }
  CHECK(run(vm, "return tostring({}) .. ('%s'):format(function() end)") == "tablefunction");
  CHECK(run(vm,
            "return tostring(setmetatable({}, { __tostring = function() return 'x: 0x1' "
            "end }))") == "x: 0x1");
  CHECK(run(vm, "return ('%%p %s %5.2f %d%%'):format(nil, 1.5, 3)") == "%p nil  1.50 3%");
  CHECK(
      has(complaint(vm, "local s = ('%-10p'):format({})"), "test.lua:1: string.format: %p shows"));
  CHECK(has(complaint(vm, "local s = ('%d'):format('x')"),
            "test.lua:1: bad argument #2 to 'format' (number expected, got string)"));
  CHECK(has(complaint(vm, "local s = string.format()"), "test.lua:1: bad argument #1 to 'format'"));
}

TEST_CASE("there is no clock and no shared random number") {
  script::Vm vm(sandbox_options());
  CHECK(has(complaint(vm, "return math.random()"), "named stream"));
  CHECK(has(complaint(vm, "math.randomseed(1)"), "named stream"));
  CHECK(has(complaint(vm, "return os.clock()"), "unknown global 'os'"));
}

TEST_CASE("scenarios cannot read files and trusted scripts can") {
  const std::string text = "return require('rooflua.json').read('/etc/hostname')";
  CHECK(has(complaint(text), "run with --trusted"));
  script::VmOptions options = sandbox_options();
  options.trusted = true;
  script::Vm vm(options);
  CHECK(
      has(complaint(vm, text), "/etc/hostname"));  // the error is about JSON, so the file was read
  CHECK(run(vm, "return type(io.open) .. type(require 'ffi')") == "functiontable");
  CHECK(starts(complaint(vm, "undeclared = 1"), "test.lua:1: assigning the undeclared global"));
}
