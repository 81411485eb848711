-- Makes intervals/residuals.lua from documents of `rooflua validate FILE.csv --wide --json F`: how far measured closed
-- loops of public deployments are from their simulation, by kind (intervals/kinds.lua) and load. Questions whose
-- settings are not stated are left out: they show what is not known, and not how far the simulation is off.
--
--     residual = log(measured / simulated)           weight of a question: 1 / sqrt(questions of its deployment)
--
-- The ends of a kind are the 5 and 95 % quantiles of its own residuals together with those of the other kinds under the
-- same load. Each other kind has the same weight, and all of them have that of `others` deployments. So a kind with
-- one deployment has nearly the ends of the others, and a kind with many has its own. A kind without residuals gets
-- the widest ends that any kind has.
local core = require "rooflua.base.core"
local kinds = require "rooflua.intervals.kinds"
local quantiles = require "rooflua.quantiles"
local spec = require "rooflua.spec"

local making = {}

making.metrics = { "tpot", "ttft", "e2e" }
making.low, making.high = 0.05, 0.95
making.others = 5 -- deployments

local is_stated = { exact = true, mixed = true }

--- The model of a deployment's key.
function making.family_of(key) return key:match "^[^|]+" end

local function gpu_of(name)
  local ok, hardware = pcall(spec.hardware, name)
  return ok and hardware or nil
end

