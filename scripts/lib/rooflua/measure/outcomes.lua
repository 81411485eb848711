-- How the requests of a run ended that were not completed: by outcome, and as a sentence.
local words = require "rooflua.base.words"

local outcomes = {}

--- Requests of a run that were not completed: {requests, count, by = {outcome = number}}; nil where all were completed.
---@param summary table requests, completed, failed
function outcomes.not_completed(summary)
  local count = summary.requests - summary.completed
  if count <= 0 then return nil end
  local by, told = {}, 0
  for _, name in ipairs(words.names "outcome") do
    local own = name ~= "completed" and summary.failed and summary.failed[name] or 0
    if own > 0 then by[name], told = own, told + own end
  end
  if told < count then by.unfinished = (by.unfinished or 0) + count - told end
  return { requests = summary.requests, count = count, by = by }
end

--- "150 exceeds_max_model_len, 50 rejected": in the order in which the engine declares outcomes.
---@param by table<string, integer>
function outcomes.list(by)
  local parts = {}
  for _, name in ipairs(words.names "outcome") do
    if by[name] then parts[#parts + 1] = ("%d %s"):format(by[name], name) end
  end
  return table.concat(parts, ", ")
end

--- "200 of 600 requests were not completed: 150 exceeds_max_model_len, 50 rejected".
---@param lost table of outcomes.not_completed
function outcomes.text(lost)
  return ("%d of %d requests were not completed: %s"):format(lost.count, lost.requests, outcomes.list(lost.by))
end

--- The outcomes of many runs together: {runs, by}; nil where every run completed all of its requests.
---@param list table[] of outcomes.not_completed or nil, in `count` places
function outcomes.together(list, count)
  local out = { runs = 0, by = {} }
  for i = 1, count do
    local lost = list[i]
    if lost then
      out.runs = out.runs + 1
      for name, number in pairs(lost.by) do out.by[name] = (out.by[name] or 0) + number end
    end
  end
  return out.runs > 0 and out or nil
end

return outcomes
