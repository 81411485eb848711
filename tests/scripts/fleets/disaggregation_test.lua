-- Prefill and decode split: what a scenario says of it, what results hold, deciders, and what is refused.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local full_run = require "rooflua.serving.full_run"
local simulations = require "rooflua.serving.live"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local unread_keys = require "rooflua.serving.unread_keys"

local function scenario(changes)
  return scene({ seed = 3,
    replicas = { { role = "prefill", count = 2, node = 1 }, { role = "decode", count = 2, node = 2 } },
    router = "least_outstanding", network = { path = { "nic" } }, links = { nic = { bytes_per_s = 8e9 } },
    scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = 512 },
    workload = require "workloads.poisson" { rate_per_s = 12, num_requests = 60, prompt_tokens = 2000,
      output_tokens = 20 } }, changes)
end

local function run(settings, more)
  local given = scenario(more or {})
  given.disaggregation = settings
  return serve.run(given).summary
end

test("an empty key is none, and prompts of one chunk are pushed at their end", function()
  local today, neutral = run(nil), run {}
  test.equal(neutral.ttft_s.mean, today.ttft_s.mean)
  test.equal(neutral.e2e_s.p99, today.e2e_s.p99)
  test.equal(today.disaggregation, nil)
  test.equal(neutral.disaggregation.split_frac, 1)
  local whole = { scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = 8192 },
    workload = require "workloads.poisson" { rate_per_s = 2, num_requests = 20, prompt_tokens = 2000,
      output_tokens = 20 } }
  test.equal(run({ push = "chunks" }, whole).ttft_s.mean, run({ push = "end" }, whole).ttft_s.mean)
end)

test("KV that is pushed carries the same bytes and is there sooner", function()
  local last
  for _, push in ipairs { "end", "chunks", "layers" } do
    local s = run { push = push }
    local split = s.disaggregation
    test.near(split.kv_bytes, 60 * 2000 * 131072, 1e-9)
    test.equal(s.completed, 60)
    if last then
      test.check(split.kv_wait_s.mean < last.kv_wait_s.mean, "%s: %g s", push, split.kv_wait_s.mean)
      test.check(split.kept_block_s < last.kept_block_s, "%s: %g", push, split.kept_block_s)
    end
    last = split
  end
end)

local sessions = { workload = require "workloads.conversations" { conversations = 12, clients = 6, num_requests = 60,
  turns = 4, private_tokens = 3000, prompt_tokens = 100, output_tokens = 30 }, router = "prefix_affinity" }

local function split_of(decider) return run({ order = "decode_first", decider = decider }, sessions).disaggregation end

test("deciders split what they say", function()
  test.equal(split_of("always").split_frac, 1)
  test.equal(split_of("uncached").split_frac, 0)
  test.equal(split_of("uncached").kv_bytes, 0)
  local first_turns = split_of(require "deciders.uncached" { uncached_tokens = 1000 }).split_frac
  test.check(first_turns > 0.1 and first_turns < 0.5, "%g", first_turns)
  test.near(split_of("isl_bounding").split_frac, first_turns, 0.02)
  test.equal(split_of(require "deciders.isl_bounding" { eff_isl_threshold = 0 }).split_frac, 1)
  test.equal(split_of(require "deciders.prefill_load" { prefill_busy_threshold = 1e9 }).split_frac, 1)
  local busy = split_of(require "deciders.prefill_load" { prefill_busy_threshold = 0.5 }).split_frac
  test.check(busy < 1 and busy > 0.1, "%g", busy)
  local either = split_of(require "deciders.either" {}).split_frac
  test.check(either <= first_turns + 1e-9, "%g", either)
  local both = require "deciders.either" { first = "always", second = require "deciders.always" {} }
  test.equal(split_of(both).split_frac, 1)
end)

