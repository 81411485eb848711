-- GPUs of a question that no rank and no other line of its answer names: what became of them.
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local unnamed = {}

--- The candidate of a GPU that is best among those that have a deployment; and why another one has none.
local function best_of(found, gpu)
  local best, ended
  for _, each in ipairs(found.candidates) do
    if each.gpu == gpu then
      local deployment = each.result and each.result.deployment
      if deployment and (not best or each.result.score < best.result.score) then best = each end
      if not ended or each.problem and not ended.problem then ended = each end
    end
  end
  return best, ended
end

--- A sentence for each GPU that is not among those told.
---@param told table<integer, boolean> by number of the GPU in the question
---@return string[]
function unnamed.sentences(question, found, told)
  local out = {}
  for i, gpu in ipairs(question.gpus) do
    if not told[i] then
      local best, ended = best_of(found, i)
      if best then
        local deployment = best.result.deployment
        local price = gpu.price and words.dollars(deployment.cost_per_hour)
        out[#out + 1] = ("%s: the best is %s (%s)%s, behind the ranks above"):format(gpu.label,
          units.counted(deployment.gpus, "GPU"), best.name, price and ", " .. price .. "/h" or ", without a price")
      elseif ended then
        out[#out + 1] = ("%s: none serves this: %s%s (%s)"):format(gpu.label, ended.ended or "not run",
          ended.problem and ": " .. ended.problem or "", ended.name)
      else
        out[#out + 1] = gpu.label .. ": no candidate has this GPU"
      end
    end
  end
  return out
end

--- The GPUs of ranks, as a set.
function unnamed.of_ranks(plan)
  local told = {}
  for _, item in ipairs(plan.ranks) do told[item.candidate.gpu] = true end
  return told
end

return unnamed
