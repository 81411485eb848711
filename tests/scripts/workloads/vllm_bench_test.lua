-- The workload of vLLM's benchmark: its limit on requests under way, its ramps and its lengths.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local random = require "rooflua.random"

local VllmBench = require "workloads.vllm_bench"

local function opened(parameters, seed) return VllmBench(parameters):requests(random.streams(seed or 1)) end

--- All requests that are sent without waiting for an answer: lists of arrivals, prompts, outputs, fields.
local function drawn(parameters, seed)
  local source = opened(parameters, seed)
  local out = { arrivals = {}, prompts = {}, outputs = {}, fields = {} }
  for i = 1, parameters.num_prompts do
    out.arrivals[i], out.prompts[i], out.outputs[i], out.fields[i] = source.next(source)
  end
  test.equal((source.next(source)), nil, "more than num_prompts")
  return out
end

local function within(found, expected, error_of_it, what)
  test.check(math.abs(found - expected) <= 4 * error_of_it, "%s: expected %g within 4 times %g, found %g",
    what, expected, error_of_it, found)
end

-- At most so many at once -----------------------------------------------------------------------------------

--- An asyncio semaphore, event by event: an arrived request waits in line, a running request ends after its duration.
local function semaphore(arrivals, durations, permits)
  local sent, ends, line, come, clock = {}, {}, {}, 0
  while #sent < #arrivals do
    local next_end, which = math.huge, nil
    for i, at in pairs(ends) do
      if at < next_end or at == next_end and i < which then next_end, which = at, i end
    end
    local next_arrival = arrivals[come + 1] or math.huge
    if next_end <= next_arrival then
      clock, ends[which] = next_end, nil
    else
      clock, come = next_arrival, come + 1
      line[#line + 1] = come
    end
    local under_way = 0
    for _ in pairs(ends) do under_way = under_way + 1 end
    while #line > 0 and under_way < permits do
      local i = table.remove(line, 1)
      sent[i], ends[i], under_way = clock, clock + durations[i], under_way + 1
    end
  end
  return sent
end

--- Times at which the workload sends if request i takes durations[i].
local function sent_by(source, durations)
  local sent, ends = {}, {}
  local function note(at_s)
    if not at_s then return end
    sent[#sent + 1] = at_s
    ends[#ends + 1] = { at = at_s + durations[#sent], i = #sent }
  end
  repeat
    local before = #sent
    note((source.next(source)))
  until #sent == before
  while #ends > 0 do
    table.sort(ends, function(a, b)
      if a.at ~= b.at then return a.at < b.at end
      return a.i < b.i
    end)
    note((source.done(source, table.remove(ends, 1).at)))
  end
  return sent
end

test("max_concurrency sends as a semaphore does that is first come first served", function()
  local waited = 0
  for seed = 1, 40 do
    local times = random.streams(seed):stream("durations")
    local parameters = { num_prompts = 60, request_rate = ({ 0.5, 4, 30, math.huge })[seed % 4 + 1],
      burstiness = ({ 0.3, 1, math.huge })[seed % 3 + 1] }
    local durations = {}
    for i = 1, 60 do durations[i] = times:exponential(1) end
    local free = drawn(parameters, seed).arrivals
    parameters.max_concurrency = times:integer(1, 9)
    local expected = semaphore(free, durations, parameters.max_concurrency)
    local found = sent_by(opened(parameters, seed), durations)
    test.equal(#found, 60, "sent")
    for i = 1, 60 do
      test.equal(found[i], expected[i], ("seed %d, request %d"):format(seed, i))
      waited = waited + (found[i] > free[i] and 1 or 0)
    end
  end
  test.at_least(waited, 500, "requests that waited in the client")
end)

local Second = policy.define { name = "second", doc = "Every step takes one second.", params = {} }
function Second:time() return 1 end

test("in the engine as many are under way as max_concurrency says, and all are sent", function()
  local slow_beginning = { request_rate = math.huge, ramp_up_strategy = "linear", ramp_up_start_rps = 0.02,
    ramp_up_end_rps = 20 }
  for _, load in ipairs { { request_rate = math.huge }, slow_beginning, { request_rate = 0.3, burstiness = 0.05 } } do
    local parameters = { num_prompts = 50, max_concurrency = 7, random_input_len = 20, random_output_len = 6,
      random_range_ratio = 0.5 }
    for name, value in pairs(load) do parameters[name] = value end
    local run = native.serve_open({ replicas = { { kv_blocks = 10000 } } }, { require "schedulers.vllm_v1" {} },
      { { steps = Second {} } }, nil, opened(parameters))
    local most = 0
    while native.serve_step(run) do most = math.max(most, native.serve_replica(run, 1).outstanding) end
    test.equal(most, 7, "outstanding")
    test.equal(native.serve_summary(run).completed, 50)
  end
end)

test("a limit that is never reached changes nothing, and lengths do not depend on it", function()
  local free = drawn { num_prompts = 30, random_range_ratio = 0.5 }
  local source = opened { num_prompts = 30, random_range_ratio = 0.5, max_concurrency = 30 }
  for i = 1, 30 do
    local at, prompt, output = source.next(source)
    test.equal(at, free.arrivals[i])
    test.equal(prompt, free.prompts[i])
    test.equal(output, free.outputs[i])
  end
  local one = opened { num_prompts = 30, random_range_ratio = 0.5, max_concurrency = 1 }
  test.equal(select(2, one.next(one)), free.prompts[1])
  for i = 2, 30 do test.equal(select(2, one.done(one, 1e6)), free.prompts[i]) end
  test.equal((one.done(one, 1e6)), nil, "a request too many")
end)

-- Ramps -----------------------------------------------------------------------------------------------------

test("a ramp goes from one rate to the other and is not rescaled", function()
  local n = 5
  for strategy, rate_of in pairs {
    linear = function(i) return 1 + 8 * (i - 1) / (n - 1) end,
    exponential = function(i) return 9 ^ ((i - 1) / (n - 1)) end } do
    local sent = drawn { num_prompts = n, burstiness = math.huge, request_rate = 1000, ramp_up_strategy = strategy,
      ramp_up_start_rps = 1, ramp_up_end_rps = 9 }
    local clock = 0
    for i = 1, n do
      clock = clock + 1 / rate_of(i)
      test.near(sent.arrivals[i], clock, 1e-12, strategy)
    end
  end
  local mean, variance = 0, 0
  for i = 1, 4000 do
    local rate = 2 + 6 * (i - 1) / 3999
    mean, variance = mean + 1 / rate, variance + 1 / (4 * rate * rate)
  end
  local sent = drawn { num_prompts = 4000, burstiness = 4, ramp_up_strategy = "linear", ramp_up_start_rps = 2,
    ramp_up_end_rps = 8 }
  within(sent.arrivals[4000], mean, math.sqrt(variance), "last arrival")
end)

-- Lengths ---------------------------------------------------------------------------------------------------

local N = 20000

--- Whether each of the values from low to high is as frequent as the others.
local function uniform(values, low, high, what)
  local counts = {}
  for _, value in ipairs(values) do
    test.check(value >= low and value <= high, "%s: %d is not from %d to %d", what, value, low, high)
    counts[value] = (counts[value] or 0) + 1
  end
  local p = 1 / (high - low + 1)
  for value = low, high do within(counts[value] or 0, N * p, math.sqrt(N * p * (1 - p)), what .. " of " .. value) end
end

test("prompts and answers have a ratio each where two are given", function()
  local sent = drawn { num_prompts = N, request_rate = math.huge, random_input_len = 10, random_output_len = 20,
    random_range_ratio = { input = 0.25, output = 0.1 } }
  uniform(sent.prompts, 7, 13, "prompts") -- 7.5 to 12.5
  uniform(sent.outputs, 18, 22, "answers")
  local only_output = drawn { num_prompts = 100, random_range_ratio = { input = 0, output = 0.5 } }
  for _, prompt in ipairs(only_output.prompts) do test.equal(prompt, 1024) end
end)

test("the shortest answer is one token, as likely as any other", function()
  local sent = drawn { num_prompts = N, request_rate = math.huge, random_output_len = 1, random_range_ratio = 0.5 }
  uniform(sent.outputs, 1, 2, "answers") -- 0.5 to 1.5 is 0 to 2, and 0 is raised before it is drawn
end)

test("a prompt may be its prefix alone, and special tokens are sent and not drawn", function()
  local sent = drawn { num_prompts = N, request_rate = math.huge, random_input_len = 2, random_prefix_len = 5,
    num_special_tokens = 1, random_range_ratio = 0.9 }
  uniform(sent.prompts, 6, 8, "prompts") -- 1 special, 5 of the prefix, and 0.1 to 1.9: 0 to 2
  for i, prompt in ipairs(sent.prompts) do
    local content, tokens = sent.fields[i].content, 0
    for _, each in ipairs(content) do tokens = tokens + each[2] end
    test.equal(tokens, prompt, "content")
    test.equal(content[1][2], 6, "shared tokens")
  end
end)

test("what vLLM refuses is refused with its key", function()
  local function refused(key, parameters)
    test.raises("workload." .. key, function() opened(parameters) end)
  end
  refused("random_range_ratio: expected a number from 0 to below 1, found 1", { random_range_ratio = 1 })
  refused("random_range_ratio: expected a number from 0 to below 1, found -0.1", { random_range_ratio = -0.1 })
  refused("random_range_ratio: expected a number from 0 to below 1, found text", { random_range_ratio = "text" })
  refused("random_range_ratio.output: expected a number", { random_range_ratio = { input = 0.5 } })
  refused("random_range_ratio.input: expected a number", { random_range_ratio = { input = 2, output = 0 } })
  refused("random_range_ratio: unknown key 'prompt' (known: input, output)",
    { random_range_ratio = { input = 0, output = 0, prompt = 0 } })
  refused("random_input_len: prompts of no tokens", { random_input_len = 0 })
  refused("random_input_len: prompts of no tokens", { random_input_len = 1, random_range_ratio = 0.5 })
  refused("random_input_len: prompts of no tokens", { random_input_len = 4, num_special_tokens = 4 })
  refused("request_rate: request 10 of 10 comes 115", { num_prompts = 10, request_rate = 1e-6 })
  test.raises("vllm_bench.max_concurrency", function() VllmBench { max_concurrency = -1 } end)
  test.raises("vllm_bench.ramp_up_strategy", function() VllmBench { ramp_up_strategy = "square" } end)
  test.raises("vllm_bench.ramp_up_start_rps", function() VllmBench { ramp_up_start_rps = 0 } end)
end)

test.finish()
