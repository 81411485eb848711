-- Groups of observations: each is left out of a fit once, and that fit is scored on it.
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local minimise = require "rooflua.explore.fit.minimise"

local groups = {}
local fail = core.fail

local folds = 5

--- Observations by group: the group that each of them names; where none names one, five folds taken in turn.
function groups.of(observations)
  local list, by_name, own = {}, {}, false
  for _, each in ipairs(observations) do own = own or each.group ~= nil end
  for i, each in ipairs(observations) do
    local name = each.group
    if not own then name = "fold " .. (i - 1) % folds + 1 end
    if name == nil then fail("fit: target[%d]: has no group, others have; name one for each or for none", i) end
    name = tostring(name)
    if not by_name[name] then
      by_name[name] = { name = name, observations = {} }
      list[#list + 1] = by_name[name]
    end
    table.insert(by_name[name].observations, each)
  end
  return list
end

--- Every observation outside of one group.
function groups.others(list, left_out)
  local out = {}
  for _, group in ipairs(list) do
    if group ~= left_out then
      for _, each in ipairs(group.observations) do out[#out + 1] = each end
    end
  end
  return out
end

local nearby = 0.05 -- of a parameter's box

--- Whether the error stays the same when this parameter moves a little to both sides: then the data do not determine
--- it.
function groups.has_no_effect(task, values, range, error_)
  local place, moved = declared.place(range, values[range.path]), 0
  for _, step in ipairs { -nearby, nearby } do
    local tried = core.copy(values)
    tried[range.path] = declared.value(range, place + step)
    if tried[range.path] ~= values[range.path] then
      moved = moved + 1
      if minimise.score(task, task.model(tried), task.observations) ~= error_ then return false end
    end
  end
  return moved > 0
end

local told_apart = 0.1 -- the least share of a parameter's effect that no other parameter can have

local function dot(a, b)
  local sum = 0
  for i = 1, #a do sum = sum + a[i] * b[i] end
  return sum
end

--- How the predictions change, relative to what was measured, when a parameter moves a little; nil where it cannot
--- move or changes nothing.
local function effect_of(task, values, range, known)
  local place, tried = declared.place(range, values[range.path]), core.copy(values)
  tried[range.path] = declared.value(range, place + (place < 0.5 and nearby or -nearby))
  local moved, sum = minimise.relative(task.model(tried), task.observations), 0
  for i, each in ipairs(moved) do
    moved[i] = each - known[i]
    sum = sum + moved[i] * moved[i]
  end
  return minimise.finite(sum) and sum > 0 and moved or nil
end

--- `effect` without what a sum of the others has; and the path of the one of them that is most like it.
local function without_others(effect, others)
  local basis, nearest, most = {}, nil, 0
  local function reduced(vector)
    for _, each in ipairs(basis) do
      local share, out = dot(vector, each), {}
      for i = 1, #vector do out[i] = vector[i] - share * each[i] end
      vector = out
    end
    return vector
  end
  for path, other in core.sorted_pairs(others) do
    local alike = math.abs(dot(effect, other)) / math.sqrt(dot(other, other))
    if alike > most then nearest, most = path, alike end
    local left = reduced(other)
    local size = math.sqrt(dot(left, left))
    if size > 1e-9 * math.sqrt(dot(other, other)) then
      for i = 1, #left do left[i] = left[i] / size end
      basis[#basis + 1] = left
    end
  end
  return reduced(effect), nearest
end

--- By path of a parameter the path of another one whose changes do nearly the same to all figures: from these data
--- only both together are known.
function groups.alike(task, values)
  local known, effects, out = minimise.relative(task.model(values), task.observations), {}, {}
  for _, range in ipairs(task.ranges) do effects[range.path] = effect_of(task, values, range, known) end
  for path, effect in core.sorted_pairs(effects) do
    local others = core.copy(effects)
    others[path] = nil
    local rest, nearest = without_others(effect, others)
    if nearest and dot(rest, rest) < told_apart * told_apart * dot(effect, effect) then out[path] = nearest end
  end
  return out
end

--- Scores each group with the fit that did not see it. The error over all of them is what to expect of new data.
--- @param fits table one per group, or empty
function groups.leave_out(task, list, fits, result)
  local all = {}
  local before, after = task.model(result.start), task.model(result.values)
  for i, group in ipairs(list) do
    local entry = { name = group.name, count = #group.observations,
      before = (minimise.score(task, before, group.observations)),
      after = (minimise.score(task, after, group.observations)) }
    local without = fits[i]
    if without then
      local errors
      entry.left_out, entry.why, errors = minimise.score(task, task.model(without.values), group.observations)
      entry.values, entry.converged = without.values, without.converged
      for _, each in ipairs(errors) do all[#all + 1] = each end
      result.evaluations = result.evaluations + without.evaluations
      result.hopeless = result.hopeless + without.hopeless
      result.why = result.why or without.why
      if not without.converged then result.unfinished = result.unfinished + 1 end
    end
    result.groups[#result.groups + 1] = entry
  end
  for _, each in ipairs(all) do
    if not minimise.finite(each) then return end -- then there is no left-out error
  end
  if #all > 0 then result.error.left_out = minimise.objectives[task.objective](all) end
end

return groups
