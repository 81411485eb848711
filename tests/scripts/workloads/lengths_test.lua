-- Impossible lengths and arrivals: the error names the key, the value that was found and what would be right.
local test = dofile "tests/scripts/harness.lua"
local lengths = require "rooflua.lengths"
local random = require "rooflua.random"

local streams = random.streams(1)

local function workload(name) return require("workloads." .. name) end

--- The key path and the words of the error that this declaration of prompt lengths gets.
local function refused(part, spec)
  test.raises("workload.prompt_tokens" .. part, function()
    workload "poisson" { prompt_tokens = spec }:requests(streams)
  end)
end

test("a distribution takes its own fields and no others", function()
  refused(": unknown field of fixed 'min' (known: tokens)", { distribution = "fixed", tokens = 5, min = 10 })
  refused(": unknown field of normal 'weights' (known: mean, deviation, min, max)",
    { distribution = "normal", mean = 5, deviation = 1, weights = { 1 } })
  refused(": unknown field of pareto 'maks'; did you mean 'max'", { distribution = "pareto", shape = 2, min = 1,
    maks = 3 })
  refused(": expected a distribution (known: fixed, uniform, normal, lognormal, zipf, pareto, empirical, listed), "
    .. "found nil", { 5 })
  refused(": expected a number or { distribution = ... }, found text \"5\"", "5")
end)

test("numbers of a distribution that no request can have are refused", function()
  refused(".tokens: expected at most 2147483647, found 2147483648", 2147483648)
  refused(".max: expected at most 2147483647", { distribution = "uniform", min = 1, max = 2147483648 })
  refused(".min: expected a whole number, found 1.5", { distribution = "normal", mean = 5, deviation = 1, min = 1.5 })
  refused(".sigma: expected at most 30", { distribution = "lognormal", mean = 5, sigma = 1e200 })
  refused(".mean: expected a number >= 0, found nan", { distribution = "normal", mean = 0 / 0, deviation = 1 })
  refused(".mean: expected a number >= 0, found inf", { distribution = "normal", mean = math.huge, deviation = 1 })
  refused(": zipf keeps a weight for each", { distribution = "zipf", exponent = 1, min = 0, max = 1e7 })
  refused(": expected a whole number >= 1, found 0", 0)
  refused(".mean: expected a number > 0, or a min of at least 1; found 0",
    { distribution = "normal", mean = 0, deviation = 1 })
  refused(".max: expected at least 1 token, found 0", { distribution = "uniform", min = 0, max = 0 })
  refused(": min 9 is above max 2", { distribution = "normal", mean = 5, deviation = 1, min = 9, max = 2 })
end)

test("values and weights go together", function()
  local function counted(values, weights) return { distribution = "empirical", values = values, weights = weights } end
  refused(".weights: expected a list of numbers, found number", counted({ 5 }, 7))
  refused(".weights: expected 2, as many as values, found 1", counted({ 5, 6 }, { 1 }))
  refused(".weights[2]: expected a number >= 0, found inf", counted({ 5, 6 }, { 1, math.huge }))
  refused(".weights[1]: expected a number >= 0, found -1", counted({ 5, 6 }, { -1, 2 }))
  refused(": the weights must not all be 0", counted({ 5, 6 }, { 0, 0 }))
  refused(".values: expected a list of token counts", counted({}))
  refused(".values[2]: expected a number of tokens from 1 to 2147483647, found 0", counted { 5, 0 })
end)

test("whatever is drawn is a whole number within its bounds", function()
  local stream = streams:stream "extremes"
  for _, spec in ipairs {
    { distribution = "normal", mean = 5, deviation = 1e308 }, { distribution = "pareto", shape = 1e-300, min = 1 },
    { distribution = "lognormal", mean = 1e300, sigma = 30 }, { distribution = "lognormal", mean = 1e-300, sigma = 30 },
    { distribution = "zipf", exponent = 1e308, min = 0, max = 3 }, { distribution = "uniform", min = 0, max = 1 },
    { distribution = "empirical", values = { 1.5, 2147483647 }, weights = { 1e300, 1e300 } },
    { distribution = "normal", mean = 0, deviation = 0, min = 3, max = 3 } } do
    local sample = lengths.sampler(spec, "workload.prompt_tokens")
    for _ = 1, 200 do
      local tokens = sample(stream)
      test.check(tokens >= 1 and tokens <= 2147483647 and tokens % 1 == 0, "%s drew %g", spec.distribution, tokens)
    end
  end
end)

