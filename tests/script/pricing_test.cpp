#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

const std::string start = R"(
  local cost, mfu, spec = require "rooflua.cost", require "rooflua.mfu", require "rooflua.spec"
  local hardware = spec.hardware { name = "round", architecture = "hopper", peak_flop_per_s = { bf16 = 1e15 },
    memory_bytes_per_s = 1e12, memory_bytes = 80e9, link_bytes_per_s = 1e11,
    sms = 100, clock_hz = 1e9, l2_bytes = 2^20 }
  local db = mfu.open(spec.hardware "h200-sxm")
)";

std::string value(const std::string& text) {
  script::Vm vm(sandbox_options());
  return run(vm, start + text);
}
std::string trouble(const std::string& text) {
  script::Vm vm(sandbox_options());
  return complaint(vm, start + text);
}

}  // namespace

TEST_CASE("the roofline takes the slower of arithmetic and traffic") {
  CHECK(value("return table.concat({cost.roofline(1e15, 1e12, 1e15, 0.5, 1e12)}, ' ')") ==
        "2 compute");
  CHECK(value("return table.concat({cost.roofline(1e15, 4e12, 1e15, 0.5, 1e12)}, ' ')") ==
        "4 memory");
  CHECK(has(trouble("local t = cost.roofline(1, 1, 1, 1.5, 1)"),
            "cost.roofline: mfu: expected a number in (0, 1]"));
}

TEST_CASE("memory work is bytes over bandwidth, times its count") {
  CHECK(value("return table.concat({cost.memory(hardware, 1e12, 3)}, ' ')") == "3 memory");
  CHECK(value("return cost.memory(hardware, 0)") == "0");
}

TEST_CASE("hardware written in Lua reads back the same") {
  CHECK(value("return hardware.peak_flop_per_s.bf16") == "1e+15");
  CHECK(value("return hardware.memory_bytes_per_s .. ' ' .. hardware.sms") == "1000000000000 100");
  CHECK(value("local h = spec.hardware { from = 'h200-sxm', memory_bytes_per_s = 1e12 } "
              "return h.memory_bytes_per_s .. ' ' .. h.sms") == "1000000000000 132");
  CHECK(has(trouble("local h = spec.hardware { memory_bytes = 80e9 }"),
            "needs 'memory_bytes_per_s'"));
  CHECK(has(trouble("local h = spec.hardware { form = 'h200-sxm' }"), "did you mean 'from'"));
}

TEST_CASE("an answer says what it rests on, and its view keeps the last answer of its database") {
  CHECK(value("local m, e = db:gemm(64, 4096, 4096) return tostring(m == e.mfu and e.latency_s > 0 "
              "and e.rows >= 0)") == "true");
  CHECK(value("local _, a = db:gemm(64, 4096, 4096) local first = a.latency_s db:gemm(4096, 4096, "
              "4096) "
              "return tostring(a.latency_s > first)") == "true");
  CHECK(value("local _, e = db:gemm(64, 4096, 4096) return type(e.note) .. type(e.evidence)") ==
        "stringstring");
}