test("a decider reads the pair, and nothing that it did not declare", function()
  local seen
  local Curious = policy.define { name = "curious", doc = "Looks at everything.", params = {} }
  function Curious:split(request, pair)
    seen = { pair.prompt_tokens, pair.cached_tokens, #pair.prefill, pair.prefill[2].waiting, pair.decode.kv_used_frac,
      pair:queued_tokens(1), pair:budget_tokens(1), pair:transfer_s(2), pair.now_s, request.prompt_tokens,
      pair.prefill[1].index, pair.decode.index }
    return true
  end
  run { order = "decode_first", decider = Curious {} }
  test.equal(seen[1], 2000)
  test.equal(seen[2], 0)
  test.equal(seen[3], 2)
  test.equal(seen[7], 512)
  test.check(seen[8] >= 2000 * 131072 / 8e9, "%g", seen[8])
  test.equal(seen[10], 2000)
  test.check(seen[11] == 1 and seen[12] > 2)
  local function problem(body)
    local Wrong = policy.define { name = "wrong", doc = "Is wrong.", signals = { "waiting" }, params = {} }
    Wrong.split = body
    local ok, message = pcall(run, { order = "decode_first", decider = Wrong {} })
    test.check(not ok)
    return tostring(message)
  end
  local function has(message, text) test.check(message:find(text, 1, true), "%s", message) end
  has(problem(function() return 1 end), "must return true or false")
  has(problem(function(_, _, pair) return pair.promt_tokens > 0 end), "prompt_tokens")
  has(problem(function(_, _, pair) return pair.decode.running > 0 end), "without declaring it")
  has(problem(function(_, _, pair) return pair:queued_tokens(3) > 0 end), "from 1 to 2")
  has(problem(function(_, _, pair) pair.now_s = 1 end), "read-only")
end)

test("a pair is gone after its call", function()
  local kept
  local Keeper = policy.define { name = "keeper", doc = "Keeps the pair.", params = {} }
  function Keeper:split(_, pair)
    kept = pair
    return true
  end
  run { order = "decode_first", decider = Keeper {} }
  local ok, message = pcall(function() return kept.prompt_tokens end)
  test.check(not ok and tostring(message):find("after the call", 1, true), "%s", tostring(message))
end)

test("a lease frees prefill replicas, and prompts are computed again", function()
  local cramped = { deployment = { kv_blocks = 400 }, workload = require "workloads.poisson" { rate_per_s = 30,
    num_requests = 60, prompt_tokens = 2000, output_tokens = 200 } }
  local without, with = run({}, cramped), run({ lease_s = 0.2 }, cramped)
  test.equal(without.disaggregation.recomputed, 0)
  test.check(with.disaggregation.recomputed > 0)
  test.equal(with.completed, 60)
  test.check(with.disaggregation.kv_bytes < without.disaggregation.kv_bytes)
end)

test("a copy of a run goes on alike", function()
  local given = scenario(sessions)
  given.disaggregation = { order = "decode_first", decider = require "deciders.either" {}, push = "chunks",
    lease_s = 5 }
  local live = serve.open(given)
  live:run_until(1.5)
  local copy = live:fork()
  live:run()
  copy:run()
  test.equal(copy:result().summary.ttft_s.p99, live:result().summary.ttft_s.p99)
  test.equal(copy:result().summary.disaggregation.split_frac, live:result().summary.disaggregation.split_frac)
end)

test("why counts what is left of a transfer behind its prefill, and headings add up", function()
  local last = math.huge
  for _, push in ipairs { "end", "chunks", "layers" } do
    local given = scenario { network = { bytes_per_s = 8e9 } }
    given.links, given.disaggregation = nil, { push = push }
    local live = serve.open(given, { remember = true })
    live:run()
    local _, why = live:why(20)
    local sum = 0
    for name, time_s in pairs(why) do
      local is_part = name:find "_s$" and name ~= "e2e_s" and name ~= "ttft_s"
      if is_part and type(time_s) == "number" then sum = sum + time_s end
    end
    test.check(why.transfer_s < last, "%s: %g s", push, why.transfer_s)
    test.near(sum, why.e2e_s, 1e-9)
    last = why.transfer_s
  end
end)

