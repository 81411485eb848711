-- `check` of a plan or a search fails wherever its run would refuse before a first step: every key is looked at as in
-- any other scenario.
local test = dofile "tests/scripts/harness.lua"
local check = require "rooflua.program.check"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"

--- Keys of a scenario that are wrong, and some that are right.
local wrong = { 'frontend = { tokenize_s = -1 }', 'frontend = "x"', 'frontend = { base_s = -1 }',
  'frontend = { base_s = 1e8 }',
  'network = { bytes_per_s = -5 }', 'network = 3', 'network = { bytes = 3 }', 'slo = { ttft = 1 }', 'slo = 5',
  'slo = { ttft_s = -1 }', 'async_depth = -1', 'async_depth = "x"', 'async_depth = 1.5', 'mfu = "nonsense"',
  'mfu = { gpu = "nonsense" }', 'mfu = { lookup = "x" }', 'mfu = 3', 'mfu = { path = "/nonexist" }',
  'mfu = { model = { xx = 1 } }', 'corrections = { "nonsense" }', 'corrections = 5', 'corrections = { 5 }',
  'corrections = { require "routers.random" {} }', 'speculation = { drafter = "nonsense" }', 'speculation = 3',
  'speculation = { draft = 3 }', 'speculation = {}', 'metrics = { gpu = true }', 'metrics = 3',
  'metrics = { utilisation = 3 }', 'metrics = { requests = "x" }', 'metrics = { itl = "x" }',
  'metrics = { exact_requests = -1 }', 'router = "nonsense"', 'router = 3', 'router = {}',
  'router = require "schedulers.orca" {}', 'steps = "nonsense"', 'steps = 3', 'steps = require "routers.random" {}',
  'steps = require "steps.kernels" { nope = 1 }', 'bucketing = 3', 'deployment = { max_model_len = -1 }',
  'deployment = { blok = 3 }', 'deployment = { kv = "fp9" }', 'deployment = { weights = "fp9" }',
  'deployment = { block_size = 0 }', 'deployment = { memory_utilization = 3 }', 'deployment = "x"',
  'deployment = require "rooflua.spec".deployment { model = "llama-3.1-8b", hardware = "h100-sxm" }, replicas = "x"',
  'deployment = { prefix_caching = "x" }', 'deployment = { pp_batches = 2 }', 'deployment = { dp = 3 }',
  'deployment = { dp_sync_s = -1 }', 'engine = "vlm"', 'engine = 4', 'engine = "vllm 0.1"',
  'engine = { "vllm 0.24.0", nope = 3 }', 'engine = { "vllm", block_size = "x" }',
  'engine = { "sglang", block_size = 16 }', 'engine = { "vllm", block_size = 16 }, deployment = { block_size = 32 }',
  'seed = "x"', 'seed = -1', 'title = 3', 'model = "nonsense"', 'workload = "nonsense"', 'workload = 3',
  'workload = require "workloads.poisson" { rate_per_s = 5, num_requests = 5, prompt_tokens = -1, output_tokens = 3 }',
  'workload = require "workloads.trace" { path = "/nonexist.csv" }', 'netwrk = 3', 'kv = {}', 'report = 3' }

local right = { 'slo = { ttft_s = 1 }, metrics = { utilisation = true }', 'frontend = { base_s = 0.001 }',
  'async_depth = 1',
  'mfu = { tables = false }', 'corrections = { require "corrections.step_overhead" {} }',
  'deployment = { max_model_len = 2000, memory_utilization = 0.8 }', 'engine = { "vllm", block_size = 32 }',
  'router = require "routers.least_kv" {}', 'title = "x", seed = 3' }

local common = [[local given = { rooflua = 1, kind = "%s", model = "llama-3.1-8b",
  workload = require "workloads.poisson" { rate_per_s = 5, num_requests = 20, prompt_tokens = 100, output_tokens = 5 },
  %s }
for key, value in pairs { %s } do given[key] = value end
return given
]]

