-- Runs with KV outside of the GPU: what more memory brings, what policies see and answer, and copies of runs.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local measure = require "rooflua.measure"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local sweep = require "rooflua.sweep"

--- Conversations that the GPU's cache does not hold.
local function scenario(tiers, more)
  return scene({ engine = "vllm 0.24", steps = "roofline_v1", seed = 2,
    deployment = { kv_blocks = 600, max_model_len = 6000 }, tiers = tiers,
    workload = require "workloads.multi_turn" { sessions = 30, session_rate_per_s = 4, turns = 4, think_time_s = 0.5,
      prompt_tokens = 600, output_tokens = 40 } }, more)
end

local function cpu(more, chosen)
  local store = { name = "cpu", capacity_bytes = 20e9 }
  for key, value in pairs(more or {}) do store[key] = value end
  return { policy = chosen or "vllm_cpu", stores = { store } }
end

local function summary(tiers, more) return serve.run(scenario(tiers, more)).summary end

test("what the GPU's cache loses is loaded, and fewer tokens are computed", function()
  local without, with = summary(nil), summary(cpu())
  test.equal(without.tiers, nil)
  test.check(with.tiers[1].hit_tokens > 0 and with.tiers[1].loads > 0)
  test.check(with.cached_tokens > without.cached_tokens + 0.9 * with.tiers[1].hit_tokens)
  test.check(with.ttft_s.mean < without.ttft_s.mean)
end)

test("a store that holds all finds as much as a GPU whose cache holds all", function()
  local ample = summary(nil, { deployment = { kv_blocks = 20000, max_model_len = 6000 } })
  test.near(summary(cpu { capacity_bytes = 1e12 }).cached_tokens, ample.cached_tokens, 0.02)
end)

test("with one request at a time a larger store never finds less", function()
  local last = -1
  for _, bytes in ipairs { 1e8, 5e8, 1e9, 2e9, 4e9, 2e10 } do
    local found = summary(cpu { capacity_bytes = bytes }, { workload = require "workloads.closed_loop" { clients = 1,
      num_requests = 120, distinct_prompts = 12, prompt_tokens = 2000, output_tokens = 4 } }).tiers[1].hit_tokens
    test.check(found >= last, "%g bytes find %d tokens, fewer %d", bytes, found, last)
    last = found
  end
  test.check(last > 0)
end)

test("a key path leads to the capacity of a store by its name", function()
  local runs = sweep.grid { scenario = scenario(cpu()), vary = { ["tiers.stores.cpu.capacity_bytes"] = { 2e8, 2e10 } } }
  test.check(runs[2].summary.tiers[1].hit_tokens > runs[1].summary.tiers[1].hit_tokens)
end)

test("a policy that loads nothing leaves TTFT as it is without stores, but for what it writes", function()
  local none = summary(cpu(nil, require "tiers.break_even" { gpu_weight = 0 }))
  test.equal(none.tiers[1].hit_tokens, 0)
  test.check(none.tiers[1].stored_bytes > 0)
  test.near(none.ttft_s.mean, summary(nil).ttft_s.mean, 0.1)
end)

test("asking what computing takes is in no ledger", function()
  local Asks = policy.define { name = "asks", doc = "Asks for prices, and loads what vllm_cpu loads.",
    extends = require "tiers.vllm_cpu" }
  function Asks:load(_, found) -- luacheck: ignore 212
    for tokens = 1, found.prompt_tokens, 97 do
      if not (found:compute_s(tokens) > 0) then return 0 end
    end
    return found.pending_tokens > 0 and nil or found.tokens
  end
  local asked, plain = summary(cpu(nil, Asks)), summary(cpu(nil, require "tiers.vllm_cpu" {
    waits_for_pending = false }))
  test.equal(asked.ttft_s.mean, plain.ttft_s.mean)
  for name, share in pairs(plain.evidence) do test.equal(asked.evidence[name], share, name) end
end)

test("a copy of a run goes on alike, with what its policies remember", function()
  for _, tiers in ipairs { cpu { eviction = "session", capacity_bytes = 5e8 }, cpu { eviction = "pinned" },
    cpu(nil, "break_even"), cpu(nil, "hicache"), cpu(nil, require "tiers.hicache" { write_policy = "write_back" }) } do
    local live = serve.open(scenario(tiers))
    live:run_until(2)
    local copy = live:fork()
    live:run()
    copy:run()
    test.equal(copy:result().summary.ttft_s.p99, live:result().summary.ttft_s.p99)
    test.equal(copy:result().summary.tiers[1].evictions, live:result().summary.tiers[1].evictions)
  end
end)

