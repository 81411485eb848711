-- Makes intervals/residuals_on_tables.lua and residuals_on_models.lua from documents of `rooflua validate FILE.csv
-- --wide --json F`: how far measured closed loops of public deployments are from their simulation, by kind, load and
-- basis (intervals/kinds.lua). Questions whose settings are not stated are left out: they show what is not known, and
-- not how far the simulation is off.
--
--     residual = log(measured / simulated)           weight of a question: 1 / sqrt(questions of its deployment)
--
-- The ends of a kind are the 5 and 95 % quantiles of its own residuals together with those of the other kinds under the
-- same load, on the same basis. Each kind has the weight of its deployments, and all others together have that of
-- `others` deployments. So a kind with one deployment has nearly the ends of the others, and a kind with many has its
-- own. A kind that was never measured gets the 5 % quantile of the low ends of all kinds, and the 95 % quantile of
-- their high ends, each kind with the weight of its deployments.
local core = require "rooflua.base.core"
local ends = require "rooflua.intervals.ends"
local kinds = require "rooflua.intervals.kinds"
local quantiles = require "rooflua.quantiles"
local spec = require "rooflua.spec"

local making = {}

making.metrics = ends.metrics
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
--- gpu, load, basis, weight, is_transient, tpot, ttft, e2e}.
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
        key = kinds.key(kind), gpu = hardware.name, basis = kinds.basis_of(each.evidence or {}),
        load = kinds.load_of(each.simulated.queue_mean, each.simulated.ttft_mean) }
      point.is_transient = kinds.is_transient(each.simulated.e2e_mean, each.simulated.makespan_s, each.clients or 1)
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

--- Points of one load on one basis by kind.
local function by_kind(points, load, basis)
  local out = {}
  for _, point in ipairs(points) do
    if point.load == load and point.basis == basis then
      out[point.key] = out[point.key] or {}
      table.insert(out[point.key], point)
    end
  end
  return out
end

