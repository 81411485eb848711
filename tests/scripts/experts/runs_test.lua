-- Experts that drift and move in simulations: what results, memory and prices say of them, and what is refused.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local spec = require "rooflua.spec"
local flags = require "rooflua.plan.flags"
local json = require "rooflua.json"
local Kernels = require "steps.kernels"
local setup = dofile "tests/scripts/plan/setup.lua"

local StepByStep = policy.define { name = "kernels", doc = "Kernels, step by step.", extends = Kernels }
StepByStep.prices_expert_load = true

local function load(rate_per_s, requests, output)
  return require "workloads.poisson" { rate_per_s = rate_per_s, num_requests = requests,
    prompt_tokens = { distribution = "lognormal", mean = 300, sigma = 0.9, max = 4000 },
    output_tokens = { distribution = "lognormal", mean = output or 200, sigma = 0.9, max = 2000 } }
end

local function scenario(more)
  return scene({ rooflua = 1, seed = 7, model = "mixtral-8x7b", hardware = "h200-sxm", steps = Kernels {},
    deployment = { tp = 4, ep = 4 }, workload = load(3, 60) }, more)
end

local function summary_of(more)
  local live = serve.open(scenario(more), { remember = false })
  live:run()
  return live:result().summary
end

--- A summary without what only these runs have.
local function bytes_of(summary)
  local out = {}
  for key, value in pairs(summary) do out[key] = value end
  out.experts = nil
  return json.encode(out)
end

local eplb = require "balancers.eplb"
local often = eplb { step_interval = 300, window_size = 200, host_s = 0.01, use_async = "no" }

test("experts that are alike and stay are as if nothing was said of them", function()
  local found = summary_of { experts = {} }
  test.equal(bytes_of(found), bytes_of(summary_of()))
  test.equal(found.experts.load_mean, 1)
  test.equal(found.experts.rebalancings, 0)
  test.equal(found.experts.moved_bytes, 0)
  test.equal(summary_of().experts, nil)
end)

test("experts that stay and do not drift are as one expert_imbalance for all steps", function()
  local found = summary_of { experts = { zipf = 1 } }
  test.check(found.experts.load_mean > 1.1, "no load")
  test.near(found.experts.load_mean, found.experts.load_max, 1e-12)
  local constant = summary_of { steps = Kernels { expert_imbalance = found.experts.load_max } }
  test.equal(bytes_of(found), bytes_of(constant))
end)

test("the same between ranks of attention, where tokens are exchanged", function()
  local deployment = { dp = 4, ep = 4 }
  local found = summary_of { experts = { zipf = 1 }, deployment = deployment, router = "round_robin" }
  local constant = summary_of { steps = Kernels { expert_imbalance = found.experts.load_max },
    deployment = deployment, router = "round_robin" }
  test.equal(bytes_of(found), bytes_of(constant))
end)

local cases = {
  drifts = { experts = { zipf = 1, drift_steps = 300, update_steps = 40 } },
  moves = { experts = { zipf = 1, drift_steps = 600, update_steps = 70, balancer = often } },
  ["moves beside steps"] = { experts = { zipf = 1, drift_s = 5, update_steps = 33,
    balancer = eplb { step_interval = 200, window_size = 200, use_async = "yes", layers_per_chunk = 4 } } },
  ["few at once"] = { workload = load(0.6, 30, 500), experts = { zipf = 1, drift_steps = 500, update_steps = 90,
    balancer = often } },
  ["one step at a time"] = { async_depth = 1, experts = { zipf = 1, drift_steps = 500, update_steps = 90,
    balancer = often } },
  ["copies"] = { experts = { zipf = 1, drift_tokens = 20000, redundant = 4, balancer = often } },
  ranks = { deployment = { dp = 4, ep = 4 }, router = "round_robin",
    experts = { zipf = 1, drift_steps = 600, update_steps = 70, balancer = often } },
  ["two engines"] = { replicas = 2, router = "round_robin",
    experts = { zipf = 1, drift_steps = 600, update_steps = 70, balancer = often } },
}

for name, case in pairs(cases) do
  test("steps that are priced at once cost what they cost one by one: " .. name, function()
    local by_step = {}
    for key, value in pairs(case) do by_step[key] = value end
    by_step.steps = StepByStep {}
    local at_once, one_by_one = summary_of(case), summary_of(by_step)
    test.equal(json.encode(at_once), json.encode(one_by_one))
    test.equal(json.encode(summary_of(case)), json.encode(at_once), "again")
    test.check(at_once.experts.load_max > 1, "no load")
  end)
