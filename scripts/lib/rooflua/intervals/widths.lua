-- How wide an interval is, and what stands behind it: the one place that reads intervals/residuals.lua.
--
--     low, high = simulated * exp(ends[1]), simulated * exp(ends[2])          90 % of measurements
--
-- Ends are of TPOT, TTFT and E2E. Where more of the time is of modelled kernels than usual, the ends move by that part
-- towards those of simulations that read no table at all. They never become narrower.
local core = require "rooflua.base.core"
local kinds = require "rooflua.intervals.kinds"
local residuals = require "rooflua.intervals.residuals"

local widths = {}

widths.metrics = { "tpot", "ttft", "e2e" }
widths.level = 0.9
--- How many public deployments and measured points all kinds together have.
widths.deployments, widths.points = residuals.deployments, residuals.points

local function copied(ends)
  local out = {}
  for _, metric in ipairs(widths.metrics) do out[metric] = { ends[metric][1], ends[metric][2] } end
  return out
end

--- Moves each end outwards to that of `other`.
local function widen(ends, other, share)
  for _, metric in ipairs(widths.metrics) do
    local own, far = ends[metric], other[metric]
    own[1] = math.min(own[1], own[1] + share * (far[1] - own[1]))
    own[2] = math.max(own[2], own[2] + share * (far[2] - own[2]))
  end
end

local function of_load(kind, load)
  local of_kind = residuals.kinds[kinds.key(kind)]
  return of_kind and of_kind[load]
end

--- The ends of a kind: {tpot = {low, high}, ttft, e2e, deployments, points}. A kind that was never measured under that
--- load has no deployments, and the widest ends.
--- @param kind table {engine, class, architecture}
--- @param load string? "saturated" or "unsaturated"; nil: not known, so that the ends hold for both
function widths.of(kind, load)
  local out
  for _, each in ipairs(load and { load } or kinds.loads) do
    local own = of_load(kind, each)
    local ends = own or residuals.widest[each]
    if out then widen(out, ends, 1) else out = copied(ends) end
    out.deployments = math.max(out.deployments or 0, own and own.deployments or 0)
    out.points = (out.points or 0) + (own and own.points or 0)
  end
  return out
end

--- The ends that a kind has without the points of one model: what others say of it.
--- @param family string the model
function widths.without(kind, load, family)
  local own = of_load(kind, load)
  if not own then return residuals.widest[load] end
  return own.only == family and own.left_out or own.without[family] or own
end

--- The share of modelled kernels that simulations of the measured deployments have themselves: 95 % of them have less.
local usual_share = 0.15

--- Widens ends by the share of the time that is of modelled kernels, as far as it is more than usual. Returns how many
--- deployments and points say how far these are off: {deployments, points}; nil where the share is usual.
--- @param is_fitted boolean whether constants of modelled kernels were fitted on the GPU's family
--- @param load string? as in widths.of
function widths.widen_by_models(ends, share, is_fitted, load)
  if share <= usual_share then return nil end
  local group, out = residuals.modelled[is_fitted and "fitted" or "borrowed"], { deployments = 0, points = 0 }
  for _, each in ipairs(load and { load } or kinds.loads) do
    widen(ends, group[each], (share - usual_share) / (1 - usual_share))
    out.deployments = math.max(out.deployments, group[each].deployments)
    out.points = out.points + group[each].points
  end
  return out
end

--- Ends that hold for both of two kinds, of which the less is known counts.
function widths.join(a, b)
  widen(a, b, 1)
  a.deployments, a.points = math.min(a.deployments, b.deployments), math.min(a.points, b.points)
  return a
end

-- The nearest points -------------------------------------------------------------------------------------------

local alike = { class = 16, engine = 8, architecture = 4, load = 2, gpu = 1 }
local most_named = 3

--- The measured points that are most like a deployment: {engine, class, architecture, gpu, load, deployments, points}
--- of each group, at most three. Class and engine come before architecture, load and GPU.
--- @param about table {engine, class, architecture, gpu}
function widths.nearest(about, load)
  local list = {}
  for _, key in ipairs(core.sorted_keys(residuals.kinds)) do
    local engine, class, architecture = key:match "^(%S+) (%S+) (%S+)$"
    for _, own_load in ipairs(core.sorted_keys(residuals.kinds[key])) do
      local of = residuals.kinds[key][own_load]
      for _, gpu in ipairs(core.sorted_keys(of.gpus)) do
        local one = { engine = engine, class = class, architecture = architecture, gpu = gpu, load = own_load,
          deployments = of.gpus[gpu][1], points = of.gpus[gpu][2] }
        local sum = one.load == load and alike.load or 0
        for _, field in ipairs { "engine", "class", "architecture", "gpu" } do
          if one[field] == about[field] then sum = sum + alike[field] end
        end
        list[#list + 1] = { one = one, alike = sum, place = #list }
      end
    end
  end
  table.sort(list, function(a, b)
    if a.alike ~= b.alike then return a.alike > b.alike end
    return a.place < b.place
  end)
  local out = {}
  for i = 1, math.min(most_named, #list) do
    if list[i].alike >= alike.architecture then out[#out + 1] = list[i].one end
  end
  return out
end

return widths
