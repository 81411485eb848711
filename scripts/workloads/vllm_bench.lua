--- The requests that `vllm bench serve --dataset-name random` sends, with its exact rule of arrivals.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.VllmBench: rooflua.Workload
---@field num_prompts integer
---@field request_rate number
---@field burstiness number
---@field max_concurrency integer
---@field ramp_up_strategy string
---@field ramp_up_start_rps number
---@field ramp_up_end_rps number
---@field random_input_len integer
---@field random_output_len integer
---@field random_range_ratio number|{input: number, output: number}
---@field random_prefix_len integer
---@field num_special_tokens integer
local VllmBench = policy.define {
  name = "vllm_bench",
  doc = "The random dataset of vLLM's serving benchmark: gamma gaps rescaled so that the last arrival is at N / rate.",
  source = "vllm/benchmarks, 2026: serve.py get_request and benchmark, datasets RandomDataset",
  params = {
    num_prompts = { default = 1000, unit = "requests", min = 1, integer = true, doc = "Number of requests." },
    request_rate = { default = 1.0, unit = "requests/s", min = 0, exclusive_min = true, infinite = true,
      doc = "Mean rate of arrivals; math.huge: all at once, vLLM's own default.",
      idle = { ramp_up_strategy = { other_than = "" } } },
    burstiness = { default = 1.0, unit = "1", min = 0, exclusive_min = true, infinite = true,
      doc = "Shape of the gamma distribution of gaps; 1 is Poisson, math.huge constant." },
    max_concurrency = { default = 0, unit = "requests", min = 0, integer = true,
      doc = "Most requests under way at once. The others wait in the client, first come first served, until an answer "
        .. "ends. No latency includes that wait. 0 = no limit." },
    ramp_up_strategy = { default = "", values = { "", "linear", "exponential" },
      doc = "The rate goes from ramp_up_start_rps to ramp_up_end_rps, request_rate is not read, and nothing is "
        .. "rescaled. Empty: no ramp." },
    ramp_up_start_rps = { default = 1.0, unit = "requests/s", min = 0, exclusive_min = true,
      doc = "Rate of the first request of a ramp.", idle = { ramp_up_strategy = "" } },
    ramp_up_end_rps = { default = 10.0, unit = "requests/s", min = 0, exclusive_min = true,
      doc = "Rate of the last request of a ramp.", idle = { ramp_up_strategy = "" } },
    random_input_len = { default = 1024, unit = "tokens", min = 0, integer = true,
      doc = "Prompt length without the prefix." },
    random_output_len = { default = 128, unit = "tokens", min = 1, integer = true,
      doc = "Answer length." },
    random_range_ratio = { default = 0.0, type = "any", unit = "1",
      doc = "r in [0, 1): lengths are uniform from floor(L(1-r)) to ceil(L(1+r)); { input = r, output = r } for "
        .. "one ratio for prompts and one for answers." },
    random_prefix_len = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Prefix that all prompts share." },
    num_special_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Tokens that the tokenizer adds before a prompt (1 for Llama): sent, but not part of the drawn length." },
    max_output_tokens = arrivals.limit_parameter "exact",
  },
}

-- Lengths --------------------------------------------------------------------------------------------------

local function wrong(key, message, ...)
  error(("workload.%s: %s"):format(key, message:format(...)), 0)
end

local plain = { number = true, string = true, boolean = true, ["nil"] = true }

local function ratio(value, key)
  if type(value) ~= "number" or not (value >= 0 and value < 1) then
    local shown = plain[type(value)] and tostring(value) or "a " .. type(value)
    wrong(key, "expected a number from 0 to below 1, found %s", shown)
  end
  return value
end

--- Ratios of prompts and of answers, from one number or from a table.
local function ratios(given)
  if type(given) ~= "table" then
    ratio(given, "random_range_ratio")
    return given, given
  end
  for key in pairs(given) do
    if key ~= "input" and key ~= "output" then
      wrong("random_range_ratio", "unknown key %s (known: input, output)",
        type(key) == "string" and "'" .. key .. "'" or "that is a " .. type(key))
    end
  end
  return ratio(given.input, "random_range_ratio.input"), ratio(given.output, "random_range_ratio.output")