test("what is written back is less than what is written through, and steps wait for it", function()
  local function back(blocks)
    return scenario(cpu(nil, require "tiers.hicache" { write_policy = "write_back" }),
      { deployment = { kv_blocks = blocks, max_model_len = 6000 } })
  end
  local function written(one) return serve.run(one).summary.tiers[1].stored_bytes end
  test.equal(written(back(20000)), 0) -- nothing leaves
  test.check(written(back(600)) > 0)
  test.check(written(back(3000)) < written(scenario(cpu(nil, "hicache"),
    { deployment = { kv_blocks = 3000, max_model_len = 6000 } })))
  local waits_s = 0
  for id = 20, 30 do
    local _, document = measure.why(back(600), id)
    for _, each in ipairs(document.ops) do
      if each.op == "kv_store" then waits_s = waits_s + each.time_s end
    end
  end
  test.check(waits_s > 0, "no step waited for a write")
end)

test("another step model is asked for prices from then on", function()
  local live = serve.open(scenario(cpu(nil, "break_even")))
  live:run_until(1)
  live:set { steps = require "steps.roofline_v2" {} }
  live:run()
  test.check(live:result().summary.tiers[1].hit_tokens > 0)
end)

--- A policy with these methods.
local function with(load, store)
  local Mine = policy.define { name = "mine", doc = "Of a test." }
  Mine.load = load or function(_, _, found) return found.tokens end
  Mine.store = store or function(_, _, stores) return stores[1].name end
  return Mine
end

test("wrong answers of policies are told with their names", function()
  for _, each in ipairs {
    { with(function() return -1 end), "load(request, found): expected tokens from 0" },
    { with(function() return "all" end), "found text \"all\"" },
    { with(function(_, _, found) return found.tokens + 1 end), "to found.tokens" },
    { with(function(_, _, found) return found.tokens, -1 end), "patience" },
    { with(nil, function() return "cpus" end), "did you mean 'cpu'" },
    { with(nil, function() return 3 end), "expected names of stores" },
    { with(nil, function() error("a fault", 0) end), "a fault" } } do
    local ok, problem = pcall(serve.run, scenario(cpu(nil, each[1])))
    test.check(not ok, "%s is taken", each[2])
    test.check(tostring(problem):find(each[2], 1, true), "%s: %s", each[2], tostring(problem))
  end
  local Nan = policy.define { name = "nan_key", doc = "Of a test." }
  function Nan.key() return 0 / 0 end
  test.raises("key(block) must return a number", function() serve.run(scenario(cpu { eviction = Nan {} })) end)
end)

test("what policies see is what the scenario says", function()
  local seen = {}
  local Looks = with(function(_, request, found)
    seen.prompt = seen.prompt or found.prompt_tokens == request.sequence_tokens
    seen.source = seen.source or found[1] and found[1].name .. (found[1].peer and " peer" or " own")
    seen.waiting = type(found.waiting)
    return found.tokens
  end, function(_, run, stores)
    seen.why, seen.per, seen.bytes = run.why, stores[1].per, stores[1].capacity_bytes
    return stores[1].name
  end)
  local sessions = {}
  local Keeps = policy.define { name = "keeps", doc = "Of a test." }
  function Keeps.key(_, block)
    sessions[#sessions + 1] = block.session == nil and "none" or type(block.session)
    return block.used_s
  end
  serve.run(scenario(cpu({ eviction = Keeps {} }, Looks)))
  test.equal(seen.prompt, true)
  test.equal(seen.source, "cpu own")
  test.equal(seen.waiting, "number")
  test.equal(seen.why, "filled")
  test.equal(seen.per, "replica")
  test.check(seen.bytes > 19.9e9 and seen.bytes <= 20e9, "%g", seen.bytes)
  test.equal(sessions[1], "number")
  serve.run(scenario(cpu { eviction = Keeps {} }, { workload = require "workloads.poisson" { rate_per_s = 20,
    num_requests = 20, prompt_tokens = 500, output_tokens = 4 } }))
  test.equal(sessions[#sessions], "none")
end)

test("with stages of pp loads are waited for as a whole", function()
  local function of(overlap)
    local tiers = cpu()
    tiers.overlap = overlap
    return summary(tiers, { deployment = { kv_blocks = 600, max_model_len = 6000, pp = 2 } })
  end
  local layers, none = of "layers", of "none"
  test.check(none.tiers[1].loads > 0)
  test.equal(layers.ttft_s.mean, none.ttft_s.mean)
  test.equal(layers.tiers[1].load_s.mean, none.tiers[1].load_s.mean)
end)

test.finish()
