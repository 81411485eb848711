-- Corrections: the operations that each changes, and those that it leaves unchanged.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"
local batch = rooflua.cost.batch

local function op(kind, bound, evidence)
  return { name = kind, kind = kind, bound = bound or "compute", evidence = evidence or "modelled" }
end
local prefill = batch { prefills = { { new_tokens = 10, context_tokens = 0 } } }
local decode = batch { decodes = 2, decode_context_tokens = 20 }

test("prefill_divisor divides prefill attention and nothing else", function()
  local correction = require "corrections.prefill_divisor" { divisor = 2.0 }
  test.equal(correction:op(op "attention_prefill", 1.0), 0.5)
  test.equal(correction:op(op "mla_prefill", 1.0), 0.5)
  test.equal(correction:op(op "attention_decode", 1.0), 1.0)
  test.equal(correction:op(op "gemm", 1.0), 1.0)
end)

test("bandwidth_efficiency slows down memory-bound operations that are not measured", function()
  local correction = require "corrections.bandwidth_efficiency" { efficiency = 0.5 }
  test.equal(correction:op(op("gemm", "memory"), 1.0), 2.0)
  test.equal(correction:op(op("gemm", "compute"), 1.0), 1.0)
  test.equal(correction:op(op("gemm", "memory", "measured"), 1.0), 1.0)
  local all = require "corrections.bandwidth_efficiency" { efficiency = 0.5, measured_too = true }
  test.equal(all:op(op("gemm", "memory", "measured"), 1.0), 2.0)
end)

test("step_overhead adds to every step, and more with a prefill", function()
  local correction = require "corrections.step_overhead" { overhead_s = 1.0, prefill_overhead_s = 2.0 }
  test.equal(correction:step(decode, 10.0), 11.0)
  test.equal(correction:step(prefill, 10.0), 13.0)
end)

test("tp_scaling slows down by tp to what the exponent leaves", function()
  local correction = require "corrections.tp_scaling" { tp = 4, exponent = 0.5, decode_exponent = 1.0 }
  correction:bind {}
  test.near(correction:step(prefill, 1.0), 2.0, 1e-12)
  test.near(correction:step(decode, 1.0), 1.0, 1e-12)
end)

test("network adds the way between nodes to all-reduces over several of them", function()
  local function changed_s(ranks, hardware, dp, own, name)
    local correction = require "corrections.network" { latency_s = 1.0 }
    dp = dp or 1
    correction:bind { hardware = rooflua.spec.hardware(hardware), deployment = { tp = ranks / dp, dp = dp } }
    local message = { name = name or "mlp_all_reduce", kind = "all_reduce", bound = "link", bytes = 800e9,
      shape = ("bytes=800000000000 ranks=%d"):format(own or ranks) }
    test.equal(correction:op(op "gemm", 5.0), 5.0)
    test.equal(correction:op(message, 5.0), correction:op(message, 5.0))
    return correction:op(message, 5.0) - 5.0
  end
  test.equal(changed_s(8, "h100"), 0)
  test.near(changed_s(16, "h100"), 1.0 + 2.0, 1e-9) -- 2 * 1/2 of 100 GB at 50 GB/s
  test.near(changed_s(32, "h100"), 1.0 + 3.0, 1e-9) -- 2 * 3/4
  test.equal(changed_s(16, "gb200"), 0) -- 72 GPUs are in one domain
  test.equal(changed_s(16, "h100", 2, 8), 0) -- a reduction within one of two ranks of attention
  test.near(changed_s(16, "h100", 2, 16), 1.0 + 2.0, 1e-9) -- the exchange between them
  test.near(changed_s(16, "h100", 1, 16, "logits_gather"), 1.0 + 1.0, 1e-9)
  test.raises("states no network", function() changed_s(16, "l40s") end)
end)