--- The other kinds as groups, each with the weight of its deployments.
--- @param but table<string, boolean> kinds that are left out
--- @param all number what the others weigh together
local function others_of(groups, but, all)
  local list, weights, sum = {}, {}, 0
  for _, key in ipairs(core.sorted_keys(groups)) do
    if not but[key] then
      list[#list + 1], weights[#weights + 1] = groups[key], count_deployments(groups[key])
      sum = sum + weights[#weights]
    end
  end
  for i = 1, #list do weights[i] = all * weights[i] / sum end
  return list, weights
end

--- The ends of a kind whose own points are `own`.
--- @param missing string? a kind that is taken never to have been measured
local function ends_of_kind(groups, key, own, missing)
  local list, weights = others_of(groups, { [key] = true, [missing or key] = true }, making.others)
  list[#list + 1], weights[#weights + 1] = own, count_deployments(own)
  return ends_of(list, weights)
end

--- The ends of a kind that was never measured: for each metric and side a quantile over the kinds; nil without any.
--- @param missing string? a kind that is taken never to have been measured
local function unseen_of(groups, missing)
  local lows, highs, out = {}, {}, nil
  for _, key in ipairs(core.sorted_keys(groups)) do
    if key ~= missing then
      local found, weight = ends_of_kind(groups, key, groups[key], missing), count_deployments(groups[key])
      out = out or {}
      for _, metric in ipairs(making.metrics) do
        lows[metric], highs[metric] = lows[metric] or {}, highs[metric] or {}
        table.insert(lows[metric], { found[metric][1], weight })
        table.insert(highs[metric], { found[metric][2], weight })
      end
    end
  end
  for _, metric in ipairs(out and making.metrics or {}) do
    out[metric] = { quantiles.weighted(lows[metric], making.low), quantiles.weighted(highs[metric], making.high) }
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
  out.left_out, out.without = unseen_of(groups, key), {}
  for family in pairs(counted(points, "family")) do
    local rest = without(points, family)
    if #rest > 0 then out.without[family] = ends_of_kind(groups, key, rest) else out.only = family end
  end
  return out
end

local function basis_of(points, basis)
  local out, all = { kinds = {}, unseen = {} }, {}
  for _, load in ipairs(kinds.loads) do
    local groups, of_load = by_kind(points, load, basis), {}
    for _, key in ipairs(core.sorted_keys(groups)) do
      out.kinds[key] = out.kinds[key] or {}
      out.kinds[key][load] = kind_of(groups, key)
      for _, point in ipairs(groups[key]) do of_load[#of_load + 1], all[#all + 1] = point, point end
    end
    out.unseen[load] = unseen_of(groups)
    if out.unseen[load] then
      out.unseen[load].deployments, out.unseen[load].points = count_deployments(of_load), #of_load
    end
  end
  out.deployments, out.points = count_deployments(all), #all
  return out
end

--- The content of residuals.lua: {tables, models}, as intervals/ends.lua reads it, each with {deployments, points}.
--- @param points table of making.points
--- @param modelled table of the same, of simulations that read no table; those that rest on models count
function making.residuals(points, modelled)
  local list = {}
  for _, point in ipairs(points) do list[#list + 1] = point end
  for _, point in ipairs(modelled) do
    if point.basis == "models" then list[#list + 1] = point end
  end
  local out = {}
  for _, basis in ipairs(kinds.bases) do out[basis] = basis_of(list, basis) end
  return out
end

-- Transients ------------------------------------------------------------------------------------------------------

--- How many times as far the ends of their kinds have to be, so that 90 % of such points lie inside: {points,
--- deployments, tpot = {low, high}, ttft, e2e}, at least 1. The models of the points are left out of the ends.
--- @param points table of making.points
--- @param residuals table of making.residuals
function making.transients(points, residuals)
  local out = { points = #points, deployments = count_deployments(points) }
  for _, metric in ipairs(making.metrics) do
    local sides = { {}, {} }
    for _, point in ipairs(points) do
      local of = ends.of(residuals, point.key, point.load, point.basis, point.family)[metric]
      for side = 1, 2 do table.insert(sides[side], { point[metric] / of[side], point.weight }) end
    end
    out[metric] = { math.max(1, quantiles.weighted(sides[1], making.high)),
      math.max(1, quantiles.weighted(sides[2], making.high)) }
  end
  return out
end

-- Coverage -----------------------------------------------------------------------------------------------------

local function share_inside(points, ends_of_point)
  local out = { points = #points }
  for _, metric in ipairs(making.metrics) do
    local inside, width = 0, 0
    for _, point in ipairs(points) do
      local of = ends_of_point(point)[metric]
      if point[metric] >= of[1] and point[metric] <= of[2] then inside = inside + 1 end
      width = width + of[2] - of[1]
    end
    out[metric] = { inside = inside / #points, width = width / #points }
  end
  return out
end

--- The share of transient points inside, with factors that all of them, or those of other kinds, say.
function making.coverage_of_transients(points, residuals)
  local all, of_others = making.transients(points, residuals), {}
  local function of(point, factors)
    return ends.stretched(ends.of(residuals, point.key, point.load, point.basis, point.family), factors)
  end
  for _, point in ipairs(points) do
    if not of_others[point.key] then
      local rest = {}
      for _, each in ipairs(points) do rest[#rest + 1] = each.key ~= point.key and each or nil end
      of_others[point.key] = making.transients(rest, residuals)
    end
  end
  return { known = share_inside(points, function(point) return of(point, all) end),
    left_out = share_inside(points, function(point) return of(point, of_others[point.key]) end) }
end

--- The share of points inside of the ends of their kind, of those without points of their own model, and of those that
--- the kind would have if it had never been measured, with the mean width log(high / low) of these ends: {known,
--- other_models, left_out}, each {points, tpot = {inside, width}, ttft, e2e}.
function making.coverage(points, residuals)
  local function of(point, family) return ends.of(residuals, point.key, point.load, point.basis, family) end
  return { known = share_inside(points, of),
    other_models = share_inside(points, function(point) return of(point, point.family) end),
    left_out = share_inside(points, function(point)
      return ends.left_out(residuals, point.key, point.load, point.basis)
    end) }
end

-- Text ---------------------------------------------------------------------------------------------------------

local function ends_text(of)
  local parts = {}
  for _, metric in ipairs(making.metrics) do
    parts[#parts + 1] = ("%s = { %.3f, %.3f }"):format(metric, of[metric][1], of[metric][2])
  end
  return table.concat(parts, ", ")
end

local function count_text(of) return ("deployments = %d, points = %d"):format(of.deployments, of.points) end

local longest_line = 120 -- columns

local function add_kind(lines, load, of)
  local function add(...) lines[#lines + 1] = ("        " .. ...):format(select(2, ...)) end
  lines[#lines + 1] = ("      %s = {"):format(load)
  local gpus = {}
  for _, name in ipairs(core.sorted_keys(of.gpus)) do
    gpus[#gpus + 1] = ("[%q] = { %d, %d }"):format(name, of.gpus[name][1], of.gpus[name][2])
  end
  local only = of.only and (" only = %q,"):format(of.only) or ""
  add("%s,%s", count_text(of), only)
  local gpus_text = ("gpus = { %s },"):format(table.concat(gpus, ", "))
  if #lines[#lines] + 1 + #gpus_text > longest_line then
    add("%s", gpus_text)
  else
    lines[#lines] = lines[#lines] .. " " .. gpus_text
  end
  add("%s,", ends_text(of))
  add("left_out = { %s },", ends_text(of.left_out or of))
  if not of.only then
    add "without = {"
    for _, family in ipairs(core.sorted_keys(of.without)) do
      add("  [%q] = { %s },", family, ends_text(of.without[family]))
      local last = lines[#lines]
      if #last > longest_line then lines[#lines] = last:gsub(", e2e", ",\n            e2e") end
    end
    add "},"
  end
  lines[#lines + 1] = "      },"
end

local head = [[
-- 5 and 95 %% quantiles of log(measured / simulated) of public closed loops, by kind of deployment and load, of
-- simulations that rest on %s. `without`: without the model that is named; `only`: the one model of the kind;
-- `left_out`: if the kind had never been measured; `gpus`: deployments and points of each; `unseen`: of a kind that was
-- never measured. Made by tests/fidelity/closed_loop_intervals.lua; intervals/making.lua says how.
return {]]

--- The content of residuals_of_transients.lua.
--- @param found table of making.transients
function making.transients_text(found)
  return ([[
-- How many times as far the ends of intervals/residuals.lua are for runs that are over before they are steady
-- (intervals/kinds.lua): {low, high}. Made by tests/fidelity/closed_loop_intervals.lua; intervals/making.lua says how.
return { %s,
  %s }
]]):format(count_text(found), ends_text(found))
end

--- The content of one basis as text.
--- @param found table a member of making.residuals
--- @param basis string
function making.text(found, basis)
  local lines = { head:format(basis), ("  %s,"):format(count_text(found)), "  kinds = {" }
  for _, key in ipairs(core.sorted_keys(found.kinds)) do
    lines[#lines + 1] = ("    [%q] = {"):format(key)
    for _, load in ipairs(core.sorted_keys(found.kinds[key])) do add_kind(lines, load, found.kinds[key][load]) end
    lines[#lines + 1] = "    },"
  end
  lines[#lines + 1] = "  },\n  unseen = {"
  for _, load in ipairs(core.sorted_keys(found.unseen)) do
    local of = found.unseen[load]
    lines[#lines + 1] = ("    %s = { %s,\n      %s },"):format(load, count_text(of), ends_text(of))
  end
  lines[#lines + 1] = "  },\n}\n"
  return table.concat(lines, "\n")
end

return making
