-- Ranks that step together (deployment.dp): what a step model sees of them, how it prices them, and what a run shows.
local rooflua = require "rooflua"
local bound = dofile "tests/scripts/bound_steps.lua"
local group = require "steps.kernels.group"
local live = require "rooflua.serving.live"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local sweep = require "rooflua.sweep"
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"

local batch = rooflua.cost.batch

--- Decodes of one rank, in a group or alone.
local function decodes(n, of_group) return batch { decodes = n, decode_context_tokens = 1000 * n, group = of_group } end

--- Ranks whose fullest one has `most` tokens.
local function ranks_of(count, tokens, most, prefills)
  return { ranks = count, tokens = tokens, max_tokens = most, prefills = prefills or 0 }
end

-- The batch --------------------------------------------------------------------------------------------------

test("a batch made by hand is that of a rank alone, unless it says what its group has", function()
  local alone = batch { prefills = { { new_tokens = 100 } }, decodes = 3, decode_context_tokens = 30 }
  test.equal(alone.group_ranks .. " " .. alone.group_tokens .. " " .. alone.group_max_tokens .. " "
    .. alone.group_prefills, "1 103 103 1")
  local given = decodes(4, ranks_of(8, 40, 9, 2))
  test.equal(given.group_ranks .. " " .. given.group_tokens .. " " .. given.group_max_tokens .. " "
    .. given.group_prefills, "8 40 9 2")
end)

test("a group that cannot be is refused", function()
  for message, given in pairs {
    ["group.tokens: expected"] = ranks_of(2, 3, 4), ["group.max_tokens: expected"] = ranks_of(2, 8, 3),
    ["2 ranks, one of them with 4 tokens, cannot have 9 tokens"] = ranks_of(2, 9, 4),
    ["1 ranks, one of them"] = ranks_of(1, 5, 5), ["3 that prefill"] = ranks_of(2, 8, 4, 3),
    ["unknown key 'token'"] = { token = 1 },
  } do
    test.raises(message, function() decodes(4, given) end)
  end
end)

-- Padding ----------------------------------------------------------------------------------------------------

local function padded(rule, own, of_group, ranks, largest)
  local mine, all = group.rule(rule)(decodes(own, of_group), ranks, largest)
  return mine .. " " .. all
end

test("with graphs every rank runs the graph of the fullest one, and padded tokens are routed", function()
  for _, rule in ipairs { "vllm", "sglang" } do
    test.equal(padded(rule, 3, ranks_of(4, 20, 9), 4, 512), "16 64", rule) -- 9 tokens run the graph of 16
    test.equal(padded(rule, 9, ranks_of(4, 20, 9), 4, 512), "16 64", rule)
  end
  test.equal(padded("none", 3, ranks_of(4, 20, 9), 4, 512), "4 20")
end)

test("without a graph vLLM does not pad; SGLang pads where that does not double the tokens", function()
  test.equal(padded("vllm", 3, ranks_of(4, 20, 9), 4, 8), "3 20")
  test.equal(padded("sglang", 3, ranks_of(4, 20, 9), 4, 8), "9 36") -- 2 * 20 >= 9 * 4
  test.equal(padded("sglang", 3, ranks_of(4, 17, 9), 4, 8), "3 17") -- 2 * 17 < 36
  test.equal(padded("sglang", 3, ranks_of(4, 20, 9, 1), 4, 512), "3 20") -- a rank prefills
end)

test("of a batch made by hand, the other ranks have as many tokens", function()
  for _, rule in ipairs { "vllm", "sglang", "none" } do
    test.equal(padded(rule, 16, nil, 4, 512), "16 64", rule)
    test.equal(padded(rule, 16, ranks_of(4, 64, 16), 4, 512), "16 64", rule)
  end
end)

-- Prices -----------------------------------------------------------------------------------------------------