test("norm_apart adds to the all-reduces that a norm follows, and to no other collective", function()
  local correction = require "corrections.norm_apart" { longer_s = 1.0 }
  for name, longer in pairs { attention_all_reduce = 1.0, mlp_all_reduce = 1.0, embed_all_reduce = 0, logits_gather = 0,
    attention_norm = 0 } do
    test.equal(correction:op({ name = name, kind = "all_reduce" }, 5.0), 5.0 + longer, name)
  end
end)

test("piecewise_graphs adds to each layer of a step without prompts", function()
  local correction = require "corrections.piecewise_graphs" { layer_s = 0.5 }
  correction:bind { model = rooflua.spec.model "llama-3.1-8b", deployment = { pp = 2 } }
  test.equal(correction:step({ prefills = {}, decodes = 3 }, 1.0), 1.0 + 0.5 * 16)
  test.equal(correction:step({ prefills = { {} }, decodes = 3 }, 1.0), 1.0)
end)

test("a correction reads the same texts of shapes in a run as in an explanation", function()
  local Seen = rooflua.policy.define { name = "seen", doc = "Collects the shapes that it is given." }
  local shapes
  function Seen:op(seen, time_s) -- luacheck: ignore self
    test.equal(type(seen.shape), "string", seen.name)
    shapes[seen.name .. " " .. seen.shape] = true
    return time_s
  end
  for _, steps in ipairs { "kernels", "roofline_v1", "roofline_v2", "infersim" } do
    local scenario = { model = "llama-3.1-8b", hardware = "h100", corrections = { Seen {} }, steps = steps,
      workload = require "workloads.constant" { rate_per_s = 0.01, num_requests = 2, prompt_tokens = 64,
        output_tokens = 2 } }
    shapes = {}
    rooflua.serve.run(scenario)
    local priced = shapes
    shapes = {}
    local live = rooflua.serve.open(scenario)
    while live:step(1) do live:explain(1) end
    test.check(next(priced) ~= nil, steps)
    for shape in pairs(shapes) do test.check(priced[shape], "%s: %s", steps, shape) end
  end
end)

test("a correction gets shape and work of those kinds that reads_work says, and prices are the same", function()
  local function e2e_s(own)
    return rooflua.measure.summary(rooflua.serve.run { model = "llama-3.1-8b", hardware = "h100", corrections = { own },
      workload = require "workloads.constant" { rate_per_s = 1, num_requests = 3, prompt_tokens = 64,
        output_tokens = 5 } }).e2e_s.mean
  end
  local function doubled(name, field)
    local Own = rooflua.policy.define { name = name, doc = "Twice the time of decode attention." }
    function Own:op(seen, time_s) -- luacheck: ignore self
      return seen.kind == "attention_decode" and (field == nil or seen[field]) and 2 * time_s or time_s
    end
    return Own
  end
  local Plain, Without, Listed = doubled("plain", "bytes"), doubled "without", doubled("listed", "bytes")
  Without.reads_work = false
  test.equal(e2e_s(Without {}), e2e_s(Plain {}))
  Listed.reads_work = { "gemm", "attention_decode" }
  test.equal(e2e_s(Listed {}), e2e_s(Plain {}))
  for _, field in ipairs { "shape", "flop", "bytes", "mfu", "bound" } do
    for _, reads in ipairs { false, { "gemm" } } do
      local Wrong = doubled("wrong", field)
      Wrong.reads_work = reads
      test.raises("an op: " .. field .. ": is not made for kind 'attention_decode', as the correction's reads_work "
        .. "says", function() e2e_s(Wrong {}) end)
    end
  end
end)

test("tp_scaling takes the ranks of the deployment where none are given", function()
  local function mean_e2e_s(corrections)
    return rooflua.measure.summary(rooflua.serve.run {
      model = "llama-3.1-8b", hardware = "h100", deployment = { tp = 4 }, corrections = corrections,
      workload = require "workloads.constant" { rate_per_s = 0.01, num_requests = 3, prompt_tokens = 64,
        output_tokens = 1 } }).e2e_s.mean
  end
  local TpScaling = require "corrections.tp_scaling"
  local plain, own = mean_e2e_s(nil), mean_e2e_s { TpScaling {} }
  test.equal(own, mean_e2e_s { TpScaling { tp = 4 } })
  test.equal(plain, mean_e2e_s { TpScaling { tp = 1 } })
  test.check(own > plain * 1.2, "%g s is not 1.2 times %g s", own, plain)
end)

