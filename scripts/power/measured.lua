--- Watts by what the GPU does, from loads that were measured on it (power.csv, spec.power):
---
---     watts = min(limit, idle + running busy_frac + arithmetic mfu + memory bandwidth_frac)
---
--- Each share is of the whole time. `idle` is the row without a load. The other three are fitted, by least squares of
--- relative errors, to the rows below the limit (tdp_w): at the limit clocks fall, and watts say nothing of the load.
--- None is negative. Watts are a sum, so the mean of a run follows from the mean shares of the run, as long as its
--- moments stay below the limit; where some would exceed it, the figure is too high.
local facility = require "rooflua.plan.facility"
local policy = require "rooflua.policy"
local spec = require "rooflua.spec"

---@class power.Measured
---@field facility_factor number
local Measured = policy.define {
  name = "measured",
  doc = "Watts by busy share, MFU and share of bandwidth, fitted to loads that were measured on this GPU.",
  source = "docs/DATA.md, \"Power, and what it does to clocks\"",
  params = {
    facility_factor = facility.factor,
  },
}

--- Runs are sampled for their MFU and their share of bandwidth.
Measured.reads_work = true

local shares = { "busy_frac", "mfu", "bandwidth_frac" }
local at_limit = 0.97 -- of the limit: rows above it do not tell what their load would draw

--- Solves the square system of `rows`, each with its right side behind it; nil if it has no single solution.
local function solved(rows)
  local n = #rows
  for i = 1, n do
    local best = i
    for k = i + 1, n do if math.abs(rows[k][i]) > math.abs(rows[best][i]) then best = k end end
    rows[i], rows[best] = rows[best], rows[i]
    if math.abs(rows[i][i]) < 1e-12 then return nil end
    for k = 1, n do
      local factor = k ~= i and rows[k][i] / rows[i][i] or 0
      for j = i, n + 1 do rows[k][j] = rows[k][j] - factor * rows[i][j] end
    end
  end
  local out = {}
  for i = 1, n do out[i] = rows[i][n + 1] / rows[i][i] end
  return out
end

--- Watts for each of `names`, fitted to rows; nil where the rows do not tell them apart.
local function fitted(rows, names, idle_w)
  local system = {}
  for i, name in ipairs(names) do
    system[i] = {}
    for j = 1, #names + 1 do
      local sum = 0
      for _, row in ipairs(rows) do
        sum = sum + row[name] * (names[j] and row[names[j]] or row.watts - idle_w) / row.watts ^ 2
      end
      system[i][j] = sum
    end
  end
  return solved(system)
end

--- The fit without the most negative share, until none is negative.
local function not_negative(rows, names, idle_w)
  local found = fitted(rows, names, idle_w)
  local least
  for i, watts in ipairs(found or {}) do if watts < 0 and (not least or watts < found[least]) then least = i end end
  if least then
    local fewer = { unpack(names) }
    table.remove(fewer, least)
    return not_negative(rows, fewer, idle_w)
  end
  if not found then return nil end
  local out = {}
  for i, name in ipairs(names) do out[name] = found[i] end
  return out
end

--- {idle_w, busy_frac, mfu, bandwidth_frac}: watts of the idle GPU and for each share; false where none were measured.
local function curve_of(hardware)
  local rows = spec.power(hardware)
  if not rows then return false end
  local idle_w, below = nil, {}
  for _, row in ipairs(rows) do
    if row.load == "idle" then
      idle_w = row.watts
    elseif row.watts > 0 and not (hardware.tdp_w > 0 and row.watts > at_limit * hardware.tdp_w) then
      below[#below + 1] = row
    end
  end
  local slopes = idle_w and not_negative(below, shares, idle_w)
  if not slopes then
    error(("power/measured: power.csv of %s: expected a row `idle` and three loads or more below %g W that differ in "
      .. "busy share, flop/s and bytes/s, found %d"):format(hardware.name, at_limit * hardware.tdp_w, #below), 0)
  end
  slopes.idle_w = idle_w
  return slopes
end

function Measured:curve(hardware)
  self.curves = self.curves or {}
  local known = self.curves[hardware.source]
  if known == nil then
    known = curve_of(hardware)
    self.curves[hardware.source] = known
  end
  return known
end

--- Refuses a GPU that was not measured.
function Measured:check(hardware)
  if self:curve(hardware) then return end
  local measured = {}
  for _, name in ipairs(spec.gpus()) do if spec.power(name) then measured[#measured + 1] = name end end
  error(("power/measured: no watts were measured on %s (measured: %s); say --power linear or tdp, or give its watts "
    .. "with --watts %s=WATTS"):format(hardware.name, table.concat(measured, ", "), hardware.name), 0)
end

--- @param busy_frac number? share of the run in which steps ran; nothing: all of it
--- @param work {mfu: number, bandwidth_frac: number}? means of the whole run; nothing: any, so that the limit is drawn
--- @return number? watts of one GPU; nil of an idle one that was not measured
--- @return string bound what reports put in front
function Measured:watts(hardware, busy_frac, work)
  busy_frac = math.min(1, busy_frac or 1)
  local curve = self:curve(hardware)
  if not curve then
    if busy_frac == 0 then return nil, "at most" end
    self:check(hardware)
  end
  local limit_w = hardware.tdp_w > 0 and hardware.tdp_w or math.huge
  if not work and busy_frac > 0 then
    return self.facility_factor * (curve.idle_w + (limit_w - curve.idle_w) * busy_frac), "at most"
  end
  local watts = curve.idle_w + (curve.busy_frac or 0) * busy_frac
  if work then
    watts = watts + (curve.mfu or 0) * work.mfu + (curve.bandwidth_frac or 0) * work.bandwidth_frac
  end
  return self.facility_factor * math.min(limit_w, watts), "about"
end

return Measured