TEST_CASE("explain lists every primitive and its shares sum to one") {
  CHECK(value(R"(
    local tree = cost.explain(function()
      return cost.gemm(db, 64, 4096, 4096, "bf16", 32, "qkv") + cost.memory(hardware, 1e9, 1, "norm")
        + cost.record("mine", 1e-3, "assumed", 2, 10, 20, 0.5, "compute", "a guess")
    end)
    local names, share = {}, 0
    for i, row in ipairs(tree.rows) do names[i] = row.name end
    for _, part in pairs(tree.evidence) do share = share + part end
    assert(math.abs(share - 1) < 1e-12)
    local sum = 0
    for _, row in ipairs(tree.rows) do sum = sum + row.time_s * row.count end
    assert(math.abs(sum / tree.time_s - 1) < 1e-12)
    return table.concat(names, " ") .. " " .. tree.rows[3].note
  )") == "qkv norm mine a guess");
}

TEST_CASE("what is explained inside leaves the account outside alone") {
  CHECK(value(R"(
    local outer = cost.explain(function()
      cost.record("a", 1, "measured")
      local inner = cost.explain(function() return cost.record("b", 3, "assumed") end)
      assert(inner.time_s == 3 and inner.evidence.assumed == 1)
      return 1
    end)
    return outer.evidence.measured .. " " .. tostring(outer.evidence.assumed) .. " " .. #outer.rows
  )") == "1 nil 1");
}

TEST_CASE("a memoized function gives the same time and replays its evidence") {
  CHECK(value(R"(
    local calls = 0
    local f = cost.memoize(function(m)
      calls = calls + 1
      return cost.record("a", m, "measured") + cost.record("b", 3 * m, "assumed")
    end)
    local g = cost.memoize2(function(a, b) return cost.record("c", a + b / 16, "modelled") end)
    -- count evidence without listening: through an outer memo's replay
    local tree = cost.explain(function() return f(1) + f(1) end)
    assert(calls == 2, "listening bypasses the memo")
    assert(f(1) == 4 and f(1) == 4 and calls == 3)
    assert(g(3, 8) == 3.5 and g(3, 8) == 3.5 and g(8, 3) == 8.1875 and g(0.5, 16) == 1.5)
    return tree.evidence.measured
  )") == "0.25");
}

TEST_CASE("corrections change times, show as rows and never change evidence") {
  script::VmOptions options = sandbox_options();
  options.trusted = true;
  script::Vm vm(options);
  CHECK(run(vm, R"(
    local cost, policy = require "rooflua.cost", require "rooflua.policy"
    local Half = policy.define { name = "half", doc = "Halves.", params = {} }
    function Half:op(op, time_s)
      if op.kind ~= "a" then return time_s end
      return time_s / 2
    end
    cost.set_corrections { Half {} }
    local tree = cost.explain(function()
      return cost.record("a", 8, "measured") + cost.record("b", 1, "assumed")
    end)
    cost.reset()
    local f = cost.memoize(function(x) return cost.record("a", x, "measured") end)
    assert(f(8) == 4 and f(8) == 4)
    local shares = cost.shares()
    cost.set_corrections {}
    local row = tree.corrections[1]
    return tree.time_s .. " " .. #tree.rows .. " " .. row.time_s .. " " .. row.name .. " "
      .. tree.evidence.measured .. " " .. shares.measured
  )") == "5 2 -4 half 0.8 1");
}

TEST_CASE("settling assumes what a step takes beyond its records, and spreads what overlaps") {
  script::VmOptions options = sandbox_options();
  options.trusted = true;
  script::Vm vm(options);
  CHECK(run(vm, R"(
    local cost = require "rooflua.cost"
    cost.reset() cost.record("a", 1, "measured") cost.record("b", 3, "modelled") cost.settle(8)
    local longer = cost.shares()
    cost.reset() cost.record("a", 1, "measured") cost.record("b", 3, "modelled") cost.settle(2)
    local shorter = cost.shares()
    cost.reset() cost.settle(2)
    return longer.measured .. " " .. longer.modelled .. " " .. longer.assumed .. ", " ..
      shorter.measured .. " " .. shorter.modelled .. ", " .. cost.shares().assumed
  )") == "0.125 0.375 0.5, 0.25 0.75, 1");
}

TEST_CASE("a batch counts what it holds") {
  CHECK(value(R"(
    local b = cost.batch {
      prefills = { { new_tokens = 100, context_tokens = 20 }, { new_tokens = 5, completes = false } },
      decode_contexts = { 7, 9, 8 } }
    assert(#b.prefills == 2 and b.prefills[1].context_tokens == 20 and b.prefills[2].completes == false)
    assert(b.prefills[3] == nil and b.prefills[0] == nil and b.prefills[0/0] == nil and b.prefills.x == nil)
    assert(#b.decode_contexts == 3 and b.decode_contexts[2] == 9 and b.decode_contexts[4] == nil)
    return b.decodes .. " " .. b.decode_context_tokens .. " " .. b.decode_context_max .. " "
      .. b.tokens .. " " .. b.requests .. " " .. b.sampled
  )") == "3 24 9 108 5 4");
  CHECK(value("local b = cost.batch { decodes = 4, decode_context_tokens = 10 } return "
              "b.decode_context_max .. ' ' .. b.decode_contexts[1]") == "3 2.5");
  CHECK(has(trouble("local b = cost.batch { decodes = 1.5 }"), "decodes: expected a whole number"));
  CHECK(has(trouble("local b = cost.batch { prefill = {} }"), "did you mean 'prefills'"));
  CHECK(has(trouble("local b = cost.batch { prefills = { { new_tokens = 0 } } }"),
            "prefills[1].new_tokens"));
}

TEST_CASE("formulas are there by name and count their arguments") {
  CHECK(value("return cost.flop.gemm(2, 3, 4)") == "48");
  CHECK(value("return cost.flop.causal_pairs(4, 0)") == "10");
  CHECK(has(trouble("local x = cost.flop.gemm(1)"),
            "cost.flop.gemm: expected 3 numbers (m, k, n), found 1"));
  CHECK(has(trouble("local x = cost.flop.gem"), "did you mean 'gemm'"));
}
