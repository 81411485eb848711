--- What `vllm bench serve --dataset-name random` sends, with its exact arrival rule.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.VllmBench: rooflua.Workload
---@field request_rate number
---@field burstiness number
---@field random_input_len integer
---@field random_output_len integer
---@field random_range_ratio number
---@field random_prefix_len integer
local VllmBench = policy.define {
  name = "vllm_bench",
  doc = "The random dataset of vLLM's serving benchmark: gamma gaps rescaled so that the last arrival is at N / rate.",
  source = "vllm/benchmarks: get_request, RandomDataset",
  params = {
    num_prompts = { default = 1000, unit = "requests", min = 1, integer = true, doc = "How many." },
    request_rate = { default = 1.0, unit = "requests/s", min = 0, exclusive_min = true, infinite = true,
      doc = "math.huge: all at once, vLLM's own default." },
    burstiness = { default = 1.0, unit = "1", min = 0, exclusive_min = true, infinite = true,
      doc = "Shape of the gaps; 1 is Poisson, inf constant." },
    random_input_len = { default = 1024, unit = "tokens", min = 1, integer = true,
      doc = "Prompt length." },
    random_output_len = { default = 128, unit = "tokens", min = 1, integer = true,
      doc = "Answer length." },
    random_range_ratio = { default = 0.0, unit = "1", min = 0, max = 1,
      doc = "Lengths are uniform in [L(1-r), L(1+r)]." },
    random_prefix_len = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Prefix that all prompts share." },
    max_output_tokens = arrivals.limit_parameter "exact",
  },
}

--- All arrivals: cumulative gaps, rescaled to end at N / rate.
local function arrival_times(workload, stream)
  local rate, shape, count = workload.request_rate, workload.burstiness, workload.num_prompts
  local times, clock = {}, 0
  for i = 1, count do
    local gap = 0
    if rate < math.huge then
      gap = shape < math.huge and stream:gamma(shape, 1 / (rate * shape)) or 1 / rate
    end
    clock = clock + gap
    times[i] = clock
  end
  if rate < math.huge and clock > 0 then
    local scale = count / rate / clock
    for i = 1, count do times[i] = times[i] * scale end
  end
  return times
end

local function length(stream, mean, ratio)
  return math.max(1, stream:integer(math.floor(mean * (1 - ratio)), math.ceil(mean * (1 + ratio))))
end

local function next_request(state)
  if state.sent >= #state.times then return nil end
  state.sent = state.sent + 1
  local workload = state.workload
  local prompt = length(state.prompts, workload.random_input_len, workload.random_range_ratio)
  local output = length(state.outputs, workload.random_output_len, workload.random_range_ratio)
  local prefix = workload.random_prefix_len
  local fields = prefix > 0 and { content = { { 1, prefix }, { 0, prompt } } } or nil
  return state.times[state.sent], prefix + prompt, arrivals.declare(state.limit, output, fields)
end

---@param rng rooflua.Random
function VllmBench:requests(rng)
  return {
    next = next_request,
    times = arrival_times(self, rng:stream("arrivals")),
    prompts = rng:stream("prompt_tokens"),
    outputs = rng:stream("output_tokens"),
    shares_content = self.random_prefix_len > 0,
    limit = arrivals.limit(self),
    workload = self,
    sent = 0,
  }
end

return VllmBench
