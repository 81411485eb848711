-- Intervals of simulated figures, from the errors of the tables. Each row of a table is left out and predicted from
-- the others (db:leave_one_out). Errors of these predictions, by op, evidence and distance, are possible errors of
-- the price of an op.
--
--     time of an op in replicate r = predicted / (1 + e),   e drawn once per replicate and op
--
-- One draw holds for all steps of a run, because a run asks for the same shapes again and again. A price without a
-- table gets a lognormal factor of a declared width. Every step also gets the factor of intervals/discrepancy.lua. A
-- setting that the case does not state is drawn among its possible values (validate/engines.lua). Replicates come in
-- pairs; the second mirrors the draws of the first, so that few replicates spread evenly. Streams are named by pair
-- and op, so that the draws are the same on every machine.
local cost = require "rooflua.cost"
local discrepancy = require "rooflua.intervals.discrepancy"
local mfu = require "rooflua.mfu"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local spec = require "rooflua.spec"
local statistics = require "rooflua.base.statistics"

local interval = {}

--- Widths of prices without a table: sigma of the logarithm, and what they are for. Assumed, not fitted.
interval.widths = {
  modelled = { 0.20, "bytes over bandwidth, modelled kernels" },
  assumed = { 0.30, "host, sampler, front-end" },
}
--- The interval that is reported.
interval.low, interval.high = 0.05, 0.95

local rows_left_out = 300
local typical_tokens = 32
local fewest = 12 -- errors from which a region is used by itself

--- Class of a distance: 0 measured or beside a measured point, 1 up to half a doubling, 2 further.
local function distance_bin(distance)
  if distance <= 0.125 then return 0 end
  return distance <= 0.5 and 1 or 2
end

local function region_name(evidence, distance)
  if evidence == "measured" then return "interpolated/0" end
  if evidence ~= "interpolated" then return evidence end
  return evidence .. "/" .. distance_bin(distance)
end

local function add(of_op, name, error)
  for _, key in ipairs { name, name:match "^%a+_?%a*", "all" } do
    of_op[key] = of_op[key] or {}
    table.insert(of_op[key], error)
  end
end

--- {region = sorted errors} of an op, from the 16-bit tables of a database.
local function regions_of_op(database, op)
  local of_op = {}
  for _, each in ipairs(database:tables()) do
    if each.op == op and each.dtype == "bf16" and not each.name:find "nccl" then
      for _, leave in ipairs { "row", "shape" } do
        local rows = database:leave_one_out { table = each.name, leave = leave, most_rows = rows_left_out }
        for _, row in ipairs(rows) do
          local no_stand_in = op == "all_reduce" and leave == "shape" -- other numbers of ranks do not stand in
          if row.error > -1 and not no_stand_in then add(of_op, region_name(row.evidence, row.distance), row.error) end
        end
      end
    end
  end
  for _, errors in pairs(of_op) do table.sort(errors) end
  return of_op
end

local regions_of = setmetatable({}, { __mode = "k" })

--- {op = {region = sorted errors}} of a database, from its 16-bit tables. An op is looked at when it is first asked
--- about, because leaving rows out of every table takes seconds.
function interval.regions(database)
  if not regions_of[database] then
    regions_of[database] = setmetatable({}, { __index = function(regions, op)
      local of_op = regions_of_op(database, op)
      rawset(regions, op, of_op)
      return of_op
    end })
  end
  return regions_of[database]
end

--- Distances of ops at the batch of a typical step, which tell the region of their prices.
local function distances(database, layers, tokens)
  local out = {}
  for _, op in ipairs(layers) do
    if op.op == "gemm" and op.groups == 1 then
      local _, estimate = database:gemm(tokens, op.k, op.n, op.dtype)
      out[op.name] = estimate.distance
    end
  end
  return out
end

local function errors_of(regions, kind, evidence, distance)
  local of_op = regions[kind]
  if not of_op then return nil end
  local name = region_name(evidence, distance)
  for _, key in ipairs { name, name:match "^%a+_?%a*", "all" } do
    if of_op[key] and #of_op[key] >= fewest then return of_op[key] end
  end
end

--- A correction with one drawn factor per op, and one factor for all steps.
local function correction_of(factor, step)
  local factors = {}
  local class = policy.define { name = "validate_interval", doc = "One replicate of an interval.", params = {} }
  function class:op(op, time_s) -- luacheck: ignore 212
    local key = op.name .. "\0" .. op.evidence
    factors[key] = factors[key] or factor(op.name, op.kind, op.evidence)
    return time_s * factors[key]
  end
  function class:step(_, time_s) return time_s * step end -- luacheck: ignore 212
  return class {}
end

--- A correction that makes every step longer by a factor.
function interval.all_steps(factor)
  return correction_of(function() return 1 end, factor)
end

