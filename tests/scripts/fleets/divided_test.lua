-- One run in several processes that each simulate a part of the replicas: the same bytes as one process, or one process
-- and the reason why.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local live = require "rooflua.serving.live"
local random = require "rooflua.random"
local full_run = require "rooflua.serving.full_run"

--- The document and the text of a run, its notes, and why one process simulated all replicas.
local function told(given, jobs)
  local result = full_run.run(live.reader(given), given, { jobs = jobs, document = true })
  return json.encode { result.summary, result.text, result.notes or {}, result.left_out or json.null,
    result.intervals or json.null }, result.undivided
end

local function scenario(changes)
  return scene({ rooflua = 1, hardware = "h200-sxm", seed = 3, replicas = 5,
    steps = require "steps.kernels" {}, scheduler = require "schedulers.vllm_v1" { max_num_seqs = 32 },
    router = require "routers.round_robin" {},
    workload = require "workloads.poisson" { rate_per_s = 60, num_requests = 300, prompt_tokens = 300,
      output_tokens = 40 } }, changes)
end

local lengths = { distribution = "lognormal", mean = 400, sigma = 1, max = 6000 }

--- A cluster whose replicas go their own ways.
local function drawn(draws)
  local one_of = function(list) return list[draws:integer(1, #list)] end
  local out = scenario { seed = draws:integer(1, 1000),
    router = one_of { require "routers.round_robin" {}, require "routers.random" {} },
    scheduler = one_of { require "schedulers.vllm_v1" { max_num_seqs = draws:integer(4, 64),
      max_num_batched_tokens = 2048 }, require "schedulers.sarathi" {}, require "schedulers.sglang" {},
      require "schedulers.trtllm" {} },
    workload = one_of {
      require "workloads.poisson" { rate_per_s = draws:integer(20, 300), num_requests = 300, prompt_tokens = lengths,
        output_tokens = lengths },
      require "workloads.poisson" { rate_per_s = 40, num_requests = 200, prompt_tokens = 300, output_tokens = 50,
        prefix_tokens = 512, prefix_groups = 7 },
      require "workloads.constant" { rate_per_s = 50, num_requests = 200, prompt_tokens = 1000, output_tokens = 30 } } }
  out.replicas = one_of { 2, 7, { { count = 2 }, { count = 3, deployment = { tp = 2 } } },
    { { count = 3, model = "qwen3-30b-a3b", deployment = { dp = 2 } }, { count = 1 } } }
  out.metrics = { exact_requests = one_of { 50, 100000 } }
  out.slo = one_of { false, { ttft_s = 0.2, tpot_s = 0.02 } } or nil
  out.frontend = one_of { false, { base_s = 0.005 } } or nil
  return out
end

test("whatever the cluster, several processes give the bytes of one", function()
  local draws = random.streams(11):stream "clusters"
  local divided = 0
  for case = 1, 40 do
    local given = drawn(draws)
    local alone = told(given, 1)
    for _, jobs in ipairs { 2, 3 } do
      local several, why = told(given, jobs)
      test.check(several == alone, "case %d with %d jobs:\n%s\n%s", case, jobs, alone, several)
      if not why then divided = divided + 1 end
    end
  end
  test.at_least(divided, 60)
end)

test("what a replica does that others hear of is not divided, and the reason is told", function()
  local cases = {
    { { router = require "routers.least_outstanding" {} }, "the router reads signals of replicas" },
    { { replicas = 1 }, "there is one engine" },
    { { workload = require "workloads.closed_loop" { clients = 4, num_requests = 20, prompt_tokens = 100,
      output_tokens = 10 } }, "the workload sends requests when others end" },
    { { client = require "clients.impatient" {} }, "clients may send requests again" },
    { { admission = require "admission.concurrency" {} }, "there is an admission policy" },
    { { adapters = { count = 3, rank = 8 } }, "requests have adapters" },
    { { model = "mixtral-8x7b", deployment = { tp = 2, ep = 2 }, experts = {} }, "experts move between ranks" },
    { { metrics = { requests = true } }, "what all replicas do is written or drawn in order" },
    { { metrics = { utilisation = true } }, "what all replicas do is written or drawn in order" },
    { { deployment = { max_model_len = 256 } }, "requests or a policy failed, or it was stopped" },
  }
  for _, case in ipairs(cases) do
    local given = scenario(case[1])
    local several, why = told(given, 2)
    test.equal(why, case[2])
    test.check(several == told(given, 1), "%s", case[2])
  end
end)

test("a policy that fails gives the error of one process", function()
  local policy = require "rooflua.policy"
  local Failing = policy.define { name = "failing", doc = "Fails late.", params = {} }
  function Failing:bind(_) return self end
  function Failing:time(batch)
    if batch.decode_context_tokens > 900 then error("no price", 0) end
    return 0.01
  end
  local given = scenario { steps = Failing {} }
  local ok, alone = pcall(told, given, 1)
  test.equal(ok, false)
  local same, several = pcall(told, given, 2)
  test.equal(same, false)
  test.equal(several, alone)
end)

test("an engine that steps in one process keeps none of another's requests: they are conserved", function()
  local given = scenario { replicas = 6 }
  local summary = json.decode(told(given, 4))[1]
  test.equal(summary.requests, 300)
  test.equal(summary.completed, 300)
  local sum = 0
  for _, each in ipairs(summary.replicas) do sum = sum + each.completed end
  test.equal(sum, 300)
end)

test.finish()
