-- The load of a plan: the workload at a multiple of it, with a number of requests, and the lengths that it draws.
local core = require "rooflua.base.core"
local items = require "rooflua.machine.items"
local lengths = require "rooflua.lengths"
local drawn = require "rooflua.plays.drawn"
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

--- The load of the workload as it is. Of a closed loop it is its clients, so that a multiple has other clients.
local function recorded(workload, peak)
  local parameters = policy.parameters(workload)
  if parameters.clients and parameters.start_rate_per_s then
    return { kind = "clients", value = parameters.clients, peak = peak, is_recorded = true }
  end
  return { kind = "recorded", peak = peak }
end

--- What the scenario asks for: {kind = "rate", "clients" or "recorded", value, peak, is_recorded = whether clients are
--- those of the workload}.
function load.read(reader, given, workload)
  if given == "recorded" then return recorded(workload, 1) end
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
  return recorded(workload, peak)
end

--- A workload at a multiple of its load. One that is made of others says which (`scaled`).
local function times(workload, factor)
  if type(workload.scaled) == "function" then
    return workload:scaled(function(part) return times(part, factor) end)
  end
  local parameters, changes = policy.parameters(workload), {}
  local name = first_of(parameters, recorded_rates)
  if name then changes[name] = parameters[name] * factor end
  if parameters.time_scale then changes.time_scale = parameters.time_scale / factor end
  return policy.with(workload, changes)
end

--- Whether a multiple of the load of a workload is another load.
local function has_multiples(workload)
  if type(workload.scaled) == "function" then
    local all = true
    workload:scaled(function(part)
      all = all and has_multiples(part)
      return part
    end)
    return all
  end
  local parameters = policy.parameters(workload)
  return first_of(parameters, recorded_rates) ~= nil or parameters.time_scale ~= nil
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
    workload = times(workload, factor)
  end
  local count = first_of(parameters, count_names)
  if requests and count then changes[count] = requests end
  return policy.with(workload, changes)
end

