-- Rows, evidence and work of priced steps and of runs, over a few hundred random questions (work_laws.lua);
-- work_law_long_test.lua asks 20,000.
local cost = require "rooflua.cost"
local laws = dofile "tests/scripts/steps/work_laws.lua"
local policy = require "rooflua.policy"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"
local sampled = require "rooflua.measure.sampled"
local serve = require "rooflua.serve"
local test = dofile "tests/scripts/harness.lua"

test("random steps: rows sum to the time, evidence to 1, and nothing beats the GPU", function()
  local checked, refused, problems = laws.of_steps(1000, 400, 4)
  test.equal(#problems, 0, problems[1])
  print(("%d steps checked; %d scenarios refused"):format(checked, refused))
end)

test("the same of AMD's and Intel's GPUs", function()
  local checked, refused, problems = laws.of_steps(2000, 600, 4, { "mi300x", "mi308x", "mi325x", "mi350x", "mi355x",
    "b60" })
  test.equal(#problems, 0, problems[1])
  print(("%d steps checked; %d scenarios refused"):format(checked, refused))
end)

test("random runs: overall_mfu is the work of all steps", function()
  local checked, refused, problems, worst = laws.of_runs(1000, 20)
  test.equal(#problems, 0, problems[1])
  print(("%d runs checked, at most %.2g apart; %d scenarios refused"):format(checked, worst, refused))
end)

-- Rows -----------------------------------------------------------------------------------------------------------

local function priced(given, batch)
  given.model, given.hardware = given.model or "llama-3.1-8b", given.hardware or "h100-sxm"
  local prepared = Prepared.of(Reader.new "test", given)
  return prices.price_batch(prepared, { steps = Prepared.steps(prepared) }, cost.batch(batch))
end

local function row_of(step, name)
  for _, row in ipairs(step.rows) do
    if row.name == name then return row end
  end
end

test("the host's time outside of graphs is a row and evidence, in a step and in a run", function()
  local step = priced({ engine = "sglang 0.5.9" }, { prefills = { { new_tokens = 16 } } })
  local eager = row_of(step, "eager")
  test.check(eager and eager.time_s > 0.5 * step.time_s, "the bound has no row")
  test.equal(eager.evidence, "assumed")
  test.at_least(step.evidence.assumed, eager.time_s / step.time_s)
  local run = serve.run { model = "llama-3.1-8b", hardware = "h100-sxm", engine = "sglang 0.5.9",
    workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 50, prompt_tokens = 60,
      output_tokens = 1 } }
  test.at_least(run.summary.evidence.assumed, 0.5)
end)

test("the host's time of decodes without graphs is evidence, whether steps are priced alone or in a run", function()
  local steps = require "steps.kernels" { largest_graph = 0, eager_operation_s = 2e-4 }
  local one = priced({ steps = steps }, { decode_contexts = { 1000, 1000 } })
  test.check(row_of(one, "eager"), "the bound has no row")
  local run = serve.run { model = "llama-3.1-8b", hardware = "h100-sxm", steps = steps,
    workload = require "workloads.closed_loop" { clients = 2, num_requests = 2, prompt_tokens = 1000,
      output_tokens = 200 } }
  test.near(run.summary.evidence.assumed, one.evidence.assumed, 0.05)
end)

test("an operation that is priced with more rows counts those that there are", function()
  local step = priced({}, { decode_contexts = (function()
    local out = {}
    for i = 1, 60 do out[i] = 1000 end
    return out
  end)() })
  local qkv, head = row_of(step, "qkv"), row_of(step, "lm_head")
  test.check(qkv.shape:find "^m=60 as m=%d+ k=4096 n=6144 bf16$", qkv.shape)
  test.near(qkv.flop, 2 * 60 * 4096 * 6144, 1e-12)
  test.near(head.flop, 2 * 60 * 4096 * 128256, 1e-12)
  test.check(row_of(step, "rope").shape == "rows=60 as rows=64", row_of(step, "rope").shape)
  local short = row_of(priced({}, { decode_contexts = { 9 } }), "attention_decode")
  test.check(short.shape:find("context=10 as context=128", 1, true), short.shape)
  test.near(short.flop, 10 * 4 * 32 * 128, 1e-12)
end)

test("what corrections see of an operation is its price, however many rows there are", function()
  local seen = {}
  local Watch = policy.define { name = "watch", doc = "Notes what it sees." }
  function Watch:op(op, time_s) -- luacheck: ignore 212
    if op.name == "qkv" then seen[#seen + 1] = op.flop end
    return time_s
  end
  for _, decodes in ipairs { 60, 64 } do
    local contexts = {}
    for i = 1, decodes do contexts[i] = 100 end
    priced({ corrections = { Watch {} } }, { decode_contexts = contexts })
  end
  test.equal(seen[1], seen[2])
end)

test("experts without a gate have two matrices, measured, modelled and in their work", function()
  for _, hardware in ipairs { "h100-sxm", "mi300x", "h20-141gb" } do
    local batch = { decode_contexts = {} }
    for i = 1, 56 do batch.decode_contexts[i] = 277 end
    local row = row_of(priced({ model = "nemotron-3-nano-30b-a3b", hardware = hardware }, batch), "experts")
    test.near(row.flop, 2 * 2 * 56 * 6 * 2688 * 1856, 1e-9, hardware)
    test.check(row.bytes <= 2 * 128 * 2 * 2688 * 1856, hardware)
  end
end)

test("time that a step model does not record is a row and assumed; what it records twice is an overlap", function()
  local More = policy.define { name = "more", doc = "Returns more than it records.",
    params = { factor = { default = 2, min = 0, doc = "Of what is recorded." } } }
  function More:bind() self.bound = true end
  function More:time() return self.factor * cost.record("work", 1, "measured") end
  local twice = priced({ steps = More {} }, { decode_contexts = { 10 } })
  test.equal(row_of(twice, "not_itemised").time_s, 1)
  test.near(twice.evidence.assumed, 0.5, 1e-12)
  local half = priced({ steps = More { factor = 0.5 } }, { decode_contexts = { 10 } })
  test.equal(row_of(half, "overlap").time_s, -0.5)
  test.near(half.evidence.measured, 1, 1e-12)
  local run = serve.run { model = "llama-3.1-8b", hardware = "h100-sxm", steps = More {},
    workload = require "workloads.poisson" { num_requests = 3 } }
  test.near(run.summary.evidence.assumed, 0.5, 1e-9)
end)

test("a correction of the whole step that makes it longer is assumed", function()
  local overhead = { require "corrections.step_overhead" { overhead_s = 5e-3 } }
  local plain = priced({}, { decode_contexts = { 1000 } })
  local longer = priced({ corrections = overhead }, { decode_contexts = { 1000 } })
  local more_s = longer.time_s - plain.time_s
  test.near(longer.evidence.assumed * longer.time_s, plain.evidence.assumed * plain.time_s + more_s, 1e-9)
end)

test("a sum over sampled steps is exact where a quantity is linear in what is known of all steps", function()
  local samples, sums = {}, { tokens = 0, prompt_tokens = 0, group_tokens = 0, contexts = 0, rows = 0,
    pairs = 0, steps = 0 }
  local total = 0
  for i = 1, 200 do
    local step = { tokens = i % 17 + 1, prompt_tokens = i % 3, group_tokens = i % 7,
      contexts = i * 31 % 101, rows = i % 5, pairs = i * i % 77, steps = 1 }
    step.work = 3 * step.tokens + 0.5 * step.contexts + 7 * step.rows + step.pairs
    total = total + step.work
    for name, sum in pairs(sums) do sums[name] = sum + step[name] end
    step.stands_for, step.in_fit = 10, 10
    if i % 7 == 0 then samples[#samples + 1] = step end
  end
  test.near(sampled.sum(samples, sums, "work"), total, 1e-9)
  test.near(sampled.sum({ samples[1] }, sums, "work"), sums.tokens * samples[1].work / samples[1].tokens, 1e-9)
end)

test("steps of a kind that no moment met count in the fit, and stand for no other", function()
  local sums = { tokens = 5000, prompt_tokens = 4000, group_tokens = 5000, contexts = 0, rows = 0, pairs = 0,
    steps = 40 }
  local function step(tokens, prompts, weight)
    return { tokens = tokens, prompt_tokens = prompts, group_tokens = tokens, contexts = 0, rows = 0, pairs = 0,
      steps = 1, stands_for = weight, in_fit = math.max(1, weight), work = 2 * tokens + 5 * prompts }
  end
  local samples = { step(30, 0, 20), step(20, 0, 20), step(25, 0, 1), step(26, 0, 1), step(27, 0, 1), step(28, 0, 1) }
  local missed = sampled.sum(samples, sums, "work")
  for _, prompts in ipairs { 300, 500, 900 } do samples[#samples + 1] = step(prompts, prompts, 0) end
  test.near(sampled.sum(samples, sums, "work"), 2 * 5000 + 5 * 4000, 1e-6)
  test.check(missed < 0.5 * (2 * 5000 + 5 * 4000), "without these steps: %g", missed)
end)

test("a bound hides work, which is there all the same", function()
  local v1 = require "steps.roofline_v1" {}
  local memory = priced({ steps = v1, deployment = { tp = 2 } }, { decode_contexts = { 1000 } })
  local compute = priced({ steps = v1, deployment = { tp = 2 } },
    { prefills = { { context_tokens = 0, new_tokens = 8192 } } })
  test.equal(memory.rows[1].bound, "memory")
  test.equal(compute.rows[1].bound, "compute")
  for _, each in ipairs { memory.rows[1], compute.rows[1] } do
    test.check(each.flop > 0 and each.bytes > 0, "%s: %g flop, %g bytes", each.name, each.flop, each.bytes)
  end
end)

test.finish()