local plan = [[plan = { load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 2%s }, requests = 20, replicates = 0,
  gpus = { { "h100-sxm", most = 1, price_per_hour = 3 } }, candidates = require "candidates.ladder" { tp = { 1 },
  max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 } } }]]

local searches = {
  [[goal = "rate", slo = { ttft_s_p99 = 2 }, min = 1, max = 2, tolerance = 0.9, checks = 0]],
  [[goal = "sensitivity", params = { "workload.rate_per_s" }]],
  [[goal = "pareto", vary = { ["workload.rate_per_s"] = { 1, 2 } }]],
  [[goal = "cheapest", slo = { ttft_s_p99 = 2 }, deployments = { { name = "one", cost_per_hour = 1,
    set = { ["workload.rate_per_s"] = 3 } } }]],
}

--- Whether a run of a file is refused, and how many errors check finds.
local function both(text)
  local path = test.file("scenario.lua", text)
  local ok, problem = pcall(function()
    local found = kinds.run(opening.file(path), 1, { jobs = 1 })
    for _, each in ipairs(found.search and found.search.tried or {}) do -- where every line is a problem
      if each.problem == nil then return end
    end
    local first = found.search and found.search.tried and found.search.tried[1]
    if first and first.problem then error(first.problem, 0) end
  end)
  local found = check.file(path)
  return ok, problem, found
end

local function check_kind(kind, keys, other)
  local refused = 0
  for _, each in ipairs(wrong) do
    local ok, problem, found = both(common:format(kind, keys, each))
    if not ok then
      refused = refused + 1
      test.check(found.errors > 0, "%s: check of %s finds nothing, its run says: %s", kind, each, tostring(problem))
      test.check(not tostring(found.findings[1].message):find("rooflua%.[%w_.]+:%d+"), "%s: %s", each,
        found.findings[1].message)
    end
  end
  for _, each in ipairs(right) do
    local slo = each:find "^slo" and ", slo_attainment_frac = 0" or ""
    local ok, problem, found = both(common:format(kind, other and other(slo) or keys, each))
    test.check(ok, "%s: %s: %s", kind, each, tostring(problem))
    test.equal(found.errors, 0, kind .. ": " .. each)
  end
  return refused
end

test("every key that the run of a plan refuses is an error of its check", function()
  local refused = check_kind("plan", plan:format "", function(slo) return plan:format(slo) end)
  test.at_least(refused, 60)
end)

for _, search in ipairs(searches) do
  test("every key that the run of a search refuses is an error of its check: " .. search:match '"(.-)"', function()
    test.at_least(check_kind("search", 'hardware = "h100-sxm", search = { ' .. search .. " }"), 50)
  end)
end

local of_plan = { 'confidence = 2', 'survive = -1', 'replicates = "x"', 'ranks = 0', 'buy = "nodes"', 'horizon = 3',
  'requests = 1', 'strategy = "nonsense"', 'objective = require "power.tdp" {}', 'power = 3', 'engines = { vlm = "1" }',
  'engines = { vllm = "0.1" }', 'load = { rate_per_s = -1 }', 'load = { rate = 1 }', 'slo = { ttft = 1 }', 'slo = {}',
  'gpus = {}', 'gpus = { { "h1000" } }', 'gpus = { { "h100", mostly = 3 } }', 'candidates = "nonsense"',
  'candidates = require "candidates.listed" { list = { { tp = 0 } } }',
  'candidates = require "candidates.listed" { list = { { engine = "vlm" } } }',
  'candidates = require "candidates.listed" { list = { { weights = "fp9" } } }',
  'candidates = require "candidates.listed" { list = {} }', 'objective = "rate"' }

local of_search = {
  rate = { 'min = 0', 'min = 5, max = 4', 'tolerance = -1', 'checks = -1', 'points_per_round = 0', 'parameter = "nope"',
    'slo = { ttft = 1 }', 'seeds = {}', 'seeds = -1', 'show = { "nope" }', 'params = {}', 'objectives = {}' },
  sensitivity = { 'params = { "nope" }', 'metrics = { "nope" }', 'step = 2', 'step = -1', 'seeds = "x"', 'min = 3' },
  pareto = { 'vary = { nope = { 1 } }', 'vary = 3', 'objectives = { "nope" }',
    'vary = { ["deployment.tpp"] = { 1 } }' },
  cheapest = { 'deployments = {}', 'deployments = { { name = "a", cost_per_hour = -1, set = {} } }',
    'deployments = { { name = "a", cost_per_hour = 1, set = { ["deployment.nope"] = 1 } } }', 'slo = {}' },
}

