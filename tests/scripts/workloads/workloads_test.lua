-- Workloads: the requests they send have the moments that their parameters declare, within four standard errors.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local random = require "rooflua.random"

local N = 20000

--- All requests that a workload sends without waiting for an answer: arrival, prompt, output and fields of each.
local function drawn(workload, seed)
  local source = workload:requests(random.streams(seed or 1))
  local out = { arrivals = {}, gaps = {}, prompts = {}, outputs = {}, fields = {} }
  local before = 0
  while true do
    local arrival, prompt, output, fields = source.next(source)
    if not arrival then return out end
    local i = #out.arrivals + 1
    out.arrivals[i], out.gaps[i], out.prompts[i], out.outputs[i] = arrival, arrival - before, prompt, output
    out.fields[i] = fields
    before = arrival
  end
end

local function moments(values)
  local sum, squares = 0, 0
  for _, value in ipairs(values) do sum = sum + value end
  local mean = sum / #values
  for _, value in ipairs(values) do squares = squares + (value - mean) * (value - mean) end
  return mean, math.sqrt(squares / (#values - 1))
end

local function within(found, expected, error_of_it, what)
  test.check(math.abs(found - expected) <= 4 * error_of_it, "%s: expected %g within 4 times %g, found %g",
    what, expected, error_of_it, found)
end

--- Mean and deviation as expected; the error of the deviation follows from the kurtosis.
local function has_moments(values, mean, deviation, kurtosis)
  local n, found_mean, found_deviation = #values, moments(values)
  within(found_mean, mean, deviation / math.sqrt(n), "mean")
  within(found_deviation, deviation, deviation * math.sqrt((kurtosis - 1) / (4 * n)), "deviation")
end

local function workload(name) return require("workloads." .. name) end

-- Arrivals ---------------------------------------------------------------------------------------------

test("poisson has exponential gaps of mean 1 / rate", function()
  local sent = drawn(workload "poisson" { rate_per_s = 4, num_requests = N })
  test.equal(#sent.gaps, N)
  has_moments(sent.gaps, 0.25, 0.25, 9)
end)

test("gamma gaps have mean 1 / rate and variation shape^-1/2", function()
  has_moments(drawn(workload "gamma" { rate_per_s = 4, shape = 0.25, num_requests = N }).gaps, 0.25, 0.5, 3 + 6 / 0.25)
  has_moments(drawn(workload "gamma" { rate_per_s = 4, shape = 4, num_requests = N }).gaps, 0.25, 0.125, 3 + 6 / 4)
end)

-- Shape 2 (Rayleigh): variation sqrt(4 / pi - 1), kurtosis 3.245. Shape 1 is exponential.
test("weibull gaps have mean 1 / rate and the variation of their shape", function()
  has_moments(drawn(workload "weibull" { rate_per_s = 4, shape = 2, num_requests = N }).gaps,
    0.25, 0.25 * math.sqrt(4 / math.pi - 1), 3.245)
  has_moments(drawn(workload "weibull" { rate_per_s = 4, shape = 1, num_requests = N }).gaps, 0.25, 0.25, 9)
end)

test("constant is a metronome", function()
  local sent = drawn(workload "constant" { rate_per_s = 4, num_requests = 100 })
  for i, arrival in ipairs(sent.arrivals) do test.equal(arrival, i / 4) end
end)

--- The last arrival is a sum of exponentials with these rates.
local function ends_like(arrivals, rate_of)
  local mean, variance = 0, 0
  for i = 1, #arrivals do
    mean, variance = mean + 1 / rate_of(i), variance + 1 / rate_of(i) ^ 2
  end
  within(arrivals[#arrivals], mean, math.sqrt(variance), "last arrival")
end

test("ramp goes from one rate to the other, by equal steps or equal factors", function()
  local Ramp = workload "ramp"
  local function part(i) return (i - 1) / (N - 1) end
  local linear = drawn(Ramp { rate_per_s = 1, end_rate_per_s = 9, num_requests = N }).arrivals
  ends_like(linear, function(i) return 1 + 8 * part(i) end)
  local first_half = {}
  for i = 1, N / 2 do first_half[i] = linear[i] end
  ends_like(first_half, function(i) return 1 + 8 * part(i) end)
  ends_like(drawn(Ramp { rate_per_s = 1, end_rate_per_s = 9, form = "exponential", num_requests = N }).arrivals,
    function(i) return 9 ^ part(i) end)
end)

-- Of 10 s, 2 at 10 requests/s and 8 at 1: 28 a period, 20 of them in the burst.
-- Edges at multiples of 0.1 are no binary fractions: an edge that is "now" must not be waited for.
test("burst goes on whatever its period, and takes no longer for short ones", function()
  for _, each in ipairs { { 0.1, 0.05 }, { 0.3, 0.1 }, { 1, 0.1 }, { 0.7, 0.2 }, { 7.3, 1.1 }, { 1e-9, 5e-10 },
                          { 5, 5 }, { 5, 0 } } do
    local period_s, burst_s = each[1], each[2]
    local sent = drawn(workload "burst" { rate_per_s = 5, burst_rate_per_s = 40, burst_s = burst_s, period_s = period_s,
      num_requests = N })
    local mean = (40 * burst_s + 5 * (period_s - burst_s)) / period_s
    local seconds = sent.arrivals[N]
    -- The count of a Poisson process, and up to one burst that is cut short.
    within(N, mean * seconds, math.sqrt(N) + 40 * burst_s, ("requests with period %g s"):format(period_s))
  end
  test.raises("workload.burst_s: 3 s are more than workload.period_s, 2 s", function()
    drawn(workload "burst" { burst_s = 3, period_s = 2 })
  end)
end)

test("burst has one rate in its bursts and another between them", function()
  local sent = drawn(workload "burst" { rate_per_s = 1, burst_rate_per_s = 10, period_s = 10, burst_s = 2,
    num_requests = N })
  local inside = 0
  for _, arrival in ipairs(sent.arrivals) do
    if arrival % 10 < 2 then inside = inside + 1 end
  end
  local periods = sent.arrivals[N] / 10
  within(inside, 20 * periods, math.sqrt(20 * periods), "inside bursts")
  within(N - inside, 8 * periods, math.sqrt(8 * periods), "between bursts")
end)

test("vllm_bench sends the last request at N / rate", function()
  local VllmBench = workload "vllm_bench"
  for _, burstiness in ipairs { 0.5, 1, 4 } do
    local sent = drawn(VllmBench { request_rate = 8, burstiness = burstiness, num_prompts = 1000 })
    test.near(sent.arrivals[1000], 125, 1e-15)
    test.check(sent.arrivals[1] > 0, "the first request waits for its own gap")
    -- a rescaled sum: each gap is a Beta share of 125 s, nearly Gamma
    has_moments(sent.gaps, 0.125, 0.125 / math.sqrt(burstiness), 3 + 6 / burstiness)
  end
end)

test("vllm_bench sends all at once at an infinite rate, and evenly with infinite burstiness", function()
  local VllmBench = workload "vllm_bench"
  local at_once = drawn(VllmBench { num_prompts = 10, request_rate = math.huge }).arrivals
  for _, arrival in ipairs(at_once) do test.equal(arrival, 0) end
  local even = drawn(VllmBench { num_prompts = 10, request_rate = 4, burstiness = math.huge }).arrivals
  for i, arrival in ipairs(even) do test.near(arrival, i / 4, 1e-15) end
end)

test("vllm_bench draws lengths from L(1 - r) to L(1 + r), rounded outwards", function()
  local sent = drawn(workload "vllm_bench" { num_prompts = N, random_input_len = 10, random_output_len = 1,
    random_range_ratio = 0.25, random_prefix_len = 7 })
  local counts = {}
  for _, prompt in ipairs(sent.prompts) do counts[prompt - 7] = (counts[prompt - 7] or 0) + 1 end
  -- 7.5 to 12.5: 7 ... 13, seven values
  for length = 7, 13 do within(counts[length] or 0, N / 7, math.sqrt(N * 6 / 49), length .. " tokens") end
  for _, output in ipairs(sent.outputs) do test.check(output == 1 or output == 2, "%d output tokens", output) end
  test.equal(sent.fields[1].content[1][1], sent.fields[2].content[1][1], "the prefix of two prompts")
  test.equal(sent.fields[1].content[1][2], 7, "prefix tokens")
end)

-- Lengths ----------------------------------------------------------------------------------------------

local function prompts_of(distribution)
  return drawn(workload "constant" { num_requests = N, prompt_tokens = distribution }).prompts
end

local function whole_within(values, low, high)
  for _, value in ipairs(values) do
    test.check(value % 1 == 0 and value >= low and value <= high,
      "%g is no whole number from %g to %g", value, low, high)
  end
end

test("fixed lengths are fixed", function()
  for _, prompt in ipairs(prompts_of(77)) do test.equal(prompt, 77) end
  test.equal(prompts_of { distribution = "fixed", tokens = 78 }[1], 78)
end)

-- of n values: variance (n^2 - 1) / 12, kurtosis 1.8
test("uniform lengths have the moments of a uniform distribution, both ends included", function()
  local prompts = prompts_of { distribution = "uniform", min = 10, max = 19 }
  whole_within(prompts, 10, 19)
  has_moments(prompts, 14.5, math.sqrt(99 / 12), 1.8)
end)

test("normal lengths have their mean and deviation, and are clamped", function()
  has_moments(prompts_of { distribution = "normal", mean = 500, deviation = 50 }, 500, 50, 3)
  local clamped = prompts_of { distribution = "normal", mean = 500, deviation = 50, min = 480, max = 490 }
  whole_within(clamped, 480, 490)
  local at_max = 0
  for _, prompt in ipairs(clamped) do at_max = at_max + (prompt == 490 and 1 or 0) end
  -- above 489.5: z > -0.21
  within(at_max / N, 0.58317, math.sqrt(0.58317 * 0.41683 / N), "share of 490")
end)

-- deviation mean * sqrt(exp(sigma^2) - 1); of the logarithm: sigma. Rounding adds 1/12 to the variance.
test("lognormal lengths have the mean that is asked for, and sigma in their logarithm", function()
  local prompts = prompts_of { distribution = "lognormal", mean = 2000, sigma = 0.7 }
  local deviation = 2000 * math.sqrt(math.exp(0.49) - 1)
  within((moments(prompts)), 2000, deviation / math.sqrt(N), "mean")
  local logarithms = {}
  for i, prompt in ipairs(prompts) do logarithms[i] = math.log(prompt) end
  has_moments(logarithms, math.log(2000) - 0.245, 0.7, 3)
end)

test("zipf lengths fall with their rank", function()
  local prompts = prompts_of { distribution = "zipf", exponent = 1, min = 5, max = 8 }
  whole_within(prompts, 5, 8)
  local counts = {}
  for _, prompt in ipairs(prompts) do counts[prompt] = (counts[prompt] or 0) + 1 end
  -- 1 + 1/2 + 1/3 + 1/4 = 25/12
  for rank = 1, 4 do
    local p = 12 / 25 / rank
    within(counts[4 + rank], N * p, math.sqrt(N * p * (1 - p)), "rank " .. rank)
  end
end)

-- P(X > x) = (100 / x)^5: mean 125, deviation 125 / sqrt(15); half lie above 100 * 2^0.2 = 114.87
test("pareto lengths have a heavy tail from their minimum on", function()
  local prompts = prompts_of { distribution = "pareto", shape = 5, min = 100 }
  within((moments(prompts)), 125, 125 / math.sqrt(15) / math.sqrt(N), "mean")
  local above = 0
  for _, prompt in ipairs(prompts) do above = above + (prompt >= 115 and 1 or 0) end
  local p = (100 / 114.5) ^ 5
  within(above / N, p, math.sqrt(p * (1 - p) / N), "share of 115 and more")
  whole_within(prompts, 100, math.huge)
end)

test("empirical lengths are as frequent as counted", function()
  local counts = {}
  local counted = { distribution = "empirical", values = { 7, 100, 3000 }, weights = { 1, 3, 4 } }
  for _, prompt in ipairs(prompts_of(counted)) do
    counts[prompt] = (counts[prompt] or 0) + 1
  end
  for value, p in pairs { [7] = 1 / 8, [100] = 3 / 8, [3000] = 4 / 8 } do
    within(counts[value], N * p, math.sqrt(N * p * (1 - p)), value .. " tokens")
  end
end)

test("a preset has the lengths of its name", function()
  local sent = drawn(workload "presets" { preset = "summarization", rate_per_s = 2, num_requests = N })
  whole_within(sent.prompts, 100, 8192)
  whole_within(sent.outputs, 10, 2048)
  has_moments(sent.prompts, 4096, 500, 3)
  within((moments(sent.outputs)), 512, 150 / math.sqrt(N) + 0.05, "mean output") -- 0.05: 1 in 2000 is clamped
  has_moments(sent.gaps, 0.5, 0.5, 9)
  local even = drawn(workload "presets" { even = true, rate_per_s = 2, num_requests = 10 }).arrivals
  for i, arrival in ipairs(even) do test.equal(arrival, i / 2) end
end)

test("requests of a prefix group share its tokens, and groups are equally likely", function()
  local sent = drawn(workload "poisson" { num_requests = N, prompt_tokens = 10, prefix_tokens = 90, prefix_groups = 4 })
  local counts = { 0, 0, 0, 0 }
  for i = 1, N do
    local prefix, own = sent.fields[i].content[1], sent.fields[i].content[2]
    test.equal(sent.prompts[i], 100)
    test.check(prefix[2] == 90 and own[1] == 0 and own[2] == 10, "90 of the group, 10 of its own")
    counts[prefix[1]] = counts[prefix[1]] + 1
  end
  for group = 1, 4 do within(counts[group], N / 4, math.sqrt(N * 3 / 16), "group " .. group) end
end)

test("a seed repeats, another one does not, and lengths do not shift arrivals", function()
  local Poisson = workload "poisson"
  local function arrivals(prompt_tokens, seed)
    return table.concat(drawn(Poisson { num_requests = 50, prompt_tokens = prompt_tokens }, seed).arrivals, " ")
  end
  local uniform = { distribution = "uniform", min = 1, max = 9 }
  test.equal(arrivals(uniform, 5), arrivals(uniform, 5))
  test.equal(arrivals(uniform, 5), arrivals(100, 5))
  test.check(arrivals(100, 5) ~= arrivals(100, 6), "another seed sends the same")
end)

-- Clients that wait -------------------------------------------------------------------------------------

local Second = policy.define { name = "second", doc = "Every step takes one second.", params = {} }
function Second:time() return 1 end

local function open(given)
  local scheduler = require "schedulers.vllm_v1" { max_num_seqs = 3 }
  return native.serve_open({ replicas = { { kv_blocks = 10000 } } }, { scheduler },
    { { steps = Second {} } }, nil, given:requests(random.streams(1)))
end

test("closed_loop keeps its clients busy until all is sent", function()
  local run = open(workload "closed_loop" { clients = 5, num_requests = 40, prompt_tokens = 10,
    output_tokens = { distribution = "uniform", min = 1, max = 6 } })
  local seen = 0
  while native.serve_step(run) do
    local sent = native.serve_totals(run).arrived
    local outstanding = native.serve_replica(run, 1).outstanding
    if sent < 40 then
      test.equal(outstanding, 5, "outstanding")
      seen = seen + 1
    end
    test.check(sent <= 40 and outstanding <= 5, "%d sent, %d outstanding", sent, outstanding)
  end
  test.at_least(seen, 20, "steps looked at")
  test.equal(native.serve_summary(run).completed, 40)
end)

test("a client thinks between an answer and its next request", function()
  local source = workload "closed_loop" { clients = 3, think_time_s = 2, num_requests = N }:requests(random.streams(1))
  local pauses = {}
  for i = 1, 3 do pauses[i] = source.next(source) end -- each begins after a pause
  test.check(pauses[1] > 0 and pauses[1] <= pauses[2] and pauses[2] <= pauses[3], "sorted")
  test.equal((source.next(source)), nil, "a fourth client")
  while true do
    local at = source.done(source, 100)
    if not at then break end
    pauses[#pauses + 1] = at - 100
  end
  test.equal(#pauses, N)
  has_moments(pauses, 2, 2, 9)
end)

--- Tokens of {id, tokens} pairs as one text per pair, to compare beginnings.
local function spelled(content)
  local parts, tokens = {}, 0
  for i, pair in ipairs(content) do
    parts[i] = pair[1] .. "x" .. pair[2]
    tokens = tokens + pair[2]
  end
  return table.concat(parts, " "), tokens
end

test("multi_turn repeats the whole history in every turn", function()
  local source = workload "multi_turn" { sessions = 1, turns = 4, system_tokens = 11, think_time_s = 3,
    prompt_tokens = { distribution = "uniform", min = 5, max = 50 },
    output_tokens = { distribution = "uniform", min = 5, max = 50 } }:requests(random.streams(1))
  local arrival, prompt, output, fields = source.next(source)
  test.equal(fields.content[1][2], 11, "system prompt")
  for turn = 1, 4 do
    local text, tokens = spelled(fields.content)
    test.equal(tokens, prompt, "content of turn " .. turn)
    local history = text .. " " .. fields.output_content .. "x" .. output
    local history_tokens, now_s = prompt + output, arrival + 10
    arrival, prompt, output, fields = source.done(source, now_s, 0, 0, true)
    if turn == 4 then
      test.equal(arrival, nil, "a fifth turn")
      return
    end
    test.check(arrival > now_s, "a pause")
    test.equal(spelled(fields.content):sub(1, #history), history, "what turn " .. turn + 1 .. " begins with")
    test.equal(prompt, history_tokens + fields.content[#fields.content][2])
    test.equal(fields.session, 0)
  end
end)

test("a session ends when a turn fails or its context would be too long", function()
  local MultiTurn = workload "multi_turn"
  local failed = MultiTurn { sessions = 1, turns = 4 }:requests(random.streams(1))
  failed.next(failed)
  test.equal((failed.done(failed, 1, 0, 0, false)), nil)
  -- turns of 100 + 50: 150, 300, and 450 would pass 400
  local long = MultiTurn { sessions = 1, turns = 9, prompt_tokens = 100, output_tokens = 50,
    max_context_tokens = 400 }:requests(random.streams(1))
  test.equal(select(2, long.next(long)), 100)
  test.equal(select(2, long.done(long, 1, 0, 0, true)), 250)
  test.equal((long.done(long, 2, 0, 0, true)), nil)
end)

test("no two sessions share anything but the system prompt", function()
  local source = workload "multi_turn" { sessions = 50, turns = 2, system_tokens = 7 }:requests(random.streams(1))
  local ids, first = {}, {}
  for session = 0, 49 do
    first[session] = select(4, source.next(source)).content
    ids[first[session][2][1]] = (ids[first[session][2][1]] or 0) + 1
    test.equal(first[session][1][1], first[0][1][1], "system prompt")
  end
  for session = 0, 49 do
    local content = select(4, source.done(source, 1000, session, 0, true)).content
    ids[content[3][1]] = (ids[content[3][1]] or 0) + 1
    ids[content[4][1]] = (ids[content[4][1]] or 0) + 1
  end
  for id, times in pairs(ids) do test.equal(times, 1, "segment " .. tostring(id)) end
end)

test("multi_turn finds its own answers in the prefix cache", function()
  local run = open(workload "multi_turn" { sessions = 1, turns = 2, prompt_tokens = 32, output_tokens = 17 })
  native.serve_advance(run)
  -- turn 2 begins with 32 + 17 tokens; the last generated one has no KV: 48 tokens are 3 whole blocks
  test.equal(native.serve_summary(run).cached_tokens, 48)
end)

-- Traces ------------------------------------------------------------------------------------------------

test("a trace is replayed with its limit and its time scale", function()
  local path = test.file(".csv", "arrival_s,prompt_tokens,output_tokens\n1,10,2\n2,20,3\n4,30,1\n")
  local Trace = workload "trace"
  local function summary(parameters)
    parameters.path = path
    local run = open(Trace(parameters))
    native.serve_advance(run)
    return native.serve_summary(run), native.serve_now(run)
  end
  local all, all_end_s = summary {}
  local two = summary { limit = 2 }
  local _, slow_end_s = summary { time_scale = 2 }
  test.equal(all.completed, 3)
  test.equal(all.output_tokens, 6)
  test.equal(two.output_tokens, 5)
  test.equal(all_end_s, 5)
  test.equal(slow_end_s, 9)
end)

test.finish()