local function kernels(parameters, deployment)
  return bound.bind(require "steps.kernels"(parameters or {}), { model = "deepseek-v3", hardware = "h200-sxm",
    deployment = deployment or { dp = 16, ep = 16, weights = "fp8" } })
end

local function rows_of(steps, given)
  local rows, priced = {}, rooflua.cost.explain(function() return steps:time(given) end)
  for _, row in ipairs(priced.rows) do rows[row.name] = row end
  return rows, priced.time_s
end

test("equal ranks cost what a rank made by hand costs", function()
  local steps = kernels()
  for _, n in ipairs { 1, 7, 64, 300, 700 } do
    test.equal(steps:time(decodes(n, ranks_of(16, 16 * n, n))), steps:time(decodes(n)), n)
  end
end)

test("tokens of other ranks cost time in experts and exchange, and nothing else where nothing is padded", function()
  local steps = kernels { dp_padding = "none" }
  local few, many = rows_of(steps, decodes(8, ranks_of(16, 128, 64))), rows_of(steps, decodes(8, ranks_of(16, 900, 64)))
  for name, row in pairs(few) do
    if name == "experts" or name == "expert_exchange" then
      test.check(many[name].time_s > row.time_s, name)
    else
      test.equal(many[name].time_s, row.time_s, name)
    end
  end
end)

test("one full rank makes all of them run its graph", function()
  local steps = kernels()
  local balanced, time_s = rows_of(steps, decodes(8, ranks_of(16, 128, 8)))
  local skewed, longer_s = rows_of(steps, decodes(8, ranks_of(16, 128, 64)))
  test.check(longer_s > time_s, "padding is not free")
  test.check(skewed.experts.time_s > balanced.experts.time_s, "padded tokens are routed")
  test.equal(skewed.attention_decode and skewed.attention_decode.time_s, balanced.attention_decode
    and balanced.attention_decode.time_s, "attention is not padded")
end)

test("a rank beyond the largest graph makes every rank pay for its launches", function()
  local steps = kernels({ largest_graph = 32, eager_kernel_s = 1e-3 })
  test.check(steps:time(decodes(8, ranks_of(16, 160, 40))) > 2 * steps:time(decodes(8, ranks_of(16, 128, 8))), "eager")
end)

-- Runs -------------------------------------------------------------------------------------------------------

local Counting = policy.define { name = "counting", doc = "A second per token of the group.", params = {} }
Counting.follows_groups = true
function Counting:time(given) return 1e-3 * given.group_tokens + 1e-3 end

local Alone = policy.define { name = "alone", doc = "Five milliseconds.", params = {} }
function Alone:time() return 5e-3 end

local function scenario(changes)
  return scene({ model = "mixtral-8x7b", hardware = "h200-sxm", deployment = { dp = 4, ep = 4 },
    steps = Counting {}, router = "vllm_dp",
    workload = require "workloads.poisson" { rate_per_s = 30, num_requests = 60, prompt_tokens = 50,
      output_tokens = 20 } }, changes)
end

