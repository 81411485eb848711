-- The load of a plan: the workload at a multiple of it, with a number of requests, and the lengths that it draws.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local statistics = require "rooflua.base.statistics"

local load = {}

local rate_names = { "rate_per_s", "request_rate" }
local client_names = { "clients", "max_concurrency" }
local count_names = { "num_requests", "num_prompts", "limit" }
--- What a multiple of a recorded load changes: times are divided by it, rates multiplied.
local recorded_rates = { "rate_per_s", "request_rate", "session_rate_per_s", "burst_rate_per_s" }

local function first_of(parameters, names)
  for _, name in ipairs(names) do
    if parameters[name] ~= nil then return name end
  end
end

local kinds = { "clients", "peak", "rate_per_s" }

--- What the scenario asks for: {kind = "rate", "clients" or "recorded", value, peak}.
function load.read(reader, given, workload)
  if given == "recorded" then return { kind = "recorded", peak = 1 } end
  if type(given) ~= "table" then
    reader:fail("plan.load", "expected { rate_per_s = N }, { clients = N } or \"recorded\", found %s",
      core.describe(given))
  end
  given = core.plain(given)
  reader:at("plan.load", core.check_keys, given, kinds, "plan.load")
  local peak = reader:at("plan.load.peak", core.positive, given.peak or 1, "peak")
  if given.rate_per_s ~= nil and given.clients ~= nil then
    reader:fail("plan.load", "has a rate and clients; give one of them")
  end
  local parameters = policy.parameters(workload)
  local function need(names, what)
    return first_of(parameters, names) or reader:fail("workload", "%s has no parameter %s, which plan.load sets; "
      .. "say load = \"recorded\" to take the workload as it is", workload.name, what)
  end
  if given.rate_per_s ~= nil then
    need(rate_names, "rate_per_s")
    return { kind = "rate", value = reader:at("plan.load.rate_per_s", core.positive, given.rate_per_s, "rate_per_s"),
      peak = peak }
  elseif given.clients ~= nil then
    need(client_names, "clients")
    return { kind = "clients", value = reader:whole("plan.load.clients", given.clients, 1), peak = peak }
  end
  return { kind = "recorded", peak = peak }
end

--- The workload with so many requests, at `scale` times the load that is asked for.
---@param requests integer? nil: as many as the workload has
function load.workload(question, requests, scale)
  local workload, asked = question.workload, question.load
  local parameters, changes = policy.parameters(workload), {}
  local factor = asked.peak * (scale or 1)
  if asked.kind == "rate" then
    changes[first_of(parameters, rate_names)] = asked.value * factor
  elseif asked.kind == "clients" then
    changes[first_of(parameters, client_names)] = math.max(1, math.floor(asked.value * factor + 0.5))
  elseif factor ~= 1 then
    local name = first_of(parameters, recorded_rates)
    if name then changes[name] = parameters[name] * factor end
    if parameters.time_scale then changes.time_scale = parameters.time_scale / factor end
  end
  local count = first_of(parameters, count_names)
  if requests and count then changes[count] = requests end
  return policy.with(workload, changes)
end

--- Whether the number of requests can be chosen, so that short runs are possible.
function load.has_count(workload) return first_of(policy.parameters(workload), count_names) ~= nil end

local most_drawn = 20000

--- Draws the requests of a workload, those included that a client sends behind an answer.
local function draw(source, add)
  if type(source) == "userdata" then
    for _, row in ipairs(native.trace_rows(source, most_drawn)) do add(row[2], row[3]) end
    return
  end
  local is_function = type(source) == "function"
  for _ = 1, most_drawn do
    local at_s, prompt, output
    if is_function then at_s, prompt, output = source() else at_s, prompt, output = source:next() end
    if at_s == nil then break end
    add(prompt, output)
  end
  if is_function or type(source.done) ~= "function" then return end
  for _ = 1, most_drawn do
    local ok, at_s, prompt, output = pcall(source.done, source, 0)
    if not ok or type(at_s) ~= "number" or type(prompt) ~= "number" then break end
    add(prompt, output)
  end
end

--- Lengths of the requests that a run will have: {count, prompts, outputs, mean_prompt, mean_output, longest,
--- shortest_prompt, is_constant, shares}. `shares`: some of them may have a common prefix.
function load.drawn(question, requests)
  local source = policy.fresh(load.workload(question, requests)):requests(random.streams(question.seed))
  local prompts, outputs, longest, shortest = {}, {}, 0, math.huge
  local longest_prompt, longest_output, shortest_output = 0, 0, math.huge
  draw(source, function(prompt, output)
    prompts[#prompts + 1], outputs[#outputs + 1] = prompt, output
    longest, shortest = math.max(longest, prompt + output), math.min(shortest, prompt)
    longest_prompt, longest_output = math.max(longest_prompt, prompt), math.max(longest_output, output)
    shortest_output = math.min(shortest_output, output)
  end)
  if #prompts == 0 then core.fail("workload: %s sends no request", question.workload.name) end
  local is_table = type(source) == "table"
  return { count = #prompts, prompts = prompts, outputs = outputs, mean_prompt = statistics.mean(prompts),
    mean_output = statistics.mean(outputs), longest = longest, longest_prompt = longest_prompt,
    longest_output = longest_output, shortest_prompt = shortest,
    is_constant = longest_prompt == shortest and longest_output == shortest_output,
    shares = not is_table or source.shares_content == true or type(source.done) == "function"
      and question.load.kind ~= "clients" }
end

return load