end

--- {low, high} of the lengths around `length` with ratio r; both ends are included.
local function range(length, r) return { math.floor(length * (1 - r)), math.ceil(length * (1 + r)) } end

local function ranges(workload)
  local input_ratio, output_ratio = ratios(workload.random_range_ratio)
  local input = range(math.max(0, workload.random_input_len - workload.num_special_tokens), input_ratio)
  local output = range(workload.random_output_len, output_ratio)
  output[1] = math.max(output[1], 1)
  if workload.random_prefix_len + input[1] < 1 then
    wrong("random_input_len", "prompts of no tokens: without %d special tokens and with that random_range_ratio the "
      .. "shortest is %d; vLLM wants at least 1, prefix included", workload.num_special_tokens, input[1])
  end
  return input, output
end

--- The longest request that can be drawn, in tokens.
function VllmBench:longest()
  local input, output = ranges(self)
  return self.random_prefix_len + self.num_special_tokens + input[2] + output[2]
end

-- Arrivals -------------------------------------------------------------------------------------------------

--- The rate of request i of n.
local function rate_of(workload, i, n)
  local first, last = workload.ramp_up_start_rps, workload.ramp_up_end_rps
  local part = (i - 1) / math.max(n - 1, 1)
  if workload.ramp_up_strategy == "linear" then return first + (last - first) * part end
  if workload.ramp_up_strategy == "exponential" then return first * math.exp(math.log(last / first) * part) end
  return workload.request_rate
end

--- Times at which the client sends without max_concurrency: sums of gaps, rescaled to end at N / rate unless there
--- is a ramp.
local function arrival_times(workload, stream)
  local shape, count = workload.burstiness, workload.num_prompts
  local times, clock = {}, 0
  for i = 1, count do
    local rate, gap = rate_of(workload, i, count), 0
    if rate < math.huge then
      gap = shape < math.huge and stream:gamma(shape, 1 / (rate * shape)) or 1 / rate
    end
    clock = clock + gap
    times[i] = clock
  end
  if workload.ramp_up_strategy == "" and clock > 0 then
    local scale = count / workload.request_rate / clock
    for i = 1, count do times[i] = times[i] * scale end
  end
  arrivals.in_time(times[count], count, count, "workload.request_rate")
  return times
end

-- Sending --------------------------------------------------------------------------------------------------

local function send(state, not_before_s)
  if state.sent >= #state.times then return nil end
  state.sent = state.sent + 1
  local workload = state.workload
  local prompt = state.prompts:integer(state.input[1], state.input[2])
  local output = state.outputs:integer(state.output[1], state.output[2])
  local prefix = workload.random_prefix_len
  local fields = prefix > 0 and { content = { { 1, state.special + prefix } } } or nil
  if fields and prompt > 0 then fields.content[2] = { 0, prompt } end
  return math.max(state.times[state.sent], not_before_s), state.special + prefix + prompt,
    arrivals.declare(state.limit, output, fields)
end

--- Requests that max_concurrency never delays.
local function next_request(state)
  if state.started >= state.at_once then return nil end
  state.started = state.started + 1
  return send(state, 0)
end

--- Each answer that ends gives its slot to the next request in turn, which leaves at its own arrival time at the
--- earliest: a semaphore that is first come first served.
local function answered(state, now_s)
  return send(state, now_s)
end

---@param rng rooflua.Random
function VllmBench:requests(rng)
  local input, output = ranges(self)
  local limited = self.max_concurrency > 0
  return {
    next = next_request,
    done = limited and answered or nil,
    times = arrival_times(self, rng:stream("arrivals")),
    prompts = rng:stream("prompt_tokens"),
    outputs = rng:stream("output_tokens"),
    input = input,
    output = output,
    special = self.num_special_tokens,
    at_once = limited and self.max_concurrency or self.num_prompts,
    shares_content = self.random_prefix_len > 0,
    limit = arrivals.limit(self),
    workload = self,
    sent = 0,
    started = 0,  -- of them those that no answer had to wait for
  }
end

return VllmBench
