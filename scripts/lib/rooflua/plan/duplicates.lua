-- Stage 2 of a plan: candidates that are one deployment in other words, and candidates whose runs are the same because
-- no step reaches the seats or the budget in which they differ.
local native = require "rooflua.native"
local axes = require "rooflua.plan.axes"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local json = require "rooflua.json"
local keep = require "rooflua.plan.keep"
local run_text = require "rooflua.scenario.run_text"

local duplicates = {}

local caps = axes.names "scheduler"

--- What a deployment is, whatever its generator called it, as a table.
local function content_of(question, candidate)
  local content = keep.candidate(candidate)
  content.memory_utilization, content.label, content.weights, content.kv = nil, nil, nil, nil -- the deployment has them
  content.least, content.most, content.guess = nil, nil, nil
  if not question.drawn.shares then content.prefix_caching = nil end -- no request has a prefix of another one
  local built = {}
  for key, value in core.sorted_pairs(candidate.deployment) do
    if key ~= "model" and key ~= "hardware" then built[key] = type(value) == "table" and core.plain(value) or value end
  end
  content.deployment = built
  return content
end

--- Whether more than the KV cache itself reads the number of its blocks: what stays cached, metrics, the router.
local function blocks_matter(question)
  if question.drawn.shares then return true end
  for _, name in ipairs(question.metrics or {}) do
    if name:find "kv" then return true end
  end
  for _, bound in ipairs(question.bounds) do
    if bound.metric:find "kv" then return true end
  end
  local router = question.base.router
  if type(router) ~= "table" then return router ~= nil and router ~= "round_robin" end
  for _, name in ipairs(router.signals or {}) do
    if name:find "kv" then return true end
  end
  return false
end

--- Two candidates with one text are one deployment.
function duplicates.text(question, candidate) return (run_text.of(content_of(question, candidate))) end

local of_memory = { "activation_bytes", "kv_capacity_bytes", "kv_blocks" } -- seats and budgets take memory

--- Two candidates with one key have the same runs as long as seats, budgets and blocks decide nothing: all other
--- settings are equal, steps have the same prices, and the scheduler reads these as limits only. nil: not known.
---@param engine table one bound engine of the candidate (bounds.engine)
function duplicates.key(question, candidate, engine)
  local steps = engine.steps.steps
  if candidate.host_memory_gb or question.base.tiers ~= nil then return nil end
  if candidate.set or candidate.speculation or question.base.speculation ~= nil or candidate.pp > 1
    or #engine.prepared.corrections > 0 then return nil end
  if not steps.signature or not deploy.scheduler_class(question, candidate).caps_only_limit then return nil end
  local content = content_of(question, candidate)
  for _, name in ipairs(caps) do
    -- A pass of the encoder has as many embeddings as the budget, and nothing watches whether it would have more.
    if not (question.drawn.has_items and name == "max_num_batched_tokens") then
      content[name], content.deployment[name] = nil, nil
    end
  end
  if not blocks_matter(question) then
    for _, name in ipairs(of_memory) do content.deployment[name] = nil end
  end
  content.prices = steps:signature(candidate.deployment)
  return native.content_name(json.array {}, { (run_text.of(content)) })
end

--- Sets `alike` of candidates whose key others have.
function duplicates.mark(list)
  local count = {}
  for _, each in ipairs(list) do
    if each.alike_key then count[each.alike_key] = (count[each.alike_key] or 0) + 1 end
  end
  for _, each in ipairs(list) do each.alike = each.alike_key ~= nil and count[each.alike_key] > 1 end
end

--- Whether no cap of a is larger than b's.
local function within(a, b)
  for _, name in ipairs(caps) do
    if a[name] > b[name] then return false end
  end
  return true
end

--- Answers of a search by key and number of requests: {candidate, found}.
local Answers = {}
Answers.__index = Answers

function duplicates.answers() return setmetatable({}, Answers) end

local function place_of(candidate, requests) return ("%d %s"):format(requests, candidate.alike_key) end

--- Of runs with options.caps: whether seats or budget decided anything in one of them, and the most requests that ran
--- in a step of one replica.
function duplicates.limits(runs, spare)
  local limited, most = false, 0
  local function see(each)
    if each.limited == nil then limited = true end -- was not watched
    limited, most = limited or each.limited, math.max(most, each.most_running or 0)
  end
  for _, each in pairs(runs) do see(each) end
  if spare then see(spare) end
  return limited, most
end

--- Notes what was found of a candidate, where its caps decided nothing in any of the runs.
function Answers:note(candidate, requests, found)
  if not candidate.alike or found.limited ~= false then return end
  local place = place_of(candidate, requests)
  self[place] = self[place] or {}
  table.insert(self[place], { candidate = candidate, found = found })
end

local room = 0.5 -- of the blocks, for what schedulers keep free

--- Whether the blocks of both decide nothing: half of them hold all requests that ran at once at their full length.
local function has_room(question, a, b, most_running)
  local least = math.min(a.deployment.kv_blocks, b.deployment.kv_blocks)
  if a.deployment.kv_blocks == b.deployment.kv_blocks then return true end
  local each = math.ceil(question.drawn.longest / a.deployment.block_size) + 1 + a.deployment.seat_blocks
  return most_running * each <= room * least
end

--- Whether what was found of `one` is what would be found of `candidate`. Fewer replicas than those that were found
--- have missed in a run, or are excluded by the bounds of both.
local function holds_for(question, candidate, one)
  local found = one.found
  return one.candidate ~= candidate and within(one.candidate, candidate)
    and has_room(question, one.candidate, candidate, found.most_running)
    and (not found.replicas or found.missed ~= nil or candidate.least == found.replicas)
end

--- What is known of a candidate by the runs of another one; nil where that has to be found.
function Answers:of(question, candidate, requests)
  for _, one in ipairs(candidate.alike and self[place_of(candidate, requests)] or {}) do
    if holds_for(question, candidate, one) then
      local found = core.copy(one.found)
      found.best = {}
      for key, value in pairs(one.found.best) do found.best[key] = value end
      found.tried, found.same_as = 0, one.candidate.index
      return found
    end
  end
end

--- The asks of a round by number: those to run first, and those of candidates that one of these may answer, because it
--- has no more seats and no larger budget.
---@param by_index table<integer, table> candidates
function duplicates.in_turns(asks, by_index)
  local first, later, least = {}, {}, {}
  for _, ask in ipairs(asks) do
    local candidate = by_index[ask.candidate]
    if candidate.alike then
      local place = place_of(candidate, ask.requests)
      local other = least[place]
      local is_less = not other or within(candidate, other) and not within(other, candidate)
      if is_less then least[place] = candidate end
    end
  end
  for i, ask in ipairs(asks) do
    local candidate = by_index[ask.candidate]
    local other = candidate.alike and least[place_of(candidate, ask.requests)]
    local waits = other and other ~= candidate and within(other, candidate)
    table.insert(waits and later or first, i)
  end
  return first, later
end

return duplicates