end

test("a run with copies says what moved and what engines waited", function()
  local found = summary_of(cases.moves).experts
  test.check(found.rebalancings > 2 and found.moved_bytes > 0 and found.stall_s > 0.01 * found.rebalancings, "none")
  test.equal(summary_of(cases["moves beside steps"]).experts.stall_s, 0)
  local of_expert = 3 * 4096 * 14336 * 2
  test.equal(found.moved_bytes % of_expert, 0, "whole experts")
end)

test("a run that ends before popularity drifts says so", function()
  local function noted(own)
    local result = serve.run(scenario { workload = load(3, 5, 20), experts = own })
    return table.concat(result.notes, "\n"):find("experts: their popularity did not drift", 1, true) ~= nil
  end
  test.check(noted { zipf = 1, drift_steps = 100, update_steps = 1e6 })
  test.check(not noted { zipf = 1, drift_steps = 100, update_steps = 5 })
  test.check(not noted { zipf = 1 })
end)

test("every rank of an engine waits for a stall, which counts once", function()
  local host_s = 3
  local own = { zipf = 1, balancer = eplb { step_interval = 5000, window_size = 10, head_start = 0.999, host_s = host_s,
    use_async = "no" } }
  local ranks = { deployment = { dp = 4, ep = 4 }, router = "round_robin", experts = own }
  local found = summary_of(ranks).experts
  test.equal(found.rebalancings, 1)
  test.check(found.stall_s > host_s and found.stall_s < 1.2 * host_s, "%g", found.stall_s)
end)

test("the step in front of which experts move lasts longer by the stall", function()
  local function run(use_async)
    return summary_of { workload = load(3, 1), experts = { zipf = 1, balancer = eplb { step_interval = 100,
      window_size = 10, head_start = 0.95, host_s = use_async == "no" and 3 or 0, use_async = use_async,
      layers_per_chunk = 100 } } }
  end
  local waits, beside = run "no", run "yes"
  test.check(waits.experts.stall_s > 3, "no stall")
  test.near(waits.duration_s - beside.duration_s, waits.experts.stall_s, 1e-9)
end)

test("copies make steps of few tokens longer", function()
  local without, with = summary_of { experts = {} }, summary_of { experts = { redundant = 8 } }
  test.equal(with.experts.load_mean, 1)
  test.check(with.tpot_s.mean > 1.05 * without.tpot_s.mean, "%g and %g", with.tpot_s.mean, without.tpot_s.mean)
end)

test("an interval beyond the end is as never", function()
  local drifts = { zipf = 1, drift_steps = 300, update_steps = 40 }
  local never = summary_of { experts = drifts }
  local eternal = summary_of { experts = { zipf = 1, drift_steps = 300, update_steps = 40,
    balancer = eplb { step_interval = 1e9, head_start = 0 } } }
  test.equal(json.encode(eternal), json.encode(never))
end)

test("rebalancing lowers the load where popularity is skewed", function()
  local stays = summary_of { experts = { zipf = 1 } }.experts
  local moves = summary_of { experts = { zipf = 1, balancer = often } }.experts
  test.check(moves.load_mean < stays.load_mean, "%g and %g", moves.load_mean, stays.load_mean)
end)

--- Bytes by which copies shrink the KV cache of a replica, to a block.
local function bytes_of_copies(more, widths, redundant)
  local function tokens(count)
    local given = scenario(more)
    given.experts = { redundant = count }
    local replica = serve.open(given):replica(1)
    return replica.total_blocks * replica.block_size, replica.block_size
  end
  local options = { model = spec.model(scenario(more).model), hardware = spec.hardware "h200-sxm" }
  for key, value in pairs(widths) do options[key] = value end
  local deployment = spec.deployment(options)
  local bytes, before, block = deployment.kv_bytes_per_block / deployment.block_size, tokens(0)
  return (before - tokens(redundant)) * bytes, block * bytes
end

test("copies take the memory of their experts from the KV cache", function()
  local bytes, block = bytes_of_copies({}, { tp = 4, ep = 4 }, 8)
  test.check(math.abs(bytes - 2 * 32 * 3 * 4096 * 14336 * 2) <= block, "%g bytes", bytes)
end)