test("ranks of a decode replica that keep copies get each their own", function()
  local function bytes(copies, model, tp)
    local given = scenario { model = model, hardware = "h200-sxm", deployment = { tp = tp }, workload =
      require "workloads.poisson" { rate_per_s = 1, num_requests = 2, prompt_tokens = 1000, output_tokens = 2 } }
    given.disaggregation, given.network = {}, { path = { "nic" }, copies = copies }
    return serve.run(given).summary.disaggregation.kv_bytes
  end
  test.equal(bytes("ranks", "llama-3.1-8b", 4), bytes("one", "llama-3.1-8b", 4))
  test.near(bytes("ranks", "deepseek-v3", 8), 8 * bytes("one", "deepseek-v3", 8), 1e-9)
end)

local wrong = {
  { { ordr = "decode_first", colour = 3, lease_s = -1 }, "disaggregation", "unknown key 'colour'" },
  { { ordr = "decode_first", colour = 3, lease_s = -1 }, "disaggregation", "also unknown: 'ordr'" },
  { { decider = "always" }, "disaggregation.decider", "decode_first" },
  { { order = "decode_first", decider = "allways" }, "decider", "did you mean 'always'" },
  { { order = "first" }, "disaggregation.order", "unknown order 'first'" },
  { { push = "layer" }, "disaggregation.push", "did you mean 'layers'" },
  { { lease_s = 0 }, "disaggregation.lease_s", "above 0" },
  { { lease_s = -1 }, "disaggregation.lease_s", "expected" },
  { { pushes = "end" }, "disaggregation", "did you mean 'push'" },
  { 5, "disaggregation", "expected a table" },
}

test("what is wrong is named by its key", function()
  for _, each in ipairs(wrong) do
    local ok, problem = pcall(run, each[1])
    test.check(not ok, "%s is accepted", each[2])
    test.check(tostring(problem):find(each[2], 1, true) and tostring(problem):find(each[3], 1, true), "%s",
      tostring(problem))
  end
  local ok, problem = pcall(run, { order = "decode_first" },
    { replicas = { { role = "prefill" }, { role = "decode" }, { role = "both" } } })
  test.check(not ok and tostring(problem):find("of the role both", 1, true), "%s", tostring(problem))
  ok, problem = pcall(run, { push = "layers" }, { deployment = { pp = 2 } })
  test.check(not ok and tostring(problem):find("stages of pp", 1, true), "%s", tostring(problem))
end)

test("a report says how many GPUs prefill and decode take", function()
  local wide = { tp = 1, dp = 4, ep = 4 }
  local function head(more)
    local given = scenario(more)
    return full_run.run(simulations.reader(given), given, {}).text:match "^split +([^\n]+)\n"
  end
  test.equal(head {}, "prefill 2 x tp 1 + decode 2 x tp 1 = 4 GPUs")
  test.equal(head { model = "qwen3-30b-a3b", replicas = {
    { role = "prefill", deployment = { tp = 2 } }, { role = "prefill", deployment = { tp = 2, pp = 2 } },
    { role = "decode", count = 2, deployment = wide } } },
    "prefill 1 x tp 2 + prefill 1 x tp 2 x pp 2 + decode 2 x tp 1 x dp 4 x ep 4 = 14 GPUs")
  local whole = scene({ replicas = 2, workload = scenario().workload }, {})
  test.equal(full_run.run(simulations.reader(whole), whole, {}).text:match "split ", nil)
end)

test("without replicas that are split the key is told to change nothing", function()
  local given = { model = "llama-3.1-8b", hardware = "h200-sxm", replicas = 2, disaggregation = {} }
  local told = unread_keys.of(given, "serve")
  test.equal(told[1][1], "disaggregation")
  test.check(told[1][2]:find("no KV is sent", 1, true), "%s", told[1][2])
end)

test.finish()
