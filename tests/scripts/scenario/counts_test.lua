-- Numbers of a scenario that say how often something is done have limits: what is over one is refused at once, by name.
-- Names of thousands of letters are cut in messages.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local check = require "rooflua.program.check"
local native = require "rooflua.native"
local serve, spec, sweep, json = rooflua.serve, rooflua.spec, rooflua.sweep, rooflua.json

local function scenario(more)
  return scene({ hardware = "h200-sxm", workload = require "workloads.poisson" {
    rate_per_s = 200, num_requests = 40, prompt_tokens = 300, output_tokens = 8 } }, more)
end

--- Checks that the call is refused within a second of CPU, in the words that are expected.
local function refused_at_once(expected, call, ...)
  local start_s = os.clock()
  local ok, problem = pcall(call, ...)
  test.check(not ok, "nothing is refused: %s", expected)
  test.check(tostring(problem):find(expected, 1, true), "expected '%s' in '%s'", expected, tostring(problem))
  test.check(os.clock() - start_s < 1, "%s: takes %.1f s", expected, os.clock() - start_s)
end

test("the number of replicas has a limit, alone and over a list", function()
  for _, count in ipairs { 2049, 2147483647, 2 ^ 40, 1 / 0 } do
    refused_at_once("replicas: expected a whole number from 1 to 2048", serve.run, scenario { replicas = count })
    refused_at_once("replicas[1].count: expected a whole number from 1 to 2048", serve.run,
      scenario { replicas = { { count = count }, { role = "both" } } })
  end
  refused_at_once("replicas: expected at most 2048", serve.run,
    scenario { replicas = { { count = 1024 }, { count = 1025 } } })
end)

test("check refuses a search over two billion replicas at once", function()
  local path = test.file("many.lua", [[
return { kind = "search", model = "llama-3.1-8b", hardware = "mi300x", steps = "roofline_v1",
  workload = require "workloads.closed_loop" { clients = 2, num_requests = 6, prompt_tokens = 16, output_tokens = 2 },
  replicas = { { count = 2147483647 }, { role = "both" } },
  search = { parameter = "workload.clients", slo = { ttft_s_p99 = 1 }, min = 1, max = 4 } }]])
  local start_s = os.clock()
  local result = check.file(path)
  test.equal(result.errors, 1)
  test.check(json.encode(result.findings):find("replicas[1].count: expected a whole number", 1, true),
    "%s", json.encode(result.findings))
  test.check(os.clock() - start_s < 1, "takes %.1f s", os.clock() - start_s)
end)

test("as many replicas as are allowed are checked within seconds", function()
  local path = test.file("most.lua", [[
return { model = "llama-3.1-8b", hardware = "h200-sxm", replicas = 2048,
  workload = require "workloads.poisson" { rate_per_s = 5, num_requests = 6, prompt_tokens = 16,
    output_tokens = 2 } }]])
  local result = check.file(path)
  test.equal(result.errors, 0)
end)

test("replicas that are alike serve as replicas that are listed one by one", function()
  local function text(replicas)
    local result = serve.run(scenario { replicas = replicas, router = "least_outstanding" })
    return json.encode(result.summary)
  end
  local listed = text { {}, {}, {} }
  test.equal(text(3), listed)
  test.equal(text { { count = 3 } }, listed)
  test.check(text(2) ~= listed, "two replicas serve as three")
end)

test("replicas that are alike are a Model and tables that are read once", function()
  local path = test.file("small.toml", 'name = "small"\nlayers = 2\nhidden_size = 1024\nheads = 8\nkv_heads = 8\n'
    .. "head_dim = 128\nintermediate_size = 4096\nvocab_size = 32000\nmax_model_len = 4096\n")
  local loads, load = 0, native.load_model
  native.load_model = function(...)
    loads = loads + 1
    return load(...)
  end
  local ok, problem = pcall(serve.run, scenario { model = path, replicas = 5 })
  native.load_model = load
  test.check(ok, "%s", tostring(problem))
  test.equal(loads, 1)
end)

test("seeds, checks and jobs of searches have limits", function()
  local function search(more)
    local out = { goal = "rate", slo = { ttft_s_p99 = 1 }, min = 1, max = 4 }
    for key, value in pairs(more) do out[key] = value end
    return scenario { kind = "search", search = out }
  end
  refused_at_once("search: seeds: expected a whole number from 1 to 100000", sweep.search,
    { search { seeds = 2147483647 } })
  refused_at_once("search: checks: expected a whole number from 0 to 1000", sweep.search,
    { search { checks = 2147483647 } })
  refused_at_once("jobs: expected a whole number from 1 to 1024", sweep.search, { search {}, jobs = 2147483647 })
  refused_at_once("make more than 1000000 runs", sweep.grid,
    { scenario(), vary = { seed = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } }, seeds = 100000 })
end)

test("messages cut a name of thousands of letters", function()
  local long = ("x"):rep(5000)
  for what, call in pairs {
    model = function() spec.model(long) end,
    hardware = function() spec.hardware(long) end,
    key = function() serve.run(scenario { [long] = 1 }) end,
    policy = function() serve.run(scenario { scheduler = long }) end,
    lookup = function() serve.run(scenario { mfu = long }) end,
    dtype = function() serve.run(scenario { deployment = { weights = long } }) end,
    role = function() serve.run(scenario { replicas = { { role = long } } }) end,
    path = function() sweep.grid { scenario(), vary = { ["steps." .. long] = { 1, 2 } } } end,
    metric = function() sweep.sensitivity { scenario(), metrics = { long } } end,
    parameter = function() require "workloads.poisson" { [long] = 1 } end,
  } do
    local ok, problem = pcall(call)
    test.check(not ok, "%s: nothing is refused", what)
    test.check(tostring(problem):find("xxx...xxx", 1, true), "%s: %s", what, tostring(problem):sub(1, 400))
    test.check(#tostring(problem) < 2500, "%s: a message of %d letters", what, #tostring(problem))
  end
end)

test("a name that is too long for a file changes no later run that stores its results", function()
  local path = test.file "after.sqlite"
  local function run() return sweep.grid { scenario(), vary = { seed = { 1, 2 } }, results = path } end
  local first = json.encode((run()))
  test.check(not pcall(serve.run, scenario { model = "llama-" .. ("x"):rep(5000) }), "a model of that name")
  test.equal(json.encode((run())), first)
end)

test.finish()
