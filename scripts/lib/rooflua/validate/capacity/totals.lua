-- Errors of simulated start-ups.
--
--     tokens    |ln(simulated / printed)|: tokens; where the printed tokens are no capacity (of several kinds of layers
--               in some releases), requests of the greatest length at once
--     kv_gib    the same of the bytes of the KV cache, where the tokens are missing or cannot be compared; of rows with
--               less than 3 GiB the difference, as a part of 3 GiB
--     weights   |simulated / printed - 1|, without rows that load a drafter
--     starts    share of right answers
--     activations  |simulated - printed| in GiB, and so other columns whose row states an `error`
--     identity  |printed tokens per byte of the cache / simulated - 1|: whether a token has the right bytes
--
-- Rows of one model, GPU and engine have the weight of one together.
local engines = require "rooflua.engines"
local rows = require "rooflua.validate.capacity.rows"
local statistics = require "rooflua.base.statistics"

local totals = {}

--- Figures whose error is a difference in GiB: {column, name}.
totals.differences = {}
for _, about in ipairs(rows.rows) do
  if about.error then table.insert(totals.differences, { column = about.list[1], name = about.error }) end
end

local small_gib = 3

local function log_error(simulated, measured)
  if not (simulated > 0) then return 1 end
  return math.abs(math.log(simulated / measured))
end

local function kv_error(simulated, measured)
  if measured < small_gib then return math.abs(simulated - measured) / small_gib end
  return log_error(simulated, measured)
end

--- Errors of one row, by metric; nil where the row has no such figure. A row that cannot run has the error 1.
---@param found table? {tokens, prints_capacity, concurrency, kv_gib, weights_gib, starts}
function totals.errors(case, found)
  local measured, out = case.measured, {}
  local function error_of(name, simulated, of) return simulated and of(simulated, measured[name]) or 1 end
  found = found or {}
  local by_tokens = found.prints_capacity ~= false
  if by_tokens and measured.kv_tokens then
    out.tokens = error_of("kv_tokens", found.tokens, log_error)
  elseif not by_tokens and measured.max_concurrency then
    out.tokens = error_of("max_concurrency", found.concurrency, log_error)
  elseif measured.kv_gib then
    out.kv_gib = error_of("kv_gib", found.kv_gib, kv_error)
  end
  if measured.weights_gib and case.kind ~= "draft" then
    out.weights = found.weights_gib and math.abs(found.weights_gib / measured.weights_gib - 1) or 1
  end
  if measured.starts then
    local says = found.starts and "yes" or "no"
    out.starts = says == measured.starts and 1 or 0
  end
  for _, each in ipairs(totals.differences) do
    local column = each.column
    if measured[column] and found[column] then out[each.name] = math.abs(found[column] - measured[column]) end
  end
  local both = measured.kv_tokens and (measured.kv_gib or 0) > 0 and by_tokens
  if both and (found.tokens or 0) > 0 then
    out.identity = math.abs(measured.kv_tokens / measured.kv_gib / (found.tokens / found.kv_gib) - 1)
  end
  return out
end

--- The engine of a row, with the releases that divide the memory as its own does.
function totals.band(case)
  local ok, found = pcall(engines.of, ("%s %s"):format(tostring(case.engine), tostring(case.release)))
  local band = ok and found.values.memory_band
  return band and ("%s %s"):format(case.engine, band) or case.engine
end

local function group_of(case)
  return ("%s\n%s\n%s"):format(tostring(case.model), tostring(case.hardware or case.memory_gib), tostring(case.engine))
end

--- Errors of a metric, {error, weight}.
local function listed(answers, metric, keep)
  local counts, list = {}, {}
  for _, answer in ipairs(answers) do
    if answer.errors[metric] and (not keep or keep(answer)) then
      local group = group_of(answer.case)
      counts[group] = (counts[group] or 0) + 1
    end
  end
  for _, answer in ipairs(answers) do
    local value = answer.errors[metric]
    if value and (not keep or keep(answer)) then
      list[#list + 1] = { value, 1 / counts[group_of(answer.case)] }
    end
  end
  return list
end

local function share(list, holds)
  local all, sum = 0, 0
  for _, each in ipairs(list) do
    all = all + each[2]
    if holds(each[1]) then sum = sum + each[2] end
  end
  return all > 0 and sum / all or nil
end

local function within(bound) return function(value) return value <= bound end end

local function figures(answers, metric, bound, name)
  local list = listed(answers, metric)
  if #list == 0 then return { rows = 0 } end
  return { median = statistics.weighted(list, 0.5), [name] = share(list, within(bound)), rows = #list }
end

local function is_right(value) return value == 1 end

--- {tokens, kv_gib, weights, starts} of some answers.
function totals.of(answers)
  local function says(word)
    return function(answer) return answer.case.measured.starts == word end
  end
  local yes, no = listed(answers, "starts", says "yes"), listed(answers, "starts", says "no")
  local out = { tokens = figures(answers, "tokens", 0.05, "within_5"),
    kv_gib = figures(answers, "kv_gib", 0.05, "within_5"),
    weights = figures(answers, "weights", 0.03, "within_3"),
    identity = figures(answers, "identity", 0.01, "within_1"),
    starts = { yes = share(yes, is_right), no = share(no, is_right), rows = #yes + #no } }
  for _, each in ipairs(totals.differences) do out[each.name] = figures(answers, each.name, 0.25, "within_gib_025") end
  return out
end

return totals
