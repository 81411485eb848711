-- How wide an interval is, and what stands after it: the one place that reads intervals/residuals.lua.
--
--     low, high = simulated * exp(ends[1]), simulated * exp(ends[2])          90 % of measurements
--
-- Ends are of TPOT, TTFT and E2E. They are those of the kind under its load, on what its time rests on
-- (intervals/kinds.lua); intervals/ends.lua says which.
local core = require "rooflua.base.core"
local distances = require "rooflua.intervals.distances"
local ends = require "rooflua.intervals.ends"
local kinds = require "rooflua.intervals.kinds"
local residuals = require "rooflua.intervals.residuals"
local transients = require "rooflua.intervals.residuals_of_transients"

local widths = {}

widths.metrics = ends.metrics
widths.level = 0.9

--- The ends of a kind: {tpot = {low, high}, ttft, e2e, deployments, points}. A kind that was never measured under that
--- load has no deployments.
--- @param kind table {engine, class, architecture}
--- @param load string? "saturated" or "unsaturated"; nil: not known, so that the ends hold for both
--- @param basis string "tables" or "models"
function widths.of(kind, load, basis)
  local key, out = kinds.key(kind), nil
  for _, each in ipairs(load and { load } or kinds.loads) do
    local of = ends.of(residuals, key, each, basis)
    out = out and ends.widen(out, of) or of
    local known = ends.known(residuals, key, each, basis)[1]
    out.deployments = math.max(out.deployments or 0, known and known.deployments or 0)
    out.points = (out.points or 0) + (known and known.points or 0)
  end
  return out
end

--- Whether a GPU itself was measured as a deployment of a kind.
local function knows(kind, load, basis)
  for _, each in ipairs(load and { load } or kinds.loads) do
    for _, of in ipairs(ends.known(residuals, kinds.key(kind), each, basis)) do
      if of.gpus[kind.gpu] then return true end
    end
  end
  return false
end

--- The ends of a kind whose time rests on tables of another GPU: as wide as without tables, unless deployments of this
--- GPU were measured so. Second: whether they are wider.
function widths.of_borrowed(kind, load, basis)
  local out = widths.of(kind, load, basis)
  if knows(kind, load, basis) then return out, false end
  for _, each in ipairs(load and { load } or kinds.loads) do
    ends.widen(out, ends.unseen(residuals, each, "models"))
  end
  out.deployments, out.points = 0, 0
  return out, true
end

-- GPUs without tables --------------------------------------------------------------------------------------------

local of_steps = { tpot = { "decode" }, ttft = { "prefill" }, e2e = { "decode", "prefill" } }

