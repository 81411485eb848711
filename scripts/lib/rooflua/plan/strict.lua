-- --strict of a plan: a deployment whose time rests on too little evidence does not count. The share and the sentence
-- are those of `rooflua run --strict`.
local core = require "rooflua.base.core"
local native = require "rooflua.native"

local strict = {}

--- Why a deployment does not count: "43.20 % of the time is extrapolated, stand_in, modelled or assumed (allowed:
--- 20 %)"; nil where it does.
---@param result table of evaluate.run: evidence, noted_frac
function strict.problem(question, result)
  if not question.strict_percent then return nil end
  return native.strict_problem(core.plain(result.evidence or {}), result.noted_frac or 0, question.strict_percent)
end

--- What --strict left out of an answer: {percent, excluded = how many candidates, best = the candidate of them with the
--- best score, problem = why that does not count}; nil without --strict.
function strict.account(question, found)
  if not question.strict_percent then return nil end
  local out = { percent = question.strict_percent, excluded = 0 }
  for _, candidate in ipairs(found.left) do
    local result = candidate.result
    if result and result.doubtful then
      out.excluded = out.excluded + 1
      if not out.best or result.deployment.score < out.best.result.deployment.score then out.best = candidate end
    end
  end
  if out.best then out.problem = out.best.result.doubtful end
  return out
end

return strict