test("the mean of every distribution is that of many samples", function()
  local stream = streams:stream "means"
  for _, spec in ipairs { 7, { distribution = "uniform", min = 10, max = 19 },
    { distribution = "normal", mean = 500, deviation = 50 }, { distribution = "lognormal", mean = 300, sigma = 0.5 },
    { distribution = "zipf", exponent = 1, min = 5, max = 8 }, { distribution = "pareto", shape = 5, min = 100 },
    { distribution = "empirical", values = { 7, 100, 3000 }, weights = { 1, 3, 4 } },
    { distribution = "empirical", values = { 7, 9 } } } do
    local sample, sum, squares, n = lengths.sampler(spec, "workload.prompt_tokens"), 0, 0, 20000
    for _ = 1, n do
      local tokens = sample(stream)
      sum, squares = sum + tokens, squares + tokens * tokens
    end
    local mean = sum / n
    local error_of_it = math.sqrt(math.max(0, squares / n - mean * mean) / n)
    test.check(math.abs(lengths.mean(spec) - mean) <= 4 * error_of_it + 0.02, "mean %g, samples %g",
      lengths.mean(spec), mean)
  end
  test.equal(lengths.mean { distribution = "pareto", shape = 1, min = 5 }, math.huge)
  test.raises("lengths.mean", function() lengths.mean "many" end)
end)

test("listed lengths come in their order, from the first again after the last", function()
  local sample, out = lengths.sampler({ distribution = "listed", values = { 7, 3, 9 } }, "workload.prompt_tokens"), {}
  for i = 1, 7 do out[i] = sample(streams:stream "listed", i) end
  test.equal(table.concat(out, " "), "7 3 9 7 3 9 7")
  test.equal(lengths.mean { distribution = "listed", values = { 7, 3, 8 } }, 6)
  test.equal(lengths.most { distribution = "listed", values = { 7, 3, 9, 8 } }, 9)
  refused(": unknown field of listed 'weights' (known: values)",
    { distribution = "listed", values = { 1 }, weights = { 1 } })
  refused(".values: expected a list of token counts", { distribution = "listed", values = {} })
  refused(".values[2]: expected a number of tokens from 1 to 2147483647, found 0",
    { distribution = "listed", values = { 5, 0 } })
end)

test("a workload that does not count its requests refuses listed lengths", function()
  local listed = { distribution = "listed", values = { 5 } }
  for _, name in ipairs { "poisson", "constant", "burst", "gamma" } do
    for _, key in ipairs { "prompt_tokens", "output_tokens" } do
      local source = workload(name) { [key] = listed }:requests(streams)
      test.raises("workload." .. key .. ": listed lengths need workloads.closed_loop",
        function() source.next(source) end)
    end
  end
end)

-- Presets of inference-perf and BLIS. Clamping moves a mean by less than 0.3 tokens.
test("presets have the lengths of their names", function()
  for name, known in pairs {
    chatbot = { { 256, 100, 2, 800 }, { 256, 100, 1, 1024 } },
    content_generation = { { 1024, 150, 10, 2048 }, { 1024, 200, 10, 2048 } },
    summarization = { { 4096, 500, 100, 8192 }, { 512, 150, 10, 2048 } },
    multi_document = { { 10240, 1200, 500, 20480 }, { 1536, 300, 50, 4096 } } } do
    local source = workload "presets" { preset = name, num_requests = 20000 }:requests(streams)
    local sums, squares = { 0, 0 }, { 0, 0 }
    for _ = 1, 20000 do
      local drawn = { select(2, source.next(source)) }
      for i = 1, 2 do
        test.check(drawn[i] >= known[i][3] and drawn[i] <= known[i][4], "%s: %d tokens", name, drawn[i])
        sums[i], squares[i] = sums[i] + drawn[i], squares[i] + drawn[i] * drawn[i]
      end
    end
    for i = 1, 2 do
      local mean, deviation = sums[i] / 20000, known[i][2]
      test.check(math.abs(mean - known[i][1]) <= 4 * deviation / math.sqrt(20000) + 0.3, "%s: mean %g", name, mean)
      test.near(math.sqrt(squares[i] / 20000 - mean * mean), deviation, 0.03, name .. ": deviation")
    end
  end
end)

test("arrivals that pass the end of the clock name the key that is at fault", function()
  local function last(given)
    local source = given:requests(streams)
    for _ = 1, 20 do source.next(source) end
  end
  for _, name in ipairs { "poisson", "gamma", "weibull", "constant", "presets" } do
    test.raises("workload.rate_per_s: request", function() last(workload(name) { rate_per_s = 1e-7 }) end)
  end
  test.raises("workload.rate_per_s: request", function()
    last(workload "burst" { rate_per_s = 1e-7, burst_s = 0 })
  end)
  test.raises("workload.session_rate_per_s: request 1 of 5 comes ", function()
    last(workload "multi_turn" { session_rate_per_s = 1e-7 })
  end)
  for _, name in ipairs { "closed_loop", "multi_turn" } do
    local source = workload(name) { think_time_s = 1 }:requests(streams)
    source.next(source)
    test.raises("workload.think_time_s: request 2 of", function() source.done(source, 9.3e6, 0, 0, true) end)
  end
  test.raises("burst.period_s: expected >= 1e-09", function() workload "burst" { period_s = 1e-300 } end)
  test.raises("gamma.shape: expected >= 0.001", function() workload "gamma" { shape = 1e-300 } end)
end)

test.finish()