--- Parameters of the workload that the plan sets, and that the scenario states as well: {name, what says it}.
---@param sets_count boolean whether the plan chooses the number of requests
function load.replaced(workload, asked, sets_count)
  local parameters, out = policy.parameters(workload), {}
  local function see(names, says)
    local name = first_of(parameters, names)
    if name and policy.is_given(workload, name) then out[#out + 1] = { name, says } end
  end
  if asked.kind == "rate" then see(rate_names, "plan.load.rate_per_s") end
  if asked.kind == "clients" and not asked.is_recorded then see(client_names, "plan.load.clients") end
  if sets_count then see(count_names, "plan.requests, plan.horizon_s or the SLO") end
  return out
end

--- Whether a workload declares that its load changes in the course of a run (`varies` of its class), or one that it is
--- made of does.
function load.varies(workload)
  local found = workload.varies == true
  if not found and workload.scaled then
    workload:scaled(function(part)
      found = found or load.varies(part)
      return part
    end)
  end
  return found
end

--- Whether a multiple of the load is another load: a recorded one may have nothing that a multiple changes.
function load.is_scalable(question)
  return question.load.kind ~= "recorded" or has_multiples(question.workload)
end

--- Whether the number of requests can be chosen, so that short runs are possible.
function load.has_count(workload) return first_of(policy.parameters(workload), count_names) ~= nil end

local most_drawn = 20000

--- The requests that clients send after answers, as if every one is answered at once: whole sessions. `waiting` has
--- {session, class} of the requests whose answers are still to come.
local function draw_answers(source, waiting, add, count)
  local first = 1
  local function sent(before, prompt, output, fields)
    if type(prompt) ~= "number" or type(output) ~= "number" or count >= most_drawn then return end
    add(prompt, output)
    count = count + 1
    local own = type(fields) == "table" and fields or {}
    waiting[#waiting + 1] = { session = own.session or before.session, class = own.class or before.class }
  end
  while waiting[first] and count < most_drawn do
    local each = waiting[first]
    first = first + 1
    local ok, at_s, prompt, output, fields = pcall(source.done, source, 0, each.session or -1, each.class or 0, true, 0)
    if not ok then return end
    if type(at_s) == "table" then
      for _, one in ipairs(at_s) do sent(each, one[2], one[3], one[4]) end
    elseif at_s then
      sent(each, prompt, output, fields)
    end
    while type(source.more) == "function" and count < most_drawn do
      ok, at_s, prompt, output, fields = pcall(source.more, source)
      if not ok or not at_s then break end
      sent(each, prompt, output, fields)
    end
  end
end

--- Draws the requests of a workload, those included that a client sends after an answer.
local function draw(source, add)
  if type(source) == "userdata" then
    for _, row in ipairs(native.trace_rows(source, most_drawn)) do add(row[2], row[3]) end
    return
  end
  if type(source) == "table" and source.plays then
    drawn.each(source, most_drawn, function(_, prompt, output) add(prompt, output) end)
    return
  end
  local is_function, waiting, count = type(source) == "function", {}, 0
  for _ = 1, most_drawn do
    local at_s, prompt, output, fields
    if is_function then at_s, prompt, output = source() else at_s, prompt, output, fields = source:next() end
    if at_s == nil then break end
    add(prompt, output)
    local own = type(fields) == "table" and fields or {}
    waiting[#waiting + 1] = { session = own.session, class = own.class }
    count = count + 1
  end
  if not is_function and type(source.done) == "function" then draw_answers(source, waiting, add, count) end
end

--- The longest request without its items that a workload can send, whatever the seed; nil where it has no bound.
local function text_bound_of(workload)
  if type(workload.longest) == "function" then return workload:longest() end
  local parameters = policy.parameters(workload)
  if parameters.max_context_tokens then return parameters.max_context_tokens end
  if parameters.prompt_tokens == nil or parameters.output_tokens == nil then return nil end
  local prompt, output = lengths.most(parameters.prompt_tokens), lengths.most(parameters.output_tokens)
  return prompt and output and prompt + output or nil
end

--- The longest request that a workload can send, whatever the seed, in tokens; nil where it has no bound.
local function bound_of(workload, model)
  if type(workload.most_item_tokens) ~= "function" then return text_bound_of(workload) end
  local text = text_bound_of(policy.is_instance(workload.of) and workload.of or workload)
  local own = text and workload:most_item_tokens(function(size) return items.tokens(model, size) end)
  return own and text + own
end

--- The mean context of a decode, in tokens: of each output token the prompt and half of the answer.
--- @param workload table a policy of workload
--- @param seed integer of the scenario
--- @param model rooflua.spec.Model
function load.mean_context(workload, seed, model)
  local sum, tokens = 0, 0
  draw(items.counted(policy.fresh(workload):requests(random.streams(seed)), model), function(prompt, output)
    sum, tokens = sum + output * (prompt + output / 2), tokens + output
  end)
  if tokens == 0 then core.fail("workload: %s sends no request", workload.name) end
  return sum / tokens
end

--- Lengths of the requests that a run will have: {count, prompts, outputs, mean_prompt, mean_output, longest,
--- shortest_prompt, bound, is_recorded, shares, has_items}. `bound`: the longest request of any seed; nil where there
--- is none. `shares`: some of them may have a common prefix. Images and videos are tokens of prompts.
---@param question table workload, load, seed, model
function load.drawn(question, requests)
  local plain = policy.fresh(load.workload(question, requests)):requests(random.streams(question.seed))
  local source, seen = items.counted(plain, question.model)
  local prompts, outputs, longest, shortest = {}, {}, 0, math.huge
  local longest_prompt, longest_output, shortest_output = 0, 0, math.huge
  draw(source, function(prompt, output)
    prompts[#prompts + 1], outputs[#outputs + 1] = prompt, output
    longest, shortest = math.max(longest, prompt + output), math.min(shortest, prompt)
    longest_prompt, longest_output = math.max(longest_prompt, prompt), math.max(longest_output, output)
    shortest_output = math.min(shortest_output, output)
  end)
  if #prompts == 0 then core.fail("workload: %s sends no request", question.workload.name) end
  local is_table = type(plain) == "table"
  return { count = #prompts, prompts = prompts, outputs = outputs, mean_prompt = statistics.mean(prompts),
    mean_output = statistics.mean(outputs), longest = longest, longest_prompt = longest_prompt,
    longest_output = longest_output, shortest_prompt = shortest, is_recorded = type(source) == "userdata",
    bound = bound_of(question.workload, question.model), has_items = seen ~= nil,
    is_constant = longest_prompt == shortest and longest_output == shortest_output,
    shares = not is_table or plain.shares_content == true or seen ~= nil and seen.comes_again == true
      or type(plain.done) == "function" and question.load.kind ~= "clients" }
end

return load