--- Changes of a replicate: {correction, step = factor of steps, factor = function(op, kind, evidence),
--- frontend = factor of the front-end, budget = tokens}.
--- @param number integer of the replicate
--- @param setting table of interval.setting
function interval.replicate(number, setting)
  local pair, mirrored = math.ceil(number / 2), number % 2 == 0
  local streams = random.streams(pair)
  local function factor(name, kind, evidence)
    local errors = errors_of(setting.regions, kind, evidence, setting.distances[name] or 0)
    local stream = streams:stream("interval " .. name .. " " .. evidence)
    if errors then
      local share = stream:uniform()
      return 1 / (1 + statistics.quantile(errors, mirrored and 1 - share or share))
    end
    local width = (interval.widths[evidence] or interval.widths.modelled)[1]
    local normal = stream:normal(0, 1)
    return math.exp(width * (mirrored and -normal or normal))
  end
  local step = setting.discrepancy and discrepancy.factor(setting.discrepancy, pair, mirrored) or 1
  local budgets = setting.budgets
  return { correction = correction_of(factor, step), step = step, factor = factor,
    frontend = factor("frontend", "frontend", "assumed"), budget = budgets and budgets[1 + (pair - 1) % #budgets] }
end

--- What the replicates of a case have in common: regions of its tables, distances of its ops at a typical step, the
--- discrepancy of the model, and possible token budgets if the case states none.
--- @param switches table {discrepancy, settings}: false leaves a term out
function interval.setting(database, about, switches)
  local out = { regions = {}, distances = {} }
  if switches.discrepancy ~= false then out.discrepancy = discrepancy.of(about) end
  local budgets = about.engine.parameters.budget.others
  if switches.settings ~= false and budgets then
    out.budgets = { about.engine.parameters.budget[1] }
    for _, each in ipairs(budgets) do table.insert(out.budgets, each) end
  end
  if not mfu.is_database(database) then return out end
  local deployment = spec.deployment { model = about.model, hardware = about.hardware, tp = about.tp,
    weights = about.weights, kv = about.kv, kv_blocks = 1024 }
  out.regions = interval.regions(database)
  out.distances = distances(database, cost.layers(about.model, deployment), typical_tokens)
  return out
end

--- The value below which a share q of further draws lies: of n sorted draws, the one at position q (n + 1). With few
--- draws it is the outermost one: n draws enclose a share of (n - 1) / (n + 1), so 90 % need 19 draws.
function interval.end_of(values, q)
  local n = #values
  return statistics.quantile(values, n > 1 and math.min(1, math.max(0, (q * (n + 1) - 1) / (n - 1))) or 0)
end

--- Low and high end of each metric over lists {metric = value}.
local function ends_of(lists)
  local values, out = {}, {}
  for _, list in ipairs(lists) do
    for metric, value in pairs(list) do
      values[metric] = values[metric] or {}
      table.insert(values[metric], value)
    end
  end
  for metric, list in pairs(values) do
    out[metric] = { low = interval.end_of(list, interval.low), high = interval.end_of(list, interval.high) }
  end
  return out
end

--- Standard deviation of log(simulated / measured).
local function deviation_of(lists, metric)
  local logs = {}
  for _, list in ipairs(lists) do logs[#logs + 1] = math.log(1 + list[metric]) end
  local mean, sum = statistics.mean(logs), 0
  for _, each in ipairs(logs) do sum = sum + (each - mean) * (each - mean) end
  return #logs > 1 and math.sqrt(sum / (#logs - 1)) or 0
end

--- @param replicates table of {errors = {metric = relative}, simulated = {metric = figure}}
--- @return table {metric = {low, high, inside, deviation, predicted = {low, high}}}: low to deviation of the errors, if
---   the metric was measured (deviation: of the logarithm); predicted of the simulated figure
function interval.of(replicates)
  local errors, figures = {}, {}
  for i, each in ipairs(replicates) do errors[i], figures[i] = each.errors, each.simulated end
  local out = ends_of(errors)
  for metric, one in pairs(out) do
    one.inside = one.low <= 0 and one.high >= 0
    one.deviation = deviation_of(errors, metric)
  end
  for metric, ends in pairs(ends_of(figures)) do
    out[metric] = out[metric] or {}
    out[metric].predicted = ends
  end
  return out
end

--- Widens the intervals of a closed loop to what measured closed loops of other models showed: there, errors are not
--- those of tables, but of settings that are not stated and of requests that come back together.
--- @param found table of interval.of
--- @param of table {simulated, measured} of the run itself
--- @param ends table {tpot = {low, high}, ttft, e2e} of intervals/widths.lua
function interval.widen(found, of, ends)
  for metric, one in pairs(found) do
    local range = ends[metric:match "^ttft" or metric:match "^tpot" or metric:match "^e2e" or ""]
    local value, measured = of.simulated[metric], of.measured[metric]
    if range and value and one.predicted then
      one.predicted.low = math.min(one.predicted.low, value * math.exp(range[1]))
      one.predicted.high = math.max(one.predicted.high, value * math.exp(range[2]))
      if measured and one.low then
        one.low, one.high = one.predicted.low / measured - 1, one.predicted.high / measured - 1
        one.inside = one.low <= 0 and one.high >= 0
      end
    end
  end
end

--- Cases with an interval of the metric, and the share of them whose measured value lies inside.
function interval.coverage(found, metric)
  local cases, inside, width = 0, 0, 0
  for _, each in ipairs(found) do
    local one = each.intervals and each.intervals[metric]
    if one and one.inside ~= nil then
      cases, inside = cases + 1, inside + (one.inside and 1 or 0)
      width = width + one.high - one.low
    end
  end
  if cases == 0 then return nil end
  return { cases = cases, inside_frac = inside / cases, mean_width = width / cases }
end

return interval
