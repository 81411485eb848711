-- Where the workload of a scenario is not that of a measured run: number of requests, rate or clients, lengths.
local load = require "rooflua.machine.load"
local policy = require "rooflua.policy"
local statistics = require "rooflua.base.statistics"

local loads = {}

local least_frac = 0.02 -- means of whole tokens differ by less
local drawn_parts = 3 -- standard errors of what is drawn at random

local rate_names = { "rate_per_s", "request_rate" }
local client_names = { "clients", "max_concurrency" }
local count_names = { "num_requests", "num_prompts", "limit" }
local prompt_names = { "prompt_tokens", "random_input_len" }
local output_names = { "output_tokens", "random_output_len" }

--- The key path of a parameter of a workload, and its value where that is a number.
local function parameter(workload, names)
  local own = policy.is_instance(workload) and policy.parameters(workload) or {}
  for _, name in ipairs(names) do
    if own[name] ~= nil then return "workload." .. name, type(own[name]) == "number" and own[name] or nil end
  end
end

local function mean_of(requests, field)
  local list = {}
  for i, each in ipairs(requests) do list[i] = each[field] end
  return statistics.mean(list)
end

--- Requests per second between the first arrival and the last.
local function arrivals_of(run)
  local requests = run.requests
  local first, last = requests[1].arrival_s, requests[#requests].arrival_s
  return first and #requests > 20 and last > first and (#requests - 1) / (last - first) or nil
end

--- What a measured run sent: {count, prompt, output, rate_per_s, clients, is_closed}.
function loads.measured(run)
  local is_closed = run.clients ~= nil and not run.rate_per_s
  return { count = #run.requests + (run.failed or 0), prompt = mean_of(run.requests, "prompt_tokens"),
    output = mean_of(run.requests, "output_tokens"), clients = is_closed and run.clients or nil,
    rate_per_s = run.rate_per_s or not is_closed and arrivals_of(run) or nil, is_stated = run.rate_per_s ~= nil,
    is_closed = is_closed or not run.rate_per_s and not run.recorded_times }
end

--- The same of a scenario: {count, prompt, output, rate_per_s, clients, is_closed, is_constant, is_plain: whether
--- nothing but times and lengths tells requests apart, path = {...}}; nil where they are not drawn one by one.
---@param model rooflua.spec.Model
function loads.scenario(workload, seed, model)
  local ok, drawn = pcall(load.drawn, { workload = workload, seed = seed or 0, model = model,
    load = { kind = "recorded", peak = 1 } })
  if not ok then return nil end
  local out = { path = {}, count = drawn.count, prompt = drawn.mean_prompt, output = drawn.mean_output,
    is_constant = drawn.is_constant, is_plain = not drawn.shares }
  out.path.count, out.stated_count = parameter(workload, count_names)
  out.count = out.stated_count or out.count
  out.path.rate_per_s, out.rate_per_s = parameter(workload, rate_names)
  out.path.clients, out.clients = parameter(workload, client_names)
  out.path.prompt, out.path.output = parameter(workload, prompt_names), parameter(workload, output_names)
  out.is_closed = out.clients ~= nil and not out.rate_per_s
  return out
end

--- How far two values may be apart that are the same.
local function tolerance(name, own, of)
  local is_drawn = name == "rate_per_s" and not of.is_stated or (name == "prompt" or name == "output")
    and not own.is_constant
  return math.max(least_frac, is_drawn and drawn_parts / math.sqrt(math.max(1, math.min(own.count, of.count))) or 0)
end

--- {name, set, scenario, measured} of each part of the load in which a scenario and a measured run differ.
---@param own table of loads.scenario
---@param of table of loads.measured
function loads.differences(own, of)
  local out = {}
  for _, name in ipairs { "rate_per_s", "clients", "prompt", "output", "count" } do
    local a, b = own[name], of[name]
    local most = name == "count" and 0 or tolerance(name, own, of)
    if a and b and math.abs(b / a - 1) > most then
      out[#out + 1] = { name = name, set = own.path[name] or "workload", scenario = a, measured = b }
    end
  end
  if own.is_closed ~= of.is_closed and (of.rate_per_s or of.clients) then
    out[#out + 1] = { name = "kind", set = "workload", scenario = own.is_closed and "clients" or "rate",
      measured = of.is_closed and "clients" or "rate" }
  end
  return out
end

return loads