test("deployment.dp makes replicas that step together, and reports name engine and rank", function()
  local summary = serve.run(scenario()).summary
  test.equal(#summary.replicas, 4)
  test.equal(summary.replicas[3].name, "engine 1 rank 3")
  for _, each in ipairs(summary.replicas) do
    test.equal(each.steps, summary.replicas[1].steps)
    test.check(each.wait_frac > 0 and each.wait_frac < 1, "%s waits %g", each.name, each.wait_frac)
  end
  summary = serve.run(scenario { deployment = { tp = 4 } }).summary
  test.equal(summary.replicas[1].name, "1")
  test.equal(summary.replicas[1].wait_frac, nil)
end)

test("the GPUs of an engine are tp times dp", function()
  local runs = sweep.grid { scenario { deployment = { tp = 2, dp = 4, ep = 8 }, replicas = 3 }, seeds = 1 }
  test.equal(runs[1].gpus, 24)
end)

test("two engines are two groups", function()
  local simulation = serve.open(scenario { replicas = 2 })
  simulation:run_until(0.5)
  local ends = {}
  for _, step in ipairs(simulation:steps()) do
    local engine = step.replica <= 4 and 1 or 2
    ends[engine .. " " .. step.end_s] = (ends[engine .. " " .. step.end_s] or 0) + 1
  end
  for place, count in pairs(ends) do test.equal(count, 4, place) end
  test.equal(live.name_of(simulation, 6), "engine 2 rank 2")
  test.equal(#simulation:result().summary.replicas, 8)
end)

test("a group costs what deployment.dp_sync_s says besides", function()
  local function duration(dp_sync_s)
    local given = scenario { deployment = { dp = 4, ep = 4, dp_sync_s = dp_sync_s },
      workload = require "workloads.closed_loop" { clients = 1, num_requests = 1, prompt_tokens = 50,
        output_tokens = 20 } }
    return serve.run(given).summary.duration_s
  end
  test.near(duration(0.25) - duration(0), 20 * 0.25, 1e-9)
  test.near(duration(nil) - duration(0), 20 * 50e-6, 1e-6)
  test.raises("deployment.dp_sync_s", function() duration(-1) end)
end)

test("a look back prices the step of a rank again, and says what it waits for", function()
  local simulation = serve.open(scenario { steps = require "steps.kernels" {} })
  simulation:run_until(1)
  for i = 1, 4 do
    local last = simulation:last_step(i)
    test.equal(last.group.ranks, 4)
    local priced = simulation:explain(i)
    test.near(priced.time_s, last.own_s, 1e-9)
    test.check(last.own_s <= last.time_s - 50e-6 + 1e-12, "own time")
  end
  simulation:run()
  local text, document = simulation:why(30)
  test.check(text:find("rank_sync", 1, true) and text:find("wait_for_ranks", 1, true), "%s", text)
  local sum_s = 0
  for _, op in ipairs(document.ops) do sum_s = sum_s + op.time_s end
  test.near(sum_s, document.prefill_s + document.decode_s + document.decode_mixed_s + document.recompute_s, 1e-9)
end)

test("a request that comes to a rank without tokens waits after other ranks", function()
  local given = scenario { router = "round_robin",
    workload = require "workloads.constant" { rate_per_s = 40, num_requests = 2, prompt_tokens = 1000,
      output_tokens = 2 } }
  local simulation = serve.open(given)
  simulation:run()
  local text, document = simulation:why(1)
  test.check(document.queue_ranks_s > 0, "%s", text)
  test.check(text:find("queue behind other ranks", 1, true), "%s", text)
end)

test("a fork of ranks goes on alike, and swapped step models are shared by the ranks of an engine", function()
  local simulation = serve.open(scenario())
  simulation:run_until(0.4)
  local fork = simulation:fork()
  simulation:run()
  fork:run()
  test.equal(simulation:result().summary.e2e_s.mean, fork:result().summary.e2e_s.mean)
  local other = serve.open(scenario())
  other:set { steps = require "steps.kernels" {} }
  local list = live.state(other).replicas
  test.equal(list[1].steps, list[4].steps)
  test.check(list[1].scheduler ~= list[4].scheduler, "each rank has a scheduler")
end)

test("a step model that does not read the group says so", function()
  local function noted(steps)
    for _, note in ipairs(serve.run(scenario { steps = steps }).notes or {}) do
      if note:find("prices each of the 4 ranks", 1, true) then return true end
    end
    return false
  end
  test.check(noted(Alone {}), "no note")
  test.check(not noted(Counting {}), "a note")
end)

test("metrics see what a step is its rank's own", function()
  local Waits = policy.define { name = "waits", doc = "Share of step time that ranks wait.", unit = "1",
    better = "less", params = {} }
  function Waits:on_step(step)
    self.all_s, self.own_s = (self.all_s or 0) + step.time_s, (self.own_s or 0) + step.own_s
  end
  function Waits:value() return 1 - self.own_s / self.all_s end
  local value = serve.run(scenario { metrics = { waits = Waits {} } }).summary.own.waits
  test.check(value > 0 and value < 1, "%g", value)
end)

-- Schedulers that look at the group -----------------------------------------------------------------------------

--- For each step of all ranks, how many of them prefill.
local function prefilling_ranks(scheduler, workload)
  local simulation = serve.open(scenario { scheduler = scheduler, workload = workload, router = "round_robin",
    steps = Alone {} })
  simulation:run()
  local counts, order = {}, {}
  for _, step in ipairs(simulation:steps()) do
    if not counts[step.end_s] then counts[step.end_s], order[#order + 1] = { decodes = 0, prefills = 0 }, step.end_s end
    local count = counts[step.end_s]
    if step.prefills > 0 then count.prefills = count.prefills + 1 end
    if step.decodes > 0 then count.decodes = count.decodes + 1 end
  end
  local out = {}
  for i, time_s in ipairs(order) do out[i] = counts[time_s] end
  return out
end

local function steady(rate_per_s)
  return require "workloads.constant" { rate_per_s = rate_per_s, num_requests = 300, prompt_tokens = 20,
    output_tokens = 100 }
end

test("with prefill_schedule_interval ranks that decode prefill in every n-th step only", function()
  local Vllm = require "schedulers.vllm_v1"
  local function together(interval)
    local steps, any, beside = prefilling_ranks(Vllm { prefill_schedule_interval = interval }, steady(101)), 0, 0
    for _, step in ipairs(steps) do
      if step.prefills > 0 then any = any + 1 end
      if step.decodes == 4 and step.prefills > 0 then beside = beside + 1 end
    end
    return any, beside, #steps
  end
  local usual, usual_beside = together(1)
  local rare, rare_beside, steps = together(8)
  test.check(rare < 0.6 * usual, "%d of %d steps prefill, %d without the interval", rare, steps, usual)
  test.check(rare_beside < 0.5 * usual_beside, "%d beside decodes, %d without", rare_beside, usual_beside)
end)

test("with prefill_decode_interval ranks of SGLang prefill in the same steps, with decodes between", function()
  local Sglang = require "schedulers.sglang"
  local function together(interval)
    local any, beside = 0, 0
    for _, step in ipairs(prefilling_ranks(Sglang { prefill_decode_interval = interval }, steady(101))) do
      if step.prefills > 0 then any = any + 1 end
      if step.decodes == 4 and step.prefills > 0 then beside = beside + 1 end
    end
    return any, beside
  end
  local usual, rare = together(0), together(8)
  test.check(rare < 0.6 * usual, "%d steps prefill, %d without the interval", rare, usual)
end)

test("with attention_dp_balance prompts wait until every rank has one, a timeout, or a rank does not decode", function()
  local Trtllm = require "schedulers.trtllm"
  local function partial(given)
    local count = 0
    for _, step in ipairs(prefilling_ranks(Trtllm(given), steady(101))) do
      if step.decodes == 4 and step.prefills > 0 and step.prefills < 4 then count = count + 1 end
    end
    return count
  end
  local usual = partial {}
  local held = partial { attention_dp_balance = true, attention_dp_timeout_iters = 1000,
    attention_dp_batching_wait_iters = 0 }
  test.check(usual > 10, "%d", usual)
  test.equal(held, 0)
  test.check(partial { attention_dp_balance = true, attention_dp_timeout_iters = 3 } > 0, "the timeout")
end)

test("a replica alone holds no prompt", function()
  local function mean(scheduler)
    return serve.run(scenario { scheduler = scheduler, deployment = { tp = 4 } }).summary.e2e_s.mean
  end
  test.equal(mean(require "schedulers.trtllm" { attention_dp_balance = true }), mean "trtllm")
  test.equal(mean(require "schedulers.vllm_v1" { prefill_schedule_interval = 9 }), mean "vllm_v1")
end)

test.finish()
