-- Sweeps: order, jobs, common random numbers, samples, results files.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local Reader = require "rooflua.scenario.reader"
local sweep, serve, json = rooflua.sweep, rooflua.serve, rooflua.json

local function scenario(more)
  return scene({ hardware = "h200", seed = 3, steps = require "steps.roofline_v1" {},
    scheduler = require "schedulers.vllm_v1" { max_num_seqs = 16 },
    workload = require "workloads.gamma" { rate_per_s = 20, num_requests = 60,
      prompt_tokens = { distribution = "uniform", min = 50, max = 900 },
      output_tokens = { distribution = "lognormal", mean = 60, sigma = 0.7 } } }, more)
end

local vary = { ["scheduler.max_num_seqs"] = { 4, 16 } }

test("a grid is in order, the last key fastest, and each run is the run by itself", function()
  local runs = sweep.grid { scenario(), vary = vary, seeds = { 7, 5 } }
  local names = {}
  for i, run in ipairs(runs) do names[i] = run.name end
  test.equal(table.concat(names, "; "), "max_num_seqs=4, seed=7; max_num_seqs=4, seed=5; max_num_seqs=16, seed=7; "
    .. "max_num_seqs=16, seed=5")
  local alone = serve.run(scenario { seed = 5, scheduler = require "schedulers.vllm_v1" { max_num_seqs = 16 } })
  test.equal(runs[4].summary.ttft_s.p99, alone.summary.ttft_s.p99)
  test.equal(runs[4].seed, 5)
  test.equal(runs[4].gpus, 1)
end)

test("results do not depend on the number of jobs", function()
  local one = json.encode((sweep.grid { scenario(), vary = vary, seeds = 5 }))
  for _, jobs in ipairs { 2, 3, 16 } do
    test.equal(json.encode((sweep.grid { scenario(), vary = vary, seeds = 5, jobs = jobs })), one, jobs .. " jobs")
  end
end)

