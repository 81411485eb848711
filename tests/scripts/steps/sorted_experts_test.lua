-- Routed experts behind DeepEP: which steps are priced by which of its rows, between them and after the last.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"

local function bind(ranks, parameters, deployment)
  local given = { tp = 1, dp = ranks, ep = ranks, weights = "fp8_block", kv = "fp8", max_num_seqs = 256,
    max_num_batched_tokens = 16384 }
  for name, value in pairs(deployment or {}) do given[name] = value end
  parameters = parameters or { exchange = "deepep", largest_graph = 256 }
  return bound.bind(Kernels(parameters), { model = "deepseek-v3", hardware = "gb200", deployment = given,
    mfu = rooflua.mfu.open { gpu = "gb200", engine = "sglang" } })
end

--- The row of the experts where each of so many ranks computes a prompt of n tokens.
local function experts(steps, n, ranks)
  local load = cost.batch { prefills = { { new_tokens = n, context_tokens = 0 } },
    group = { tokens = n * ranks, max_tokens = n, ranks = ranks, prefills = ranks } }
  for _, row in ipairs(cost.explain(function() return steps:time(load) end).rows) do
    if row.name == "experts" then return row end
  end
end

local function published_s(steps, ranks, tokens, layout)
  local _, estimate = steps.database:lookup { op = "moe_experts", layout = layout or "contiguous",
    dtype = "fp8_block", experts = 256, slots = 256, experts_per_token = 8, hidden_size = 7168,
    intermediate_size = 2048, ep = ranks, tokens = tokens }
  return estimate.latency_s, estimate.evidence
end

test("prompts of sixteen ranks take what the rows of sixteen ranks take", function()
  local steps = bind(16)
  for _, n in ipairs { 1024, 4096, 8192 } do
    local row, expected_s = experts(steps, n, 16), published_s(steps, 16, 16 * n)
    test.near(row.time_s, expected_s, 1e-9, n)
    test.equal(row.count, 58)
    test.equal(row.evidence, "measured")
  end
end)

test("between two numbers of ranks both answer, with as many tokens of each rank", function()
  local steps = bind(8)
  local row = experts(steps, 4096, 8)
  test.near(row.time_s, math.sqrt(published_s(steps, 4, 4 * 4096) * published_s(steps, 16, 16 * 4096)), 1e-9)
  test.equal(row.evidence, "interpolated")
end)

test("steps in graphs take the rows of the masked layout", function()
  local steps = bind(32)
  for _, n in ipairs { 4, 32, 128 } do
    local row, expected_s, evidence = experts(steps, n, 32), published_s(steps, 32, 32 * n, "masked")
    test.near(row.time_s, expected_s, 1e-9, n)
    test.equal(row.evidence, evidence)
    test.equal(row.note:find("masked", 1, true) ~= nil, true)
  end
  test.at_least(published_s(steps, 32, 4096, "contiguous"), 2 * published_s(steps, 32, 4096, "masked"))
end)

test("padded rows cost time, and are no work", function()
  local steps = bind(32)
  local padded, full = experts(steps, 5, 32), experts(steps, 8, 32)
  test.equal(padded.time_s, full.time_s)
  test.near(padded.flop, 5 / 8 * full.flop, 1e-9)
  test.equal(padded.shape:find("tokens=160 as tokens=256", 1, true) ~= nil, true, padded.shape)
  local peak = rooflua.spec.hardware "gb200".peak_flop_per_s.fp8
  for _, row in ipairs { padded, full } do test.near(row.mfu, row.flop / (row.time_s * peak), 1e-9) end
end)

test("after the last row the time follows the line of the last two", function()
  local steps = bind(32, { exchange = "deepep", largest_graph = 768 })
  local last_s, before_s = published_s(steps, 32, 32 * 128, "masked"), published_s(steps, 32, 32 * 64, "masked")
  local row = experts(steps, 320, 32)
  test.near(row.time_s, last_s + (last_s - before_s) * (320 - 128) / 64, 1e-9)
  test.equal(row.evidence, "extrapolated")
end)

test("other formats and gathered tokens are priced by rows of all steps", function()
  local function sorted(row) return row.note:find("after DeepEP", 1, true) ~= nil end
  for _, n in ipairs { 128, 4096 } do
    test.equal(sorted(experts(bind(16), n, 16)), true, n)
    test.equal(sorted(experts(bind(16, { exchange = "gathered" }), n, 16)), false, n)
    test.equal(sorted(experts(bind(16, nil, { weights = "nvfp4" }), n, 16)), false, n)
  end
end)

test("more tokens never take less time, also where graphs end", function()
  for _, ranks in ipairs { 8, 16 } do
    local steps, last_s = bind(ranks), 0
    for n = 200, 9000, 175 do
      local time_s = experts(steps, n, ranks).time_s
      test.at_least(time_s, last_s, ("%d tokens, %d ranks"):format(n, ranks))
      last_s = time_s
    end
  end
end)

test.finish()