--- How far a GPU is from those with tables: an entry of intervals/distances.lua; nil where its own tables answer, or
--- those of a lender, and where deployments of it say how far off it is.
--- @param kind table {gpu, is_fitted, has_tables, rows = own rows that its constants were fitted to, or nil}
function widths.distance(kind, load, basis)
  local rows = kind.rows
  if not rows then
    if kind.has_tables or basis ~= "models" or kind.is_fitted or knows(kind, load, basis) then return nil end
    rows = 0
  end
  local out
  for _, each in ipairs(distances) do
    if rows >= each.rows then out = each end
  end
  if out == distances[#distances] and basis == "tables" then return nil end
  return out
end

--- The ends of a kind whose kernels are priced at a distance: those on tables, and the error of the price of a step,
--- which are independent.
function widths.at_distance(kind, load, distance)
  local out = widths.of(kind, load, "tables")
  for metric, steps in pairs(of_steps) do
    local low, high = 0, 0
    for _, step in ipairs(steps) do
      low, high = math.min(low, distance[step][1]), math.max(high, distance[step][2])
    end
    local of = out[metric]
    out[metric] = { -math.sqrt(of[1] * of[1] + low * low), math.sqrt(of[2] * of[2] + high * high) }
  end
  return out, { rows = distance.rows, gpus = distances.gpus }
end

--- The reasons for which what was measured of a kind says little of a deployment: sentences that follow "wider: ".
--- @param kind table {engine, class, architecture, gpu, is_fitted, is_apart, own_layers}
--- @param is_distant boolean? the ends are those of at_distance()
function widths.unlike(kind, load, basis, is_distant)
  local out = {}
  if kind.is_apart then
    out[1] = "collectives cross the network between nodes, and those of no deployment behind it do"
  end
  if basis == "models" and not kind.is_fitted and not knows(kind, load, basis) and not is_distant then
    out[#out + 1] = ("no deployment behind it is on %s, for whose family no constants were fitted"):format(kind.gpu)
  end
  if kind.own_layers then
    out[#out + 1] = ("no deployment behind it has layers of the kind %s, which a file declares"):format(kind.own_layers)
  end
  return out
end

--- Makes ends as wide as those of a kind that was never measured.
function widths.as_unseen(of, load, basis)
  for _, each in ipairs(load and { load } or kinds.loads) do ends.widen(of, ends.unseen(residuals, each, basis)) end
  return of
end

--- The ends that a kind has without the points of one model: what others say of it.
function widths.without(kind, load, basis, family)
  return ends.of(residuals, kinds.key(kind), load, basis, family)
end

--- The ends of a run that is over before it is steady, and what says how far they are: {deployments, points}.
--- @param of table ends of its kind
function widths.of_transient(of)
  return core.copy(of, ends.stretched(of, transients)),
    { deployments = transients.deployments, points = transients.points }
end

--- How many deployments and points say how far simulations that rest on models are off: {deployments, points}.
--- @param load string? as in widths.of
function widths.on_models(load)
  local out = { deployments = 0, points = 0 }
  for _, each in ipairs(load and { load } or kinds.loads) do
    local of = residuals.models.unseen[each]
    out.deployments, out.points = math.max(out.deployments, of.deployments), out.points + of.points
  end
  return out
end

--- Ends that hold for both of two kinds, of which the less is known counts.
function widths.join(a, b)
  ends.widen(a, b)
  a.deployments, a.points = math.min(a.deployments, b.deployments), math.min(a.points, b.points)
  return a
end

-- The nearest points -------------------------------------------------------------------------------------------

local alike = { class = 16, engine = 8, architecture = 4, load = 2, gpu = 1 }
local most_named = 3

--- Groups of measured points as a list, by what their simulations rest on; and what was found for a deployment.
local listed, known = {}, {}

--- {engine, class, architecture, gpu, load, deployments, points} of every group.
local function groups_of(basis)
  if listed[basis] then return listed[basis] end
  local out, all = {}, residuals[basis].kinds
  for _, key in ipairs(core.sorted_keys(all)) do
    local engine, class, architecture = key:match "^(%S+) (%S+) (%S+)$"
    for _, own_load in ipairs(core.sorted_keys(all[key])) do
      local of = all[key][own_load]
      for _, gpu in ipairs(core.sorted_keys(of.gpus)) do
        out[#out + 1] = { engine = engine, class = class, architecture = architecture, gpu = gpu, load = own_load,
          deployments = of.gpus[gpu][1], points = of.gpus[gpu][2] }
      end
    end
  end
  listed[basis] = out
  return out
end

local function found_nearest(about, load, basis)
  local list = {}
  for place, one in ipairs(groups_of(basis)) do
    local sum = one.load == load and alike.load or 0
    for _, field in ipairs { "engine", "class", "architecture", "gpu" } do
      if one[field] == about[field] then sum = sum + alike[field] end
    end
    if sum >= alike.architecture then list[#list + 1] = { one = one, alike = sum, place = place } end
  end
  table.sort(list, function(a, b)
    if a.alike ~= b.alike then return a.alike > b.alike end
    return a.place < b.place
  end)
  local out = {}
  for i = 1, math.min(most_named, #list) do out[i] = list[i].one end
  return out
end

--- The groups of measured points that are most like a deployment, at most three. Class and engine come before
--- architecture, load and GPU.
--- @param about table {engine, class, architecture, gpu}
--- @param basis string "tables" or "models": what the simulations of these points rest on
function widths.nearest(about, load, basis)
  local key = table.concat({ basis, tostring(load), tostring(about.engine), tostring(about.class),
    tostring(about.architecture), tostring(about.gpu) }, "\n")
  known[key] = known[key] or found_nearest(about, load, basis)
  return known[key]
end

return widths