test("one copy on each rank of DeepSeek-V3 takes about 2.4 GB, as vLLM's page on expert parallel says", function()
  local widths = { dp = 16, ep = 16, weights = "fp8", kv = "fp8" }
  local bytes = bytes_of_copies({ model = "deepseek-v3", deployment = widths, router = "round_robin" }, widths, 16)
  test.near(bytes / 2 ^ 30, 2.4, 0.02)
end)

test("a fork goes on as its original, and does not change it", function()
  local given = scenario(cases.moves)
  local whole = serve.open(given)
  whole:run()
  local live = serve.open(given)
  live:run_until(4)
  local fork = live:fork()
  fork:run()
  live:run()
  test.equal(json.encode(fork:result().summary), json.encode(whole:result().summary))
  test.equal(json.encode(live:result().summary), json.encode(whole:result().summary))
end)

test("a plan leaves out candidates whose ranks cannot have the experts, and takes the memory of copies", function()
  local function planned(own)
    local done = setup.searched({ load = { rate_per_s = 1 }, slo = { ttft_s_p99 = 20 }, requests = 20, ranks = 1,
      gpus = { { "h200-sxm", most = 8, price_per_hour = 4 } }, candidates = require "candidates.ladder" { tp = { 4 },
        ep = { 1, 4 }, max_num_seqs = { 64 }, max_num_batched_tokens = { 4096 } } },
      { steps = "kernels", model = "mixtral-8x7b", engine = "vllm 0.24", experts = own,
        workload = require "workloads.poisson" { prompt_tokens = 500, output_tokens = 40 } })
    return done.found.candidates, done.question
  end
  local plain, list, copies = planned(nil), planned { zipf = 1 }, planned { zipf = 1, redundant = 4 }
  test.check(list[1].problem:find("experts: needs ranks that hold whole experts", 1, true), list[1].problem)
  test.check(not list[2].problem and not plain[1].problem, list[2].problem)
  test.check(list[2].result.margin ~= plain[2].result.margin, "the load of the fullest rank")
  test.check(copies[2].deployment.kv_blocks < list[2].deployment.kv_blocks, "copies take memory")
  local moving = { zipf = 1, balancer = "eplb" }
  for key, own in pairs { redundant = { redundant = 4 }, balancer = moving, none = { zipf = 1 } } do
    local found, question = planned(own)
    local ok, problem = pcall(flags.options, question, found[2], "0.24.0")
    test.equal(ok, key == "none", problem)
    test.check(ok or problem:find("experts." .. key .. ": flags for experts that move", 1, true), problem)
  end
  test.check(planned { redundant = 3 }[2].problem:find "are not the same number on each of 4 ranks")
  for part, own in pairs { ["experts.zipf: expected a number"] = { zipf = -1 },
    ["experts.redundant: expected a whole number"] = { redundant = 0.5 },
    ["experts.balancer: unknown policy"] = { balancer = "eplp" } } do
    test.raises(part, function() planned(own) end)
  end
end)

test("what is not priced is refused by name", function()
  local function refused(part, more) test.raises(part, function() serve.open(scenario(more)) end) end
  refused("has no experts", { model = "llama-3.1-8b", deployment = { tp = 1 }, experts = {} })
  refused("needs ranks that hold whole experts", { deployment = { tp = 4 }, experts = {} })
  refused("does not price the load of the fullest rank", { steps = "roofline_v1", experts = {} })
  refused("steps.expert_imbalance = 2", { steps = Kernels { expert_imbalance = 2 }, experts = {} })
  refused("are not the same number on each of 4 ranks", { experts = { redundant = 3 } })
  refused("expected a list of 8 numbers", { experts = { weights = { 1, 2 } } })
  refused("give one of them", { experts = { zipf = 1, weights = { 1, 2, 3, 4, 5, 6, 7, 8 } } })
  refused("give one of them", { experts = { zipf = 1, drift_s = 5, drift_steps = 5 } })
  refused("has no effect", { experts = { update_steps = 5 } })
  refused("all experts are alike", { experts = { drift_steps = 5 } })
  refused("'eplp'; did you mean 'eplb'?", { experts = { balancer = "eplp" } })
  refused("experts.balancer: eplb: groups: 8 experts do not divide into 3", { experts = { balancer = eplb {
    groups = 3 } } })
  refused("scenario: experts: move between nodes, and h100-pcie states no network", { model = "qwen3-30b-a3b",
    hardware = "h100-pcie", deployment = { dp = 16, ep = 16 }, experts = {} })
  refused("faults", { experts = {}, faults = require "faults.exponential" { mtbf_s = 100 } })
end)

test.finish()
