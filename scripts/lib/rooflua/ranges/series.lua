-- Series of one range, joined over files and brought to one form: what counters grew by from one sample to the next,
-- what gauges were, quantiles that were computed elsewhere.
--
-- A counter that falls began again at 0 with its process, and so did all counters of that process. A counter that
-- comes into being while its process was there before began at 0; else it counts from its first sample on.
local core = require "rooflua.base.core"
local names = require "rooflua.ranges.names"

local series = {}
local fail = core.fail

local reasons = { "finished_reason", "finish_reason" }
local of_part = core.set { "le", "finished_reason", "finish_reason" } -- labels that tell no process apart

local function milliseconds(second) return math.floor(1000 * second + 0.5) end
series.milliseconds = milliseconds

local function key_of(labels, without)
  local parts = {}
  for name, value in core.sorted_pairs(labels) do
    if not without[name] then parts[#parts + 1] = name .. "=" .. value end
  end
  return table.concat(parts, "\0")
end

--- Why a series is not read; nil where it is.
local function problem_of(each, found)
  if each.unread then return each.unread end
  if not found then return "no engine has a series of that name" end
  if found.quantity == "one" then return "a setting, which stands in its labels" end
  if found.type == "histogram" and not found.part and each.form ~= "quantile" then
    return "a histogram without its parts; query X_bucket, X_sum and X_count"
  end
  if found.part == "bucket" and not (tonumber(each.labels.le) or each.labels.le == "+Inf") then
    return "buckets without their bound: the label le is missing"
  end
  if found.type == "gauge" and each.form ~= "raw" then return "a rate of a gauge" end
  if found.type ~= "gauge" and each.rounded then
    return "a counter whose cells are rounded; export it without 'Formatted data'"
  end
end

--- Times in order, without values that are no finite numbers. Two values of one time have to be equal.
local function ordered(each)
  local order = {}
  for i, value in ipairs(each.values) do
    if value > -math.huge and value < math.huge then order[#order + 1] = i end
  end
  table.sort(order, function(a, b)
    if each.times[a] ~= each.times[b] then return each.times[a] < each.times[b] end
    return a < b
  end)
  local out = { times = {}, values = {}, starts = each.starts and {} or nil }
  for _, i in ipairs(order) do
    local last = #out.times
    if last > 0 and milliseconds(out.times[last]) == milliseconds(each.times[i]) then
      if out.values[last] ~= each.values[i] then
        fail("%s: %s: two values at one time (%.3f): %g and %g", each.where, each.name, each.times[i],
          out.values[last], each.values[i])
      end
    else
      out.times[last + 1], out.values[last + 1] = each.times[i], each.values[i]
      if out.starts then out.starts[last + 1] = each.starts[i] end
    end
  end
  return core.copy(each, out)
end

--- Adds the points of a series that another file, or another answer, has a part of.
local function append(first, other)
  for i, at in ipairs(other.times) do
    first.times[#first.times + 1], first.values[#first.values + 1] = at, other.values[i]
    if first.starts then first.starts[#first.starts + 1] = other.starts[i] end
  end
end

--- The series that are read, one of each name and labels; the others go to `unread`.
local function joined(list, unread)
  local known, out = {}, {}
  for _, each in ipairs(list) do
    local found = each.name and names.find(each.name)
    local why = problem_of(each, found)
    if why then
      unread[#unread + 1] = { where = each.where, name = each.name, why = why }
    else
      local key = table.concat({ each.name, each.form, tostring(each.q), key_of(each.labels, {}) }, "\1")
      if known[key] then
        append(known[key], each)
      else
        known[key] = core.copy(each, { found = found })
        out[#out + 1] = known[key]
      end
    end
  end
  for i, each in ipairs(out) do out[i] = ordered(each) end
  return out
end

--- Ranks of one engine show the same requests: those above 0 are left out where rank 0 is there.
local function without_ranks(list, told)
  local has_first, out, left = {}, {}, 0
  for _, each in ipairs(list) do
    for _, label in ipairs { "tp_rank", "pp_rank" } do
      if each.labels[label] == "0" then has_first[label] = true end
    end
  end
  for _, each in ipairs(list) do
    local is_other = false
    for label in pairs(has_first) do
      is_other = is_other or each.labels[label] ~= nil and each.labels[label] ~= "0"
    end
    if is_other then left = left + 1 else out[#out + 1] = each end
  end
  if left > 0 then told[#told + 1] = ("%d series of ranks above 0 are left out: rank 0 shows the same"):format(left) end
  return out
end

local function check_models(list)
  local models, where = {}, {}
  for _, each in ipairs(list) do
    local model = each.labels.model_name
    if model then models[model], where[model] = true, where[model] or each.where end
  end
  local found = core.sorted_keys(models)
  if #found > 1 then
    fail("%s: is of model %s, and %s of model %s; ask for one of them: {model_name=\"%s\"}", where[found[1]], found[1],
      where[found[2]], found[2], found[1])
  end
  return found[1]
end

-- Counters --------------------------------------------------------------------------------------------------------

--- By process: the times of its counters, and those at which one of them had fallen.
local function processes_of(list)
  local out = {}
  for _, each in ipairs(list) do
    if each.found.type ~= "gauge" and each.form == "raw" then
      each.process = key_of(each.labels, of_part)
      local own = out[each.process] or { times = {}, seen = {}, resets = {} }
      out[each.process] = own
      for i, at in ipairs(each.times) do
        if not own.seen[at] then own.seen[at], own.times[#own.times + 1] = true, at end
        if i > 1 and each.values[i] < each.values[i - 1] then own.resets[at] = true end
      end
    end
  end
  local resets = 0
  for _, own in pairs(out) do
    table.sort(own.times)
    own.reset_times = core.sorted_keys(own.resets)
    resets = resets + #own.reset_times
  end
  return out, resets
end

local function began_again(own, from, to)
  for _, at in ipairs(own.reset_times) do
    if at > from and at <= to then return true end
  end
  return false
end

--- The last time of a process before another one.
local function time_before(own, at)
  local before
  for _, each in ipairs(own.times) do
    if each >= at then return before end
    before = each
  end
  return before
end

local function counted(each, own)
  local starts, ends, values = {}, {}, {}
  local function add(from, to, value)
    starts[#starts + 1], ends[#ends + 1], values[#values + 1] = from, to, value
  end
  local before = each.times[1] and time_before(own, each.times[1])
  if before then add(before, each.times[1], each.values[1]) end
  for i = 2, #each.times do
    local from, to = each.times[i - 1], each.times[i]
    add(from, to, began_again(own, from, to) and each.values[i] or each.values[i] - each.values[i - 1])
  end
  return starts, ends, values
end

local function of_rates(each)
  local starts, ends, values = {}, {}, {}
  for i = 2, #each.times do
    local step = each.times[i] - each.times[i - 1]
    starts[i - 1], ends[i - 1] = each.times[i - 1], each.times[i]
    values[i - 1] = each.values[i] * (each.form == "rate" and step or step / each.window_s)
  end
  return starts, ends, values
end

--- What a series grew by: {quantity, part, bound, reason, starts, ends, values, name, where, labels}.
local function increments_of(each, processes, told)
  local starts, ends, values
  if each.starts then
    starts, ends, values = each.starts, each.times, each.values
  elseif each.form == "raw" then
    starts, ends, values = counted(each, processes[each.process])
  else
    starts, ends, values = of_rates(each)
    local step = #each.times > 1 and each.times[2] - each.times[1] or each.window_s
    if each.window_s > 1.5 * step then
      told[#told + 1] = ("%s: %s is an average over %g s, and its values are %g s apart: it is smoother than what "
        .. "happened"):format(each.where, each.name, each.window_s, step)
    end
  end
  for i, value in ipairs(values) do
    if value < 0 then fail("%s: %s: a counter grows by %g at %.3f", each.where, each.name, value, ends[i]) end
  end
  local reason = each.labels[reasons[1]] or each.labels[reasons[2]]
  return { quantity = each.found.quantity, part = each.found.part, reason = reason, name = each.name,
    bound = each.found.part == "bucket" and (tonumber(each.labels.le) or math.huge) or nil, where = each.where,
    starts = starts, ends = ends, values = values }
end

--- {increments, gauges, quantiles, unread, told, model, engines = by process, resets}.
---@param list table[] of the readers: {file, where, name, labels, form, times, values, starts, window_s, q, unread}
function series.of(list)
  local out = { increments = {}, gauges = {}, quantiles = {}, unread = {}, told = {} }
  local read = without_ranks(joined(list, out.unread), out.told)
  out.model = check_models(read)
  local processes, resets = processes_of(read)
  local engines = {}
  for _, each in ipairs(read) do
    local kind = each.found.type
    out.engine = out.engine or each.found.engine
    if each.found.engine ~= out.engine then
      fail("%s: is of %s, and other series are of %s; ask for one engine", each.where, each.found.engine.title,
        out.engine.title)
    end
    if each.form == "quantile" then
      out.quantiles[#out.quantiles + 1] = { quantity = each.found.quantity, q = each.q, times = each.times,
        values = each.values, name = each.name, where = each.where }
    elseif kind == "gauge" then
      if each.found.quantity == "running" then engines[key_of(each.labels, of_part)] = true end
      out.gauges[#out.gauges + 1] = { quantity = each.found.quantity, times = each.times, values = each.values,
        name = each.name, where = each.where, is_mean = each.is_mean }
    else
      out.increments[#out.increments + 1] = increments_of(each, processes, out.told)
    end
  end
  out.engines = #core.sorted_keys(engines)
  if resets > 0 then
    out.told[#out.told + 1] = ("counters fell at %d times: the server was started again, and they count from 0 there")
      :format(resets)
  end
  return out
end

return series