--- The questions of a document of which all three metrics were measured, as points: {deployment, family, kind, key,
--- gpu, load, is_fitted, weight, tpot, ttft, e2e}.
--- @param questions table of the document
function making.points(questions)
  local out, counts = {}, {}
  for _, each in ipairs(questions) do
    local errors = each.errors
    local is_whole = errors and errors.tpot and errors.ttft and errors.e2e
    local hardware = is_whole and is_stated[each.config] and gpu_of(each.gpu)
    if hardware then
      local kind = { engine = each.engine, class = each.class, architecture = each.architecture }
      local point = { deployment = each.deployment, family = making.family_of(each.deployment), kind = kind,
        key = kinds.key(kind), gpu = hardware.name, is_fitted = hardware.fit_note == "",
        load = kinds.load_of(each.simulated.queue_mean, each.simulated.ttft_mean) }
      for _, metric in ipairs(making.metrics) do point[metric] = -math.log(1 + errors[metric]) end
      counts[point.deployment] = (counts[point.deployment] or 0) + 1
      out[#out + 1] = point
    end
  end
  for _, point in ipairs(out) do point.weight = counts[point.deployment] ^ -0.5 end
  return out
end

-- Ends ---------------------------------------------------------------------------------------------------------

local function weight_of(points)
  local sum = 0
  for _, point in ipairs(points) do sum = sum + point.weight end
  return sum
end

local function count_deployments(points)
  local count, seen = 0, {}
  for _, point in ipairs(points) do
    if not seen[point.deployment] then count, seen[point.deployment] = count + 1, true end
  end
  return count
end

--- {metric = {low, high}} of groups of points; a group weighs what `weights` says.
local function ends_of(groups, weights)
  local out = {}
  for _, metric in ipairs(making.metrics) do
    local list = {}
    for i, points in ipairs(groups) do
      local factor = weights[i] / weight_of(points)
      for _, point in ipairs(points) do list[#list + 1] = { point[metric], factor * point.weight } end
    end
    out[metric] = { quantiles.weighted(list, making.low), quantiles.weighted(list, making.high) }
  end
  return out
end

--- Points of one load by kind.
local function by_kind(points, load)
  local out = {}
  for _, point in ipairs(points) do
    if point.load == load then
      out[point.key] = out[point.key] or {}
      table.insert(out[point.key], point)
    end
  end
  return out
end

--- The other kinds as groups, each with the same weight.
--- @param but table<string, boolean> kinds that are left out
local function others_of(groups, but, all)
  local list, weights = {}, {}
  for _, key in ipairs(core.sorted_keys(groups)) do
    if not but[key] then list[#list + 1] = groups[key] end
  end
  for i = 1, #list do weights[i] = all / #list end
  return list, weights
end

--- The ends of a kind whose own points are `own`.
--- @param missing string? a kind that is taken never to have been measured
local function ends_of_kind(groups, key, own, missing)
  local list, weights = others_of(groups, { [key] = true, [missing or key] = true }, making.others)
  list[#list + 1], weights[#weights + 1] = own, count_deployments(own)
  return ends_of(list, weights)
end

local function is_wider(a, b) return a[2] - a[1] > b[2] - b[1] end

--- For each metric the widest ends that any kind has, and all kinds together.
--- @param missing string? a kind that is taken never to have been measured
local function widest_of(groups, missing)
  local list, weights = others_of(groups, { [missing or 0] = true }, 1)
  if #list == 0 then return nil end
  local out = ends_of(list, weights)
  for _, key in ipairs(core.sorted_keys(groups)) do
    if key ~= missing then
      local found = ends_of_kind(groups, key, groups[key], missing)
      for _, metric in ipairs(making.metrics) do
        if is_wider(found[metric], out[metric]) then out[metric] = found[metric] end
      end
    end
  end
  return out
end

local function without(points, family)
  local out = {}
  for _, point in ipairs(points) do
    if point.family ~= family then out[#out + 1] = point end
  end
  return out
end

--- {number of deployments, number of points} by a field of points.
local function counted(points, field)
  local groups, out = {}, {}
  for _, point in ipairs(points) do
    groups[point[field]] = groups[point[field]] or {}
    table.insert(groups[point[field]], point)
  end
  for name, list in pairs(groups) do out[name] = { count_deployments(list), #list } end
  return out
end

local function kind_of(groups, key)
  local points = groups[key]
  local out = ends_of_kind(groups, key, points)
  out.deployments, out.points, out.gpus = count_deployments(points), #points, counted(points, "gpu")
  out.left_out, out.without = widest_of(groups, key), {}
  for family in pairs(counted(points, "family")) do
    local rest = without(points, family)
    if #rest > 0 then out.without[family] = ends_of_kind(groups, key, rest) else out.only = family end
  end
  return out
end

--- Ends where no table is read, by whether the constants of modelled kernels were fitted on the GPU's family, and load.
local function modelled_of(points)
  local out = { fitted = {}, borrowed = {} }
  for _, point in ipairs(points) do
    local group = out[point.is_fitted and "fitted" or "borrowed"]
    group[point.load] = group[point.load] or {}
    table.insert(group[point.load], point)
  end
  for _, group in pairs(out) do
    for load, list in pairs(group) do
      group[load] = ends_of({ list }, { 1 })
      group[load].deployments, group[load].points = count_deployments(list), #list
    end
  end
  return out
end

--- The content of residuals.lua.
--- @param points table of making.points
--- @param modelled table of the same, of simulations that read no table
function making.residuals(points, modelled)
  local out = { deployments = count_deployments(points), points = #points, kinds = {}, widest = {},
    modelled = modelled_of(modelled) }
  for _, load in ipairs(kinds.loads) do
    local groups = by_kind(points, load)
    out.widest[load] = widest_of(groups)
    for _, key in ipairs(core.sorted_keys(groups)) do
      out.kinds[key] = out.kinds[key] or {}
      out.kinds[key][load] = kind_of(groups, key)
    end
  end
  return out
end

-- Coverage -----------------------------------------------------------------------------------------------------

local function share_inside(points, ends_of_point)
  local out = {}
  for _, metric in ipairs(making.metrics) do
    local inside = 0
    for _, point in ipairs(points) do
      local ends = ends_of_point(point)[metric]
      if point[metric] >= ends[1] and point[metric] <= ends[2] then inside = inside + 1 end
    end
    out[metric] = inside / #points
  end
  return out
end

--- The share of points inside of the ends of their kind, of those without points of their own model, and of those that
--- the kind would have if it had never been measured: {known, other_models, left_out}, each {tpot, ttft, e2e}.
function making.coverage(points, residuals)
  local function of(point) return residuals.kinds[point.key][point.load] end
  return { known = share_inside(points, of),
    other_models = share_inside(points, function(point)
      return of(point).without[point.family] or of(point).left_out
    end),
    left_out = share_inside(points, function(point) return of(point).left_out end) }
end

-- Text ---------------------------------------------------------------------------------------------------------

local function ends_text(ends)
  local parts = {}
  for _, metric in ipairs(making.metrics) do
    parts[#parts + 1] = ("%s = { %.3f, %.3f }"):format(metric, ends[metric][1], ends[metric][2])
  end
  return table.concat(parts, ", ")
end

local function count_text(of) return ("deployments = %d, points = %d"):format(of.deployments, of.points) end

local function add_kind(lines, load, of)
  local function add(...) lines[#lines + 1] = ("      " .. ...):format(select(2, ...)) end
  lines[#lines + 1] = ("    %s = {"):format(load)
  add("%s,", count_text(of))
  add("%s,", ends_text(of))
  local gpus = {}
  for _, name in ipairs(core.sorted_keys(of.gpus)) do
    gpus[#gpus + 1] = ("[%q] = { %d, %d }"):format(name, of.gpus[name][1], of.gpus[name][2])
  end
  add("gpus = { %s },", table.concat(gpus, ", "))
  add("left_out = { %s },", ends_text(of.left_out or of))
  if of.only then
    add("only = %q, without = {},", of.only)
  else
    add "without = {"
    for _, family in ipairs(core.sorted_keys(of.without)) do
      add("  [%q] = { %s },", family, ends_text(of.without[family]))
    end
    add "},"
  end
  lines[#lines + 1] = "    },"
end

--- That content as text.
function making.text(found)
  local lines = {
    "-- 5 and 95 % quantiles of log(measured / simulated) of public closed loops, by kind of deployment and load.",
    "-- `without`: without the model that is named; `only`: the one model of the kind; `left_out`: if the kind had",
    "-- never been measured; `gpus`: deployments and points of each; `modelled`: where no table is read. Made by",
    "-- tests/fidelity/closed_loop_intervals.lua; intervals/making.lua says how.",
    "return {",
    ("  %s,"):format(count_text(found)),
    "  kinds = {",
  }
  for _, key in ipairs(core.sorted_keys(found.kinds)) do
    lines[#lines + 1] = ("    [%q] = {"):format(key)
    for _, load in ipairs(core.sorted_keys(found.kinds[key])) do
      local own = {}
      add_kind(own, load, found.kinds[key][load])
      for _, line in ipairs(own) do lines[#lines + 1] = "  " .. line end
    end
    lines[#lines + 1] = "    },"
  end
  lines[#lines + 1] = "  },\n  widest = {"
  for _, load in ipairs(core.sorted_keys(found.widest)) do
    lines[#lines + 1] = ("    %s = { %s },"):format(load, ends_text(found.widest[load]))
  end
  lines[#lines + 1] = "  },\n  modelled = {"
  for _, group in ipairs(core.sorted_keys(found.modelled)) do
    lines[#lines + 1] = ("    %s = {"):format(group)
    for _, load in ipairs(core.sorted_keys(found.modelled[group])) do
      local of = found.modelled[group][load]
      lines[#lines + 1] = ("      %s = { %s,\n        %s },"):format(load, count_text(of), ends_text(of))
    end
    lines[#lines + 1] = "    },"
  end
  lines[#lines + 1] = "  },\n}\n"
  return table.concat(lines, "\n")
end

return making
