--- Fits the constants of the kernel model to rows of a GPU, kind by kind, each shape left out once.
---
---     minimised: mean |ln(modelled / measured)| + 0.2 / rows * sum ln(constant / lender's)^2
---
--- The second term is what a row weighs against the family that lends its constants: few rows move them little, many
--- as far as they say. It follows from errors of 20 % (Laplace) and constants of families that differ by a factor of 2
--- (lognormal), which is assumed. A row counts with an error of a factor of 4 at most.
---
--- A kind keeps the lender's constants where it has few rows, and where the fit is no better on shapes left out.
local core = require "rooflua.base.core"
local family_rows = require "rooflua.family.rows"
local native = require "rooflua.native"
local statistics = require "rooflua.base.statistics"

local fitted = {}

fitted.fewest = 4 -- rows of a kind
local folds = 5
local lender_weight = 0.2
local most_error = math.log(4)
local close = 1.01 -- to its end a constant counts as at it

local bounds = {}
for _, each in ipairs(native.kernel_constants "hopper".list) do bounds[each.name] = { each.min, each.max } end

--- |ln(modelled / measured)| of each row.
local function errors_of(hardware, values, list)
  local database, out = family_rows.modelled(hardware, values), {}
  for i, row in ipairs(list) do
    local _, estimate = database:lookup(row.query)
    out[i] = math.abs(math.log(estimate.latency_s / row.measured_s))
  end
  return out
end

--- The sum of errors, of which none counts more than `most_error`.
local function sum_of(errors)
  local sum = 0
  for _, error in ipairs(errors) do sum = sum + math.min(error, most_error) end
  return sum
end

local function objective(task, values, list)
  local sum, moved = sum_of(errors_of(task.hardware, values, list)), 0
  for _, name in ipairs(task.names) do
    local step = math.log(values[name] / task.lender[name])
    moved = moved + step * step
  end
  return (sum + lender_weight * moved) / #list
end

--- One constant after another, in steps that get smaller.
local function search(task, start, list)
  local values, best = start, objective(task, start, list)
  for _, step in ipairs { 1.6, 1.25, 1.08 } do
    local moved = true
    for _ = 1, 8 do
      if not moved then break end
      moved = false
      for _, name in ipairs(task.names) do
        for _, factor in ipairs { step, 1 / step } do
          local range = bounds[name]
          local value = math.max(range[1], math.min(range[2], values[name] * factor))
          local tried = core.copy(values, { [name] = value })
          local found = value ~= values[name] and objective(task, tried, list) or best
          if found < best - 1e-6 then values, best, moved = tried, found, true end
        end
      end
    end
  end
  return values
end

--- The constants of a kind on which these rows depend, where the lender's are not 0.
local function names_of(hardware, kind, lender, list)
  local out, before = {}, errors_of(hardware, lender, list)
  for _, name in ipairs(kind.constants) do
    local range, value = bounds[name], lender[name]
    local tried = value > 0 and core.copy(lender, { [name] = value * 1.5 <= range[2] and value * 1.5 or value / 1.5 })
    for i, error in ipairs(tried and errors_of(hardware, tried, list) or {}) do
      if math.abs(error - before[i]) > 1e-9 then
        out[#out + 1] = name
        break
      end
    end
  end
  return out
end

--- Numbers of folds of rows: of whole shapes; of rows where there is one shape.
local function folds_of(list)
  local places, count = {}, 0
  for _, row in ipairs(list) do
    if not places[row.shape] then
      places[row.shape], count = count, count + 1
    end
  end
  local out, used = {}, math.min(folds, count > 1 and count or #list)
  for i, row in ipairs(list) do out[i] = (count > 1 and places[row.shape] or i) % used + 1 end
  return out, used, count
end

--- Median of |modelled / measured - 1|, of logarithms.
function fitted.median_error(errors)
  return math.exp(statistics.median(errors)) - 1
end

--- Errors of rows, each by constants that were fitted without its shape.
local function left_out(task)
  local of, used = folds_of(task.list)
  local out = {}
  for fold = 1, used do
    local others, own, places = {}, {}, {}
    for i, row in ipairs(task.list) do
      if of[i] == fold then
        own[#own + 1], places[#places + 1] = row, i
      else
        others[#others + 1] = row
      end
    end
    for i, error in ipairs(errors_of(task.hardware, search(task, task.lender, others), own)) do
      out[places[i]] = error
    end
  end
  return out
end

local function fit_kind(hardware, kind, lender, list, skips_folds)
  local out = { name = kind.name, title = kind.title, rows = #list, constants = {} }
  local _, _, shapes = folds_of(list)
  local before = errors_of(hardware, lender, list)
  out.shapes, out.before = shapes, #list > 0 and fitted.median_error(before) or nil
  if #list < fitted.fewest then return out, lender end
  local task = { hardware = hardware, lender = lender, list = list, names = names_of(hardware, kind, lender, list) }
  local values = search(task, lender, list)
  out.after = fitted.median_error(errors_of(hardware, values, list))
  local apart = not skips_folds and left_out(task) or nil
  out.apart = apart
  out.left_out = apart and fitted.median_error(apart) or nil
  out.is_fitted = not apart or sum_of(apart) < sum_of(before)
  for i, name in ipairs(task.names) do
    local range, value = bounds[name], values[name]
    out.constants[i] = { name = name, before = lender[name], after = value, min = range[1], max = range[2],
      at_bound = value <= range[1] * close or value >= range[2] / close }
  end
  return out, out.is_fitted and values or lender
end

--- @param hardware rooflua.Hardware whose constants are those of the lender
--- @param by_kind table<string, table[]> rows of family/rows.lua
--- @param skips_folds boolean? no shape is left out: the fit is taken as it is
--- @return table {values = every constant, kinds = list of {name, title, rows, shapes, before, after, left_out,
---   is_fitted, constants, apart}}: errors are medians of |modelled / measured - 1|; apart = |ln| of each row left out
function fitted.fit(hardware, by_kind, skips_folds)
  local values, kinds = {}, {}
  for name, value in core.pairs(hardware.constants) do values[name] = value end
  for i, kind in ipairs(family_rows.kinds) do
    kinds[i], values = fit_kind(hardware, kind, values, by_kind[kind.name] or {}, skips_folds)
  end
  return { values = values, kinds = kinds }
end

return fitted
