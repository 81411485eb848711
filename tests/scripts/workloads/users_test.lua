-- The workload users, and --users, which puts it in place of a workload's arrivals.
local test = dofile "tests/scripts/harness.lua"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local serve = require "rooflua.serve"
local Users = require "workloads.users"

local lengths = { prompt_tokens = { distribution = "uniform", min = 100, max = 900 }, output_tokens = 20,
  num_requests = 60, rate_per_s = 3 }
local Poisson = require "workloads.poisson"

--- Lengths of the prompts of a workload in the order of sending, as if every answer came at once.
local function prompts_of(workload)
  local source, out = workload:requests(random.streams(7)), {}
  local at, prompt = source.next(source)
  while at do
    out[#out + 1] = prompt
    at, prompt = source.next(source)
  end
  while source.done do
    at, prompt = source.done(source, 1000, -1, 0, true, 0)
    if not at then break end
    out[#out + 1] = prompt
  end
  return out
end

test("users send the requests of another workload in its order", function()
  local plain = table.concat(prompts_of(Poisson(lengths)), " ")
  test.equal(table.concat(prompts_of(Users { clients = 5, of = Poisson(lengths) }), " "), plain)
  test.equal(#prompts_of(Users { clients = 5, num_requests = 90, of = Poisson(lengths) }), 90)
  local bench = require "workloads.vllm_bench" { num_prompts = 40, max_concurrency = 3, random_range_ratio = 0.5 }
  test.equal(#prompts_of(Users { clients = 5, of = bench }), 40)
  local loop = require "workloads.closed_loop" { clients = 2, num_requests = 30 }
  test.equal(#prompts_of(Users { clients = 5, of = loop }), 30)
end)

test("a mix keeps its classes", function()
  local mix = require "workloads.mix" { parts = { { name = "a", workload = Poisson(lengths) },
    { name = "b", workload = require "workloads.presets" { num_requests = 40 } } } }
  local found = serve.run({ model = "llama-3.1-8b", hardware = "h100-sxm",
    workload = Users { clients = 12, think_time_s = 1, of = mix } })
  test.equal(found.summary.classes[1].completed, 60)
  test.equal(found.summary.classes[2].completed, 40)
  test.check(found.summary.peak_concurrency <= 12)
end)

test("requests that follow answers have users of their own", function()
  for _, name in ipairs { "multi_turn", "conversations", "tree_search", "agent", "chat" } do
    test.raises("users of its own", function()
      Users { clients = 2, of = require("workloads." .. name) {} }:requests(random.streams(1))
    end)
  end
  test.raises("workload.of: expected a workload", function() Users {}:requests(random.streams(1)) end)
end)

local function opened(given, set)
  given.model, given.hardware = "llama-3.1-8b", given.kind ~= "plan" and "h100-sxm" or nil
  local found = opening.table(given, { set = set })
  return opening.variant(found, 1)
end

test("--users says of whom the requests are, and that the think time is assumed", function()
  local given = opened({ workload = Poisson(lengths) }, { "users=8" })
  test.equal(given.workload.name, "users")
  local notes = table.concat(serve.run(given).notes, "\n")
  test.check(notes:find("8 users send the requests of poisson, in place of its arrivals; mean think time 10 s, "
    .. "exponential, not stated", 1, true), notes)
end)

test("--users keeps a think time that is stated", function()
  local loop = require "workloads.closed_loop" { clients = 3, think_time_s = 2 }
  local given = opened({ workload = loop }, { "users=8" })
  test.equal(given.workload.name, "closed_loop")
  test.equal(policy.parameters(given.workload).clients, 8)
  test.equal(policy.parameters(given.workload).think_time_s, 2)
  given = opened({ workload = require "workloads.closed_loop" { clients = 3 } }, { "users=8" })
  test.equal(policy.parameters(given.workload).think_time_s, 10)
end)

test("--users is the load of a plan", function()
  local given = opened({ kind = "plan", workload = Poisson(lengths), plan = { load = { rate_per_s = 3, peak = 2 },
    slo = { ttft_s_p99 = 1 }, gpus = { "h100-sxm" } } }, { "users=8" })
  test.equal(given.plan.load.clients, 8)
  test.equal(given.plan.load.rate_per_s, nil)
  test.equal(given.plan.load.peak, 2)
end)

test("--users refuses a grid over what it replaces", function()
  test.raises("vary has workload.rate_per_s, in place of which", function()
    opened({ workload = Poisson(lengths), vary = { ["workload.rate_per_s"] = { 1, 2 } } }, { "users=8" })
  end)
end)

test("--users needs a workload, and a number of users", function()
  test.raises("states no workload", function() opened({}, { "users=8" }) end)
  test.raises("multi_turn has users of its own", function()
    opened({ workload = require "workloads.multi_turn" {} }, { "users=8" })
  end)
  test.raises("users", function() opened({ workload = Poisson(lengths) }, { "users=0" }) end)
end)

test.finish()
