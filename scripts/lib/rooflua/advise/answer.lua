-- The answer of `rooflua advise` as a document: the settings to change, and what each of them brings and costs.
local drafts = require "rooflua.advise.drafts"
local json = require "rooflua.json"
local levers = require "rooflua.intervals.levers"

local answer = {}

local most_others = 5

--- What is known of such changes from measured pairs: {lever, right, pairs, size_frac, text}.
local function record_of(move)
  local by_name = levers.of("engine." .. move.option)
  local by_key = move.key and levers.of(move.key)
  local of = by_key and by_key.pairs > by_name.pairs and by_key or by_name
  return { lever = of.lever, right = of.right, pairs = of.pairs, size_frac = of.size, text = of.text }
end

--- Relative changes of metrics.
local function brings(before, after)
  local out = {}
  for name, value in pairs(after) do
    if before[name] and before[name] > 0 then out[name] = value / before[name] - 1 end
  end
  return out
end

local function memory_of(about, base)
  return { kv_tokens = about.kv_tokens, kv_tokens_before = base.about.kv_tokens }
end

local function plain(move)
  local before = move.before
  if before == nil then before = json.null end
  return { set = move.set, before = before, after = move.after }
end

--- Metrics, memory and intervals of a setting.
local function state_of(each, base)
  return { metrics = each.verdict.metrics, brings = each ~= base and brings(base.verdict.metrics, each.verdict.metrics)
      or nil, meets = each.verdict.meets, binds = each.verdict.binds, memory = memory_of(each.about, base),
    lost = each.verdict.lost, intervals = each.verdict.intervals,
    part_of_requests = each.is_short and true or nil }
end

--- Each change of a setting, with what it does alone.
local function changes_of(each, found)
  local out = json.array {}
  for i, move in ipairs(each.moves) do
    local own = plain(move)
    local alone = #each.moves == 1 and each or nil
    for _, single in ipairs(found.singles) do
      if single.moves[1] == move then alone = alone or single end
    end
    own.record = record_of(move)
    if alone then
      own.metrics, own.brings = alone.verdict.metrics, brings(found.base.verdict.metrics, alone.verdict.metrics)
      own.memory, own.intervals = memory_of(alone.about, found.base), alone.verdict.intervals
    else
      own.metrics, own.brings, own.alone = {}, {}, "refused, or without effect, alone"
      own.memory = memory_of(each.about, found.base)
    end
    out[i] = own
  end
  return out
end

local function with_changes(each, found)
  local out = state_of(each, found.base)
  out.changes = json.array {}
  for i, move in ipairs(each.moves) do out.changes[i] = plain(move) end
  return out
end

--- What binds where nothing helps: {metric, limit, best, bound, is_bound}. `bound`: the least that any of the settings
--- allows of a request on an engine without other requests.
local function binds_of(found, limits)
  local verdict = (found.closest or found.base).verdict
  local name = verdict.binds or limits[1].metric
  local out = { metric = name, best = verdict.metrics[name], bound = found.least[name], lost = verdict.lost }
  for _, bound in ipairs(limits) do
    if bound.metric == name then out.limit = bound.max or bound.min end
    local least = found.least[bound.metric]
    if least and bound.max and least > bound.max then
      return { metric = bound.metric, limit = bound.max, bound = least, is_bound = true,
        best = verdict.metrics[bound.metric] }
    end
  end
  return out
end

--- The document.
---@param found table of search.run
---@param asked table {limits, moves, not_tried, limit_s, notes}
function answer.document(found, asked)
  local out = { schema = "rooflua.advise/1", slo = json.array {}, before = state_of(found.base, found.base),
    met = found.base.verdict.meets or found.answer ~= nil, changes = json.array {}, alternatives = json.array {},
    not_tried = json.array(asked.not_tried), notes = json.array(asked.notes) }
  for i, bound in ipairs(asked.limits) do out.slo[i] = { metric = bound.metric, min = bound.min, max = bound.max } end
  local options = {}
  for _, move in ipairs(asked.moves) do options[move.option] = true end
  local count = 0
  for _ in pairs(options) do count = count + 1 end
  out.tried = { options = count, values = #asked.moves, settings = found.counts.tried, same = found.counts.same,
    refused = found.counts.refused, too_large = found.counts.too_large, excluded = found.counts.excluded,
    runs = asked.ran or 0 }
  out.tried.requests = found.requests
  for _, change in ipairs(found.answer and found.answer.moves or {}) do
    if change.option == "speculation" then table.insert(out.notes, drafts.note) end
  end
  if found.is_late then out.stopped = { limit_s = asked.limit_s } end
  if found.answer then
    out.changes, out.after = changes_of(found.answer, found), state_of(found.answer, found.base)
    for i = 1, math.min(most_others, #found.others) do out.alternatives[i] = with_changes(found.others[i], found) end
  elseif not out.met then
    out.binds = binds_of(found, asked.limits)
    out.closest = found.closest and with_changes(found.closest, found) or nil
  end
  return out
end

return answer