test("decode_multiplier multiplies decode attention and nothing else", function()
  local correction = require "corrections.decode_multiplier" { multiplier = 3.0 }
  test.equal(correction:op(op "attention_decode", 1.0), 3.0)
  test.equal(correction:op(op "attention_prefill", 1.0), 1.0)
end)

test("launch_overhead adds to kernels, not to host time", function()
  local correction = require "corrections.launch_overhead" { launch_s = 0.25 }
  test.equal(correction:op(op "gemm", 1.0), 1.25)
  test.equal(correction:op(op "host", 1.0), 1.0)
end)

test("expert_imbalance multiplies routed experts and nothing else", function()
  local correction = require "corrections.expert_imbalance" { factor = 1.5 }
  test.equal(correction:op(op "grouped_gemm", 2.0), 3.0)
  test.equal(correction:op(op "gemm", 2.0), 2.0)
end)

for _, name in ipairs { "prefill_divisor", "bandwidth_efficiency", "decode_multiplier", "launch_overhead",
                        "expert_imbalance" } do
  test(name .. " never makes a time negative", function()
    local correction = require("corrections." .. name) {}
    for _, kind in ipairs { "gemm", "grouped_gemm", "attention_prefill", "attention_decode", "all_reduce" } do
      test.at_least(correction:op(op(kind, "memory"), 0.0), 0.0, kind)
    end
  end)
end

--- Whether an operation costs what it says: no correction is in force.
local function plain() return rooflua.cost.record("gemm", 1, "assumed") == 1 end

test("corrections of a live simulation hold for its own steps alone", function()
  local Twice = rooflua.policy.define { name = "twice_alone", doc = "Everything takes twice as long." }
  function Twice:op(_, time_s) return 2 * time_s end -- luacheck: ignore self
  local live = rooflua.serve.open { model = "llama-3.1-8b", hardware = "h100-sxm", corrections = { Twice {} },
    workload = require "workloads.closed_loop" { clients = 2, num_requests = 4, prompt_tokens = 100,
      output_tokens = 20 } }
  test.equal(plain(), true, "before the first step")
  live:step(5)
  test.equal(plain(), true, "after a step")
  test.at_least(#live:explain().rows, 3)
  test.equal(plain(), true, "after an explanation")
end)

local function priced(given) return kinds.run(opening.table(given), 1) end

test("corrections end with the prices of a scenario, also where one fails", function()
  local Broken = rooflua.policy.define { name = "broken", doc = "Returns no time for a batch of eight." }
  function Broken:time(item) -- luacheck: ignore self
    local time_s = rooflua.cost.record("gemm", 1, "assumed")
    return item.tokens < 5 and time_s or 0 / 0
  end
  local Thrice = rooflua.policy.define { name = "thrice", doc = "Everything takes three times as long." }
  function Thrice:op(_, time_s) return 3 * time_s end -- luacheck: ignore self
  local given = { kind = "price", model = "llama-3.1-8b", hardware = "h100-sxm", steps = Broken {},
    corrections = { Thrice {} }, price = { { decodes = 2, decode_context_tokens = 20 } } }
  test.equal(#priced(given).batches[1].rows, 2, "the operation and its correction")
  test.equal(plain(), true, "after prices")
  given.price[2] = { decodes = 8, decode_context_tokens = 20 }
  local ok, problem = pcall(priced, given)
  test.equal(ok, false)
  test.check(tostring(problem.message or problem):find "expected seconds", "%s", tostring(problem))
  test.equal(plain(), true, "after an error")
end)

test.finish()
