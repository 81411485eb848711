-- Watts of a GPU as a curve of what it does, fitted to rows that were measured:
--
--     demand = running busy_frac + arithmetic mfu + memory bandwidth_frac
--     watts  = idle + (limit - idle) part S(demand / part),   S(u) = u / (1 + u^knee)^(1/knee)
--
-- S rises like u and ends at 1, which is the limit. The coefficients are multiples of (limit - idle). None is negative,
-- so that more work never draws less. Rows of steady loads have a sharp limit, S(u) = min(1, u), and part = 1: loads
-- that run for a part of the time were measured. Cells of published kernels run all the time, part = busy_frac: a run
-- that pauses draws in proportion. The knee of cells is rounded: a cell has kernels below the limit and at it.
-- @source the fit, its errors on kinds that it did not see, and the choice of the knee: docs/records/fitted.md, "Power"
local quantiles = require "rooflua.quantiles"

local curve = {}

local names = { "busy_frac", "mfu", "bandwidth_frac" }
local cell_knee = 4
-- Shares of a cell's readings that its percentiles stand for: each those nearer to it than to its neighbours.
local percentile_share = { watts_p25 = 0.375, watts_p50 = 0.25, watts = 0.2, watts_p90 = 0.175 }
local low_share, high_share = 0.25, 0.9 -- of all readings, beside the curve
local fewest_rows = 3
local at_limit = 0.97 -- of the limit: clocks fall, and a steady load above it does not tell what it would draw
local starts = { { 0.3, 1, 0.3 }, { 0.05, 3, 1 } }
local finest_step = 1e-3

local function saturated(demand, knee)
  if not knee then return math.min(1, demand) end
  return demand / (1 + demand ^ knee) ^ (1 / knee)
end

--- The part of (limit - idle) that a load draws.
local function part_of(coefficients, knee, row)
  local part = knee and row.busy_frac or 1
  if part == 0 then return 0 end
  local demand = 0
  for i, name in ipairs(names) do demand = demand + coefficients[i] * row[name] end
  return part * saturated(demand / part, knee)
end

--- The mean error, relative to what was measured.
local function error_of(coefficients, given)
  local sum = 0
  for _, row in ipairs(given.loads) do
    local watts = given.idle_w + given.headroom_w * part_of(coefficients, given.knee, row)
    sum = sum + math.abs(watts / row.watts - 1)
  end
  return sum / #given.loads
end

-- Which coefficients a move makes larger (1) or smaller (-1).
local moves = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 }, { 1, -1, 0 },
  { 1, 0, -1 }, { -1, 1, 0 }, { 0, 1, -1 }, { -1, 0, 1 }, { 0, -1, 1 } }
local nudge = 1e-4 -- so that a coefficient leaves 0 and reaches it

--- Takes every move that makes the error smaller, with ever smaller steps.
local function descended(start, given)
  local best, error_, step = start, error_of(start, given), 1
  while step > finest_step do
    local is_better = false
    for _, move in ipairs(moves) do
      local next_ = {}
      for i, sign in ipairs(move) do next_[i] = math.max(0, best[i] * (1 + step) ^ sign + sign * nudge) end
      local own = error_of(next_, given)
      if own < error_ - 1e-12 then best, error_, is_better = next_, own, true end
    end
    if not is_better then step = step / 2 end
  end
  return best, error_
end

--- Readings over the curve: {low, high}. Of cells the p25 and the p90 of all readings, of steady loads the extremes.
local function spread_of(found, loads)
  local values = {}
  for _, row in ipairs(loads) do
    local watts = curve.watts(found, row)
    if row.watts_p25 then
      for name, share in pairs(percentile_share) do values[#values + 1] = { row[name] / watts, share } end
    else
      values[#values + 1] = { row.watts / watts, 1 }
    end
  end
  local is_cells = found.knee ~= nil
  return math.min(1, quantiles.weighted(values, is_cells and low_share or 0)),
    math.max(1, quantiles.weighted(values, is_cells and high_share or 1))
end

--- The curve of a GPU; nil and why where the rows do not give one.
---@param rows table[] of rooflua.border.power
---@param limit_w number
function curve.fit(rows, limit_w)
  local given, all, differ, count = { loads = {} }, {}, {}, 0
  local idle_w, idle_rows = 0, 0
  for _, row in ipairs(rows) do
    local key = ("%.3g %.3g %.3g"):format(row.busy_frac, row.mfu, row.bandwidth_frac)
    if row.load == "idle" then
      idle_w, idle_rows = idle_w + row.watts, idle_rows + 1
    elseif row.watts > 0 then
      all[#all + 1] = row
      local is_below = row.watts <= at_limit * limit_w
      if row.watts_p25 or is_below then given.loads[#given.loads + 1] = row end
      given.knee = row.watts_p25 and cell_knee or given.knee
      if is_below and not differ[key] then differ[key], count = true, count + 1 end
    end
  end
  given.idle_w = idle_w / idle_rows
  if idle_rows == 0 or count < fewest_rows then
    return nil, ("expected a row `idle` and three loads or more below %g W that differ in busy share, flop/s and "
      .. "bytes/s, found %d"):format(at_limit * limit_w, count)
  end
  given.headroom_w = limit_w - given.idle_w
  local best, least
  for _, start in ipairs(starts) do
    local found, error_ = descended(start, given)
    if not least or error_ < least then best, least = found, error_ end
  end
  local out = { idle_w = given.idle_w, limit_w = limit_w, coefficients = best, knee = given.knee, error = least }
  out.low, out.high = spread_of(out, all)
  return out
end

--- The curve of another GPU of its family with this limit: every figure is a share of the limit.
---@param unknown_frac number by how much further the interval is, on either side
function curve.scaled(of, limit_w, unknown_frac)
  return { idle_w = of.idle_w / of.limit_w * limit_w, limit_w = limit_w, coefficients = of.coefficients,
    knee = of.knee, low = of.low * (1 - unknown_frac), high = of.high * (1 + unknown_frac),
    unknown_frac = unknown_frac }
end

--- Watts of a load.
---@param row {busy_frac: number, mfu: number, bandwidth_frac: number}
---@return number watts
---@return number low at least the idle GPU's
---@return number high at most the limit
function curve.watts(of, row)
  local watts = of.idle_w + (of.limit_w - of.idle_w) * part_of(of.coefficients, of.knee, row)
  local unknown_w = (of.unknown_frac or 0) * of.idle_w
  if row.busy_frac == 0 then return watts, watts - unknown_w, watts + unknown_w end
  return watts, math.max(math.min(watts, of.idle_w - unknown_w), watts * (of.low or 1)),
    math.min(of.limit_w, watts * (of.high or 1))
end

return curve