--- The requests that arrived: id, arrival, prompt and output length.
local function stream_of(given)
  local path = test.file()
  require("rooflua.serving.full_run").run(Reader.new "test", given, { requests_path = path })
  local lines, header = {}, nil
  for line in io.lines(path) do
    local cells = {}
    for cell in (line .. ","):gmatch "([^,]*)," do cells[#cells + 1] = cell end
    if header then
      local row = {}
      for i, name in ipairs(header) do row[name] = cells[i] end
      lines[tonumber(row.id) + 1] = { arrival = row.arrival_s, prompt = row.prompt_tokens, output = row.output_tokens }
    else
      header = cells
    end
  end
  return lines
end

local function same_lengths(a, b, what)
  test.equal(#a, 60)
  test.equal(#b, 60)
  for i, request in ipairs(a) do
    test.equal(b[i].prompt, request.prompt, what .. ": prompt of " .. i)
    test.equal(b[i].output, request.output, what .. ": output of " .. i)
  end
end

test("variants of one seed see the same requests, whatever is varied", function()
  local base = stream_of(scenario())
  local cases = {
    scheduler = scenario { scheduler = require "schedulers.sjf" { max_num_seqs = 4 } },
    steps = scenario { steps = require "steps.kernels" {} },
    hardware = scenario { hardware = "l40s" },
    model = scenario { model = "qwen2.5-7b" },
    replicas = scenario { replicas = 3, router = require "routers.random" {} },
  }
  for what, given in pairs(cases) do
    local other = stream_of(given)
    same_lengths(base, other, what)
    for i, request in ipairs(base) do test.equal(other[i].arrival, request.arrival, what .. ": arrival of " .. i) end
  end
end)

test("another rate stretches the gaps of the same seed and keeps the lengths", function()
  local base = stream_of(scenario())
  local workload = rooflua.policy.with(scenario().workload, { rate_per_s = 40 })
  local fast = stream_of(scenario { workload = workload })
  same_lengths(base, fast, "rate")
  for i, request in ipairs(base) do
    test.near(tonumber(fast[i].arrival), tonumber(request.arrival) / 2, 1e-9, "arrival of " .. i)
  end
end)

test("another seed brings other requests", function()
  local a, b, same = stream_of(scenario()), stream_of(scenario { seed = 4 }), 0
  for i, request in ipairs(a) do
    if b[i].prompt == request.prompt then same = same + 1 end
  end
  test.at_least(10, same)
end)

local space = { ["scheduler.max_num_seqs"] = { min = 1, max = 64, log = true },
  ["workload.rate_per_s"] = { 1, 9 }, ["hardware"] = { "h200", "h100", "l40s" } }

local function sampled(method, n, seed)
  local points = require("rooflua.applied.sampling").points(Reader.new "test", (function()
    local given = scenario()
    given.sweep = { method = method, n = n, params = space, seed = seed }
    return given
  end)())
  return points
end

test("a Latin hypercube has one point in every slice of every dimension", function()
  local seen = {}
  for _, point in ipairs(sampled("latin_hypercube", 32)) do
    local slice = math.floor((point.parameters["workload.rate_per_s"] - 1) / 8 * 32)
    test.equal(seen[slice], nil, "slice " .. slice)
    seen[slice] = true
  end
end)

test("the first 2^k Sobol points have one in every dyadic slice, and pairs in every square", function()
  local sobol = require "rooflua.scenario.sobol"
  local points = sobol.points(64, sobol.most_dimensions)
  for d = 1, sobol.most_dimensions do
    local seen = {}
    for _, point in ipairs(points) do
      local slice = math.floor(point[d] * 64)
      test.equal(seen[slice], nil, ("dimension %d, slice %d"):format(d, slice))
      seen[slice] = true
    end
  end
  local squares = {}
  for _, point in ipairs(points) do
    local square = math.floor(point[1] * 8) * 8 + math.floor(point[2] * 8)
    test.equal(squares[square], nil, "square")
    squares[square] = true
  end
  -- the first points of the Sobol sequence with Joe and Kuo's direction numbers
  local first = { { 0, 0, 0 }, { 0.5, 0.5, 0.5 }, { 0.75, 0.25, 0.25 }, { 0.25, 0.75, 0.75 },
    { 0.375, 0.375, 0.625 } }
  for i, expected in ipairs(first) do
    for d = 1, 3 do test.equal(points[i][d], expected[d], ("point %d, dimension %d"):format(i, d)) end
  end
end)

test("samples keep their ranges, whole numbers and choices, and repeat with their seed", function()
  for _, method in ipairs { "random", "latin_hypercube", "sobol" } do
    local points, hardware = sampled(method, 48, 9), {}
    for _, point in ipairs(points) do
      local seats, rate = point.parameters["scheduler.max_num_seqs"], point.parameters["workload.rate_per_s"]
      test.check(seats >= 1 and seats <= 64 and seats % 1 == 0, "seats %g", seats)
      test.check(rate >= 1 and rate <= 9, "rate %g", rate)
      hardware[point.parameters.hardware] = (hardware[point.parameters.hardware] or 0) + 1
    end
    for _, name in ipairs { "h200", "h100", "l40s" } do test.at_least(hardware[name] or 0, 8, method .. " " .. name) end
    test.equal(json.encode(points[48].parameters), json.encode(sampled(method, 48, 9)[48].parameters))
    test.check(json.encode(points[48].parameters) ~= json.encode(sampled(method, 48, 10)[48].parameters))
  end
end)

test("a sample is run", function()
  local runs = sweep.sample { scenario(), method = "latin_hypercube", n = 3,
    params = { ["workload.rate_per_s"] = { 5, 30 } },
    jobs = 2 }
  test.equal(#runs, 3)
  for _, run in ipairs(runs) do test.equal(run.summary.completed, 60) end
end)

test("a results file is read instead of run, by every sweep that contains it", function()
  local path = test.file()
  local options = { scenario(), vary = vary, seeds = 2, results = path }
  local function reused() return select(2, sweep.grid(options)).reused end
  local first, about = sweep.grid(options)
  test.equal(about.reused, 0)
  local second = sweep.grid(options)
  test.equal(reused(), 4)
  test.equal(json.encode(second), json.encode(first))
  options[1] = scenario { model = "qwen2.5-7b" }
  test.equal(reused(), 0, "another scenario")
  options[1], options.seeds = scenario(), 3
  test.equal(reused(), 4, "one more seed: the runs of the others are there")
end)

test("a run that fails costs itself where results are kept, and is an error elsewhere", function()
  local path = test.file()
  local options = { scenario(), vary = { model = { "llama-3.1-8b", "llama-3.1-70b" } }, results = path }
  local runs, about = sweep.grid(options)
  test.equal(#runs, 1)
  test.equal(#about.failed, 1)
  test.check(about.failed[1].problem:find "does not fit")
  options.results = nil
  test.raises("does not fit", function() sweep.grid(options) end)
end)

test("mistakes are found before the first run", function()
  test.raises("did you mean 'max_num_seqs'", function()
    sweep.grid { scenario(), vary = { ["scheduler.max_num_seq"] = { 1 } } }
  end)
  test.raises("did you mean 'sobol'", function()
    sweep.sample { scenario(), method = "sobel", n = 4, params = space }
  end)
  test.raises("expected a whole number >= 1", function() sweep.sample { scenario(), n = 0, params = space } end)
  test.raises("did you mean 'workload.rate_per_s'", function()
    sweep.sample { scenario(), n = 2, params = { "workload.rate_per" } }
  end)
  test.raises("unknown key 'varry'", function() sweep.grid { scenario(), varry = vary } end)
  test.raises("a scenario is missing", function() sweep.grid { vary = vary } end)
  test.raises("vary: is missing", function() sweep.grid { scenario() } end)
  test.raises("jobs", function() sweep.grid { scenario(), vary = vary, jobs = 0 } end)
  test.raises("not a file of results", function()
    sweep.grid { scenario(), vary = vary, results = "tests/scripts/explore/sweep_test.lua" }
  end)
end)

test.finish()
