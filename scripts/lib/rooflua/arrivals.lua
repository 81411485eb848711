--- The common part of open-loop workloads. Gaps, prompt lengths and answer lengths come from three random streams, so
--- that another distribution of one does not change the others. The state is a plain table that can be copied.
local core = require "rooflua.base.core"
local lengths = require "rooflua.lengths"
local latest_s = require("rooflua.native").latest_s
local type = type

local arrivals = {}

--- The parameter `max_output_tokens`, which every workload takes: the limit that clients declare.
--- @param default integer|string|nil 0 if nil
function arrivals.limit_parameter(default)
  return { default = default or 0, type = "any", unit = "tokens", source = "vLLM: max_tokens of a request",
    doc = "Limit that a request declares to the scheduler, and at which its answer is cut; \"exact\": its "
      .. "answer's length, as benchmarks that ignore the end token send it; 0 = none." }
end

--- An error about a key of a scenario names the key; any other error gets the line of the caller in front.
local function wrong(key, message, ...)
  local text = key .. ": " .. message:format(...)
  if key:find "^workload%." then error(text, 0) end
  core.fail("%s", text)
end

local function check_limit(limit, what)
  if limit == "exact" then return end
  if type(limit) ~= "number" or not (limit >= 0 and limit < 2147483648) or limit % 1 ~= 0 then
    wrong(what, 'expected a whole number >= 0 or "exact", found %s', core.describe(limit))
  end
end

--- The declared limit of a workload, checked.
function arrivals.limit(workload)
  local limit = core.table(workload, "arrivals.limit: workload").max_output_tokens
  if limit == nil then return 0 end
  check_limit(limit, "workload.max_output_tokens")
  return limit
end

--- The answer length of a request with that limit, and its fields with the limit among them.
--- @param limit integer|string from arrivals.limit
--- @param fields table|nil
function arrivals.declare(limit, output_tokens, fields)
  if limit == 0 then return output_tokens, fields end
  check_limit(limit, "arrivals.declare: limit")
  core.whole(output_tokens, "arrivals.declare: output_tokens", 1)
  fields = fields == nil and {} or core.table(fields, "arrivals.declare: fields")
  if limit ~= "exact" and output_tokens > limit then output_tokens = limit end
  fields.max_output_tokens = limit == "exact" and output_tokens or limit
  return output_tokens, fields
end
local declare = arrivals.declare

--- The answer length of a request with that limit, and the limit that it declares; nil: none.
--- @param limit integer|string from arrivals.limit
function arrivals.limited(limit, output_tokens)
  local fields
  output_tokens, fields = declare(limit, output_tokens)
  return output_tokens, fields and fields.max_output_tokens
end

--- Parameters that open-loop workloads share.
function arrivals.parameters(more)
  local params = {
    rate_per_s = { default = 1.0, unit = "requests/s", min = 0, exclusive_min = true,
      doc = "Mean arrival rate." },
    num_requests = { default = 1000, unit = "requests", min = 1, integer = true,
      doc = "How many." },
    prompt_tokens = { default = 512, type = "any", unit = "tokens",
      doc = "Prompt length: a number or { distribution = ... }." },
    output_tokens = { default = 128, type = "any", unit = "tokens",
      doc = "Answer length: a number or { distribution = ... }." },
    max_output_tokens = arrivals.limit_parameter(),
    prefix_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Prompt tokens that requests of one prefix group share, in front of prompt_tokens." },
    prefix_groups = { default = 1, unit = "groups", min = 1, integer = true,
      doc = "Prefix groups, drawn with equal probability.", idle = { prefix_tokens = 0 } },
  }
  for name, declaration in pairs(core.table(more or {}, "arrivals.parameters")) do
    params[name] = declaration
  end
  return params
end

--- The arrival time, or an error that names the request which comes too late: the clock ends after 106 days.
--- @param key string the key of the scenario that sets the rate
function arrivals.in_time(arrival_s, sent, count, key)
  if type(arrival_s) == "number" and arrival_s < latest_s then return arrival_s end
  core.number(arrival_s, "arrivals.in_time: arrival_s")
  core.whole(sent, "arrivals.in_time: sent")
  core.whole(count, "arrivals.in_time: count")
  return wrong(core.text(key, "arrivals.in_time: key"), "request %.0f of %.0f comes %.1f days after the start; the "
    .. "clock shows 106", sent, count, arrival_s / 86400)
end
local in_time = arrivals.in_time

--- Raises an error about what the function of the gaps gave, at its line.
local function wrong_gap(state, gap_s)
  local defined = debug.getinfo(state.gap, "S")
  error(("%s:%d: gap(state): expected seconds from 0 on, found %s"):format(
    defined.source:match "^@(.*)" or defined.short_src, defined.linedefined, core.describe(gap_s)), 0)
end

local function next_request(state)
  if state.sent >= state.count then return nil end
  state.sent = state.sent + 1
  local gap_s = state.gap(state)
  if type(gap_s) ~= "number" or not (gap_s >= 0) then wrong_gap(state, gap_s) end
  state.clock_s = in_time(state.clock_s + gap_s, state.sent, state.count, "workload.rate_per_s")
  local prompt, output = state.prompt(state.prompts), state.output(state.outputs)
  local fields
  if state.prefix_tokens > 0 then
    local group = state.groups:integer(1, state.prefix_groups)
    fields = { content = { { group, state.prefix_tokens }, { 0, prompt } } }
    prompt = prompt + state.prefix_tokens
  end
  return state.clock_s, prompt, declare(state.limit, output, fields)
end

--- The iterator of an open-loop workload.
--- @param gap function of the state: seconds to the next arrival, drawn from state.gaps
function arrivals.open_loop(workload, rng, gap)
  core.table(workload, "arrivals.open_loop: workload")
  if type(core.table(rng, "arrivals.open_loop: rng").stream) ~= "function" then
    core.fail "arrivals.open_loop: rng: expected the random streams that requests(rng) was given"
  end
  if type(gap) ~= "function" then
    core.fail("arrivals.open_loop: gap: expected a function, found %s", core.describe(gap))
  end
  return {
    next = next_request,
    gap = gap,
    gaps = rng:stream("arrivals"),
    prompts = rng:stream("prompt_tokens"),
    outputs = rng:stream("output_tokens"),
    groups = rng:stream("prefix_groups"),
    prompt = lengths.sampler(workload.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(workload.output_tokens, "workload.output_tokens"),
    limit = arrivals.limit(workload),
    rate = workload.rate_per_s,
    prefix_tokens = workload.prefix_tokens or 0,
    prefix_groups = workload.prefix_groups or 1,
    shares_content = (workload.prefix_tokens or 0) > 0,
    workload = workload,
    count = workload.num_requests,
    sent = 0,
    clock_s = 0,
  }
end

return arrivals
