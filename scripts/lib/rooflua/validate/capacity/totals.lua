-- Errors of simulated start-ups.
--
--     tokens    |ln(simulated / printed)|: tokens; of models with several kinds of layers under vLLM before 0.21
--               requests of the greatest length at once, because the printed tokens are no capacity there
--     kv_gib    the same of the bytes of the KV cache, where the tokens are missing or cannot be compared; of rows with
--               less than 3 GiB the difference, as a part of 3 GiB
--     weights   |simulated / printed - 1|, without rows that load a drafter
--     starts    share of right answers
--
-- Rows of one model, GPU and engine have the weight of one together.
local release = require "rooflua.engines.release"

local totals = {}

local small_gib = 3

--- Whether the tokens that the engine printed are a capacity.
local function prints_capacity(case)
  if case.engine ~= "vllm" or case.kind ~= "window" and case.kind ~= "hybrid" then return true end
  return case.release ~= nil and not release.earlier(case.release, "0.21")
end

local function log_error(simulated, measured)
  if not (simulated > 0) then return 1 end
  return math.abs(math.log(simulated / measured))
end

local function kv_error(simulated, measured)
  if measured < small_gib then return math.abs(simulated - measured) / small_gib end
  return log_error(simulated, measured)
end

--- Errors of one row, by metric; nil where the row has no such figure. A row that cannot run has the error 1.
---@param found table? {tokens, concurrency, kv_gib, weights_gib, starts}
function totals.errors(case, found)
  local measured, out, by_tokens = case.measured, {}, prints_capacity(case)
  local function error_of(name, simulated, of) out[name] = simulated and of(simulated, measured[name]) or 1 end
  found = found or {}
  if by_tokens and measured.kv_tokens then
    error_of("kv_tokens", found.tokens, log_error)
    out.tokens = out.kv_tokens
  elseif not by_tokens and measured.max_concurrency then
    error_of("max_concurrency", found.concurrency, log_error)
    out.tokens = out.max_concurrency
  elseif measured.kv_gib then
    error_of("kv_gib", found.kv_gib, kv_error)
    out.kv_gib = out.kv_gib
  end
  if measured.weights_gib and case.kind ~= "draft" then
    out.weights = found.weights_gib and math.abs(found.weights_gib / measured.weights_gib - 1) or 1
  end
  if measured.starts then
    local says = found.starts and "yes" or "no"
    out.starts = says == measured.starts and 1 or 0
  end
  return { tokens = out.tokens, kv_gib = not out.tokens and out.kv_gib or nil, weights = out.weights,
    starts = out.starts }
end

--- The release band of a row: what of it changed how the memory is divided.
function totals.band(case)
  if case.engine ~= "vllm" then return case.engine end
  if not case.release then return "unknown" end
  if release.earlier(case.release, "0.8") then return "vllm V0" end
  return release.earlier(case.release, "0.21") and "vllm V1 to 0.20" or "vllm 0.21 and later"
end

local function group_of(case)
  return ("%s\n%s\n%s"):format(tostring(case.model), tostring(case.hardware or case.memory_gib), tostring(case.engine))
end

--- The value below which half of the weight lies.
local function median(list)
  table.sort(list, function(a, b) return a.error < b.error end)
  local all, sum = 0, 0
  for _, each in ipairs(list) do all = all + each.weight end
  for _, each in ipairs(list) do
    sum = sum + each.weight
    if sum >= all / 2 then return each.error end
  end
end

--- Errors of a metric with their weights.
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
      list[#list + 1] = { error = value, weight = 1 / counts[group_of(answer.case)] }
    end
  end
  return list
end

local function share(list, holds)
  local all, sum = 0, 0
  for _, each in ipairs(list) do
    all = all + each.weight
    if holds(each.error) then sum = sum + each.weight end
  end
  return all > 0 and sum / all or nil
end

local function within(bound) return function(value) return value <= bound end end

local function figures(answers, metric, bound, name)
  local list = listed(answers, metric)
  if #list == 0 then return { rows = 0 } end
  return { median = median(list), [name] = share(list, within(bound)), rows = #list }
end

local function is_right(value) return value == 1 end

--- {tokens, kv_gib, weights, starts} of some answers.
function totals.of(answers)
  local function says(word)
    return function(answer) return answer.case.measured.starts == word end
  end
  local yes, no = listed(answers, "starts", says "yes"), listed(answers, "starts", says "no")
  return { tokens = figures(answers, "tokens", 0.05, "within_5"),
    kv_gib = figures(answers, "kv_gib", 0.05, "within_5"),
    weights = figures(answers, "weights", 0.03, "within_3"),
    starts = { yes = share(yes, is_right), no = share(no, is_right), rows = #yes + #no } }
end

--- The same by what `key` says of a case.
function totals.by(answers, key)
  local lists, out = {}, {}
  for _, answer in ipairs(answers) do
    local name = key(answer.case) or "unknown"
    lists[name] = lists[name] or {}
    table.insert(lists[name], answer)
  end
  for name, list in pairs(lists) do out[name] = totals.of(list) end
  return out
end

return totals
