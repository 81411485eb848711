-- Workloads of what benchmark tools say of a load, whatever their words for it.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"

local loads = {}

local function made(name, params) return chunks.shipped("workloads." .. name)(params) end

--- Refuses a number that has to be there.
local function needed(value, flag)
  if not value or value < 1 then core.fail("--bench: %s: expected a number from 1 on", flag) end
  return value
end

--- Number of requests: stated, else what a rate sends in a duration.
---@param about table {count, duration_s, rate_per_s, clients}
---@param told string[]
function loads.count(about, told)
  if about.count then return needed(about.count, "the number of requests") end
  if about.duration_s and about.rate_per_s and about.rate_per_s < math.huge then
    return math.max(1, math.floor(about.rate_per_s * about.duration_s + 0.5))
  end
  if about.duration_s then
    told[#told + 1] = ("--bench: how many requests %g s hold is not known before: %d are sent"):format(
      about.duration_s, about.otherwise)
  end
  return about.otherwise
end

--- A stage of shared_prefix_stages with about.count requests.
function loads.stage_of(about)
  if about.clients then return { clients = about.clients, requests = about.count } end
  if about.rate_per_s < math.huge then
    return { rate_per_s = about.rate_per_s, duration_s = about.count / about.rate_per_s }
  end
  return { clients = about.count, requests = about.count }
end

--- A workload of stages, and of groups of prompts with one prefix each.
local function of_groups(about)
  return made("shared_prefix_stages", { groups = about.groups or 0, prompts_per_group = about.prompts_per_group,
    shared_prefix_tokens = about.prefix_tokens or 0, question_tokens = about.prompt_tokens,
    output_tokens = about.output_tokens, stages = about.stages or { loads.stage_of(about) }, gap_s = about.gap_s,
    arrivals = about.arrivals or about.even and "even" or "poisson", max_in_flight = about.most_in_flight or 0 })
end

--- {low, high} of lengths that are a number or uniform; nil for others.
local function ends_of(tokens)
  if type(tokens) == "number" then return tokens, tokens end
  if tokens.distribution == "uniform" then return tokens.min, tokens.max end
end

--- Requests at a rate of which so many are under way at most: the client of vLLM's benchmark.
local function limited(about, told)
  local in_low, in_high = ends_of(about.prompt_tokens)
  local out_low, out_high = ends_of(about.output_tokens)
  if not in_low or not out_low then
    core.fail "--bench: a rate with a limit on requests under way is known for fixed and uniform lengths"
  end
  local function of(low, high)
    local mean = math.floor((low + high) / 2 + 0.5)
    return mean, mean > 0 and math.max(high - mean, mean - low) / mean or 0
  end
  local input, input_ratio = of(in_low, in_high)
  local output, output_ratio = of(out_low, out_high)
  told[#told + 1] = "--bench: gaps are rescaled so that the last of N requests is sent at N / rate"
  return made("vllm_bench", { num_prompts = about.count, request_rate = about.rate_per_s,
    max_concurrency = about.most_in_flight, random_input_len = input, random_output_len = output,
    random_range_ratio = { input = input_ratio, output = output_ratio }, burstiness = about.even and math.huge or 1 })
end

--- A workload.
---@param about table {prompt_tokens, output_tokens: a number or a distribution, count, rate_per_s (math.huge: at once),
---   clients (with one request each), most_in_flight (beside a rate), even (gaps), distinct_prompts,
---   groups, prompts_per_group, prefix_tokens; stages, arrivals and gap_s of shared_prefix_stages}
---@param told string[]
function loads.of(about, told)
  if about.groups or about.stages then return of_groups(about) end
  local own = { num_requests = about.count, prompt_tokens = about.prompt_tokens, output_tokens = about.output_tokens }
  local clients = about.clients or about.rate_per_s == math.huge and (about.most_in_flight or about.count)
  if clients then
    own.clients, own.distinct_prompts = math.min(needed(clients, "clients"), about.count), about.distinct_prompts
    return made("closed_loop", own)
  end
  if about.most_in_flight then return limited(about, told) end
  own.rate_per_s = about.rate_per_s
  return made(about.even and "constant" or "poisson", own)
end

--- A normal length, cut at 1; a number where nothing varies.
function loads.normal(mean, deviation, min, max)
  if not deviation or deviation == 0 then return math.floor(mean + 0.5) end
  return { distribution = "normal", mean = mean, deviation = deviation, min = min or 1, max = max }
end

--- Adds a sentence about names, where there are some.
function loads.tell(told, what, names)
  if #names > 0 then told[#told + 1] = ("--bench: %s: %s"):format(what, core.join(names, ", ")) end
end

--- The lengths of a dataset whose texts are elsewhere are not in a command.
function loads.refuse_dataset(name)
  core.fail("--bench: the lengths of the dataset '%s' are not in the command: give them as a workload of the scenario, "
    .. "or a recorded run as a trace (docs/CALIBRATING.md)", name)
end

return loads