test("keys of plan and search themselves are looked at as well", function()
  local refused = 0
  local function each(kind, text, what)
    local ok, problem, found = both(text)
    if not ok then
      refused = refused + 1
      test.check(found.errors > 0, "check of %s finds nothing, its run says: %s", what, tostring(problem))
    end
    return ok and kind
  end
  for _, keys in ipairs(of_plan) do
    local own = plan:format(""):gsub(" }$", ", " .. keys .. " }") -- a key that is there twice has the last value
    each("plan", common:format("plan", own, ""), keys)
  end
  for _, search in ipairs(searches) do
    for _, keys in ipairs(of_search[search:match '"(.-)"']) do
      each("search", common:format("search", ('hardware = "h100-sxm", search = { %s, %s }'):format(search, keys), ""),
        search:match '"(.-)"' .. ": " .. keys)
    end
  end
  test.at_least(refused, #of_plan + 20)
end)

test("one candidate that no run can begin with is found, and so is a mistake in one variant of many", function()
  local speculation = [[speculation = { speculator = require "speculators.fixed" { draft_tokens = 2 },
    acceptance = require "acceptance.constant" {}, drafter = require "drafters.free" {} }]]
  local stages = plan:format(""):gsub("tp = { 1 }", "tp = { 1 }, pp = { 1, 2 }"):gsub("most = 1", "most = 2")
  local ok, problem, found = both(common:format("plan", stages, speculation))
  test.check(not ok and problem:find "several stages", "%s", tostring(problem))
  test.equal(found.errors, 1)
  local pareto = 'hardware = "h100-sxm", search = { goal = "pareto", vary = { ["deployment.tp"] = { 1, 2 } } }'
  ok, problem, found = both(common:format("search", pareto, 'deployment = { memory_utilization = 0.15 }'))
  test.check(ok, "two GPUs hold it: %s", tostring(problem))
  test.equal(found.errors, 0, "one of two deployments that does not fit is a line of the result")
end)

test("a plan of thousands of candidates is checked within the limit of instructions", function()
  local lists = [[local seats, budgets = {}, {}
    for i = 1, 50 do seats[i], budgets[i] = 8 * i, 512 * i end
    ]]
  local text = plan:format(""):gsub("max_num_seqs = { 32 }", "max_num_seqs = seats"):gsub(
    "max_num_batched_tokens = { 1024 }", "max_num_batched_tokens = budgets")
  local found = check.file(test.file("many.lua", lists .. common:format("plan", text, "")))
  test.equal(found.errors, 0, found.findings[1] and found.findings[1].message)
  test.equal(#found.forecast, 1)
end)

test("what the scenario says of the deployment is a mistake where no candidate can be built because of it", function()
  local function of(keys, more)
    local text = plan:format(""):gsub("tp = { 1 }", more or "tp = { 1 }"):gsub("most = 1", "most = 4")
    return both(common:format("plan", text, keys))
  end
  local ok, problem = of 'deployment = { pp_batches = 2 }'
  test.check(not ok and problem:find("deployment.pp_batches: there is one stage", 1, true), "%s", tostring(problem))
  test.check((of('deployment = { pp_batches = 2 }', "tp = { 1 }, pp = { 1, 2 }")), "candidates of two stages are tried")
  test.check((of 'deployment = { memory_utilization = 0.05 }'), "a lack of memory is an answer")
  test.check((of 'deployment = { kv_blocks = 1 }'), "a small cache is an answer")
  test.check((of('deployment = { block_size = 32 }', "tp = { 3 }")), "what the axes cannot have is an answer")
end)

test.finish()
