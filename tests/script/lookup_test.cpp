#include <fstream>

#include "tests/scratch.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// A folder with one table in the layout of InferSim, and the Lua text that opens it.
class Tables {
 public:
  Tables() : folder_(rooflua::test::scratch() / "lookup") {
    std::filesystem::create_directories(folder_ / "gemm" / "h20");
    std::ofstream(folder_ / "gemm" / "h20" / "data.csv")
        << "m,k,n,latency_us,mfu\n16,4096,4096,10,0.1\n64,4096,4096,20,0.2\n";
  }
  ~Tables() { std::filesystem::remove_all(folder_); }
  std::string open() const {
    return "local mfu, policy, cost = require 'rooflua.mfu', require 'rooflua.policy', require "
           "'rooflua.cost'\n"
           "local db = mfu.open { path = '" +
           folder_.string() + "', layout = 'infersim', gpu = 'h20' }\n";
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("a function in Lua can be the lookup, and is asked once per shape") {
  const Tables tables;
  script::Vm vm(sandbox_options());
  CHECK(run(vm, tables.open() + R"(
    local calls, seen = 0, nil
    local mine = db:with(function(t, query)
      calls = calls + 1
      seen = query.op .. " " .. query.m .. " " .. #t.rows .. " " .. t.rows[2].latency_s .. " " .. t.axes[1]
      return query.m * 1e-6, "assumed"
    end)
    local latency, evidence
    for i = 1, 1000 do
      local _, e = mine:gemm(32, 4096, 4096)
      latency, evidence = e.latency_s, e.evidence
    end
    return calls .. ": " .. seen .. ": " .. latency .. " " .. evidence
  )") == "1: gemm 32 2 2e-05 m: 3.2e-05 assumed");
}

TEST_CASE("a lookup sees the tables of its own database, whatever was at their address before") {
  const Tables tables;
  script::VmOptions options = sandbox_options();
  options.trusted = true;
  script::Vm vm(options);
  CHECK(run(vm, tables.open() + "local function reopen() " + tables.open() + " return db end" + R"(
    local shown
    for round = 1, 60 do
      local seen
      local again = reopen()
      local mine = again:with(function(t) seen = t; return 1, "assumed" end)
      mine:gemm(round, 4096, 4096)
      if shown and rawequal(shown, seen) then return "round " .. round .. " saw another's table" end
      shown = seen
      again, mine = nil, nil
      collectgarbage()
    end
    return "each its own"
  )") == "each its own");
}

TEST_CASE("an explanation may ask a lookup in Lua") {
  const Tables tables;
  script::Vm vm(sandbox_options());
  CHECK(run(vm, tables.open() + R"(
    local mine = db:with(function(t, query) return 1e-5, "assumed" end, { name = "mine" })
    local tree = cost.explain(function() return (cost.gemm(mine, 32, 4096, 4096, "fp8")) end)
    return tree.rows[1].note
  )") == "assumed: lookup mine over gemm/h20/data.csv");
}

TEST_CASE("a policy can be the lookup, returning an MFU") {
  const Tables tables;
  script::Vm vm(sandbox_options());
  CHECK(run(vm, tables.open() + R"(
    local Flat = policy.define { name = "flat", doc = "One MFU.", returns = "mfu",
      params = { mfu = { default = 0.5, doc = "The MFU." } } }
    function Flat:lookup(_, query) return self.mfu, "stand_in" end
    local value, e = db:with(Flat { mfu = 0.25 }):gemm(32, 4096, 4096)
    return value .. " " .. e.evidence
  )") == "0.25 stand_in");
}

TEST_CASE(
    "a lookup in Lua can ask the database that it replaces, also from compiled loops and "
    "coroutines") {
  const Tables tables;
  script::Vm vm(sandbox_options());
  CHECK(run(vm, tables.open() + R"(
    local mine = db:with(function(_, query)
      local _, e = db:gemm(64, query.k, query.n, 'fp8')
      return e.latency_s * 2, e.evidence
    end)
    local sum = 0
    for m = 1, 300 do sum = sum + select(2, mine:gemm(m, 4096, 4096)).latency_s end
    local inside = coroutine.wrap(function() return select(2, mine:gemm(301, 4096, 4096)).latency_s end)()
    return string.format("%.6f %.6f", sum, inside)
  )") == "0.012000 0.000040");
}

TEST_CASE("what a lookup in Lua returns is checked") {
  const Tables tables;
  script::Vm vm(sandbox_options());
  const auto trouble = [&](const std::string& body) {
    return complaint(vm, tables.open() + "local mine = db:with(function(t, query) " + body +
                             " end)\nlocal m = mine:gemm(8, 64, 64)");
  };
  CHECK(has(trouble("return nil"), "expected a number as first result, found nil"));
  CHECK(has(trouble("return -1"), "expected a positive number"));
  CHECK(has(trouble("return 0/0"), "expected a positive number"));
  CHECK(has(trouble("return 1, 'good'"), "unknown evidence 'good'"));
  CHECK(has(trouble("error 'from the lookup'"), "from the lookup"));
  CHECK(has(trouble("while true do error {} end"), "not text"));
  CHECK(run(vm, tables.open() + "return select(2, db:gemm(16, 4096, 4096, 'fp8')).latency_s") ==
        "1e-05");
  CHECK(has(complaint(vm, tables.open() + "local m = db:with(function() end, { return_ = 1 })"),
            "did you mean 'returns'"));
  CHECK(has(complaint(vm, tables.open() + "local m = db:with 'nearst'"), "nearest"));
}

TEST_CASE("any op can be looked up by the fields of its own") {
  script::Vm vm(sandbox_options());
  const std::string open = "local mfu = require 'rooflua.mfu' local db = mfu.open 'h200-sxm'\n";
  CHECK(
      run(vm,
          open +
              "local _, a = db:lookup { op = 'gemm', m = 8, k = 64, n = 64 } local x = a.latency_s "
              "local _, b = db:gemm(8, 64, 64) return tostring(x == b.latency_s)") == "true");
  CHECK(has(complaint(vm, open + "local m = db:lookup { op = 'gem' }"), "did you mean 'gemm'"));
  CHECK(has(complaint(vm, open + "local m = db:lookup { op = 'gemm', m = 8, k = 64, nn = 64 }"),
            "unknown field 'nn'"));
  CHECK(has(complaint(vm, open + "local m = db:lookup { op = 'gemm', m = 8, k = 64, n = '64' }"),
            "n: expected a number"));
  CHECK(has(complaint(vm, open + "local m = db:lookup { op = 'attention_decode', heads = 32.5, "
                                 "kv_heads = 8, head_dim = 128, batch = 1, context_tokens = 5 }"),
            "heads: expected a whole number"));
}

TEST_CASE("tables and rows can be listed") {
  const Tables tables;
  script::Vm vm(sandbox_options());
  CHECK(run(vm, tables.open() + "local t = db:tables() local r = db:rows(t[1].name) "
                                "return #t .. ' ' .. #r .. ' ' .. r[1].m .. ' ' .. r[1].latency_s "
                                ".. ' ' .. r[2].listed_mfu") == "1 2 16 1e-05 0.2");
  CHECK(
      has(complaint(vm, tables.open() + "local r = db:rows 'nothing'"), "unknown table 'nothing'"));
  CHECK(run(vm, tables.open() + "return type(db:report().text)") == "string");
}
