-- Watts that were measured on a GPU: power.csv beside its hardware.toml, which the program scripts/collect/power.py
-- writes, or power_by_load.csv, which was made of published readings. docs/DATA.md describes both.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local units = require "rooflua.text.units"

local rows = {}
local fail = core.fail

--- The share of a peak that a load reached in the whole time, of which it ran a part; 0 where nothing was counted.
local function reached(per_s, unit, peak, busy_frac)
  return peak and peak > 0 and per_s * unit / peak * busy_frac or 0
end

local function check_numbers(where, row, names)
  for _, name in ipairs(names) do
    if type(row[name]) ~= "number" or not (row[name] >= 0 and row[name] < 1e6) then
      fail("%s: %s: expected a number, not negative, found %s", where, name, core.describe(row[name]))
    end
  end
end

--- Loads that ran steadily: of each one reading.
local function of_loads(path, hardware)
  local out = {}
  for i, row in ipairs((native.csv_read(path, true, { "op", "dtype", "shape" }))) do
    local where = ("%s:%d"):format(path, row.line)
    check_numbers(where, row, { "busy", "watts", "tflop_per_s", "gb_per_s" })
    local idle = row.op == "idle"
    local peak = hardware.peak_flop_per_s[row.dtype ~= "" and row.dtype or "bf16"]
    if row.tflop_per_s > 0 and not peak then fail("%s: %s has no peak of %s", where, hardware.name, row.dtype) end
    if row.busy > 1 then fail("%s: busy: expected a share of the time, found %g", where, row.busy) end
    local busy_frac = idle and 0 or row.busy
    out[i] = { load = idle and "idle" or ("%s %s %s"):format(row.op, row.dtype, row.shape), op = row.op,
      dtype = row.dtype, busy_frac = busy_frac, mfu = reached(row.tflop_per_s, 1e12, peak, busy_frac),
      bandwidth_frac = reached(row.gb_per_s, 1e9, hardware.memory_bytes_per_s, busy_frac), watts = row.watts }
  end
  return out, "steady loads that were measured (scripts/collect/power.py), from the lowest to the highest beside the "
    .. "curve"
end

local percentiles = { "watts_p25", "watts_p50", "watts_p75", "watts_p90" }

--- Cells of published kernels that reach about the same shares: of each the percentiles of its readings.
local function of_cells(path, described)
  local out, count = {}, 0
  for i, row in ipairs((native.csv_read(path, true, { "op", "dtype", "engine" }))) do
    local where = ("%s:%d"):format(path, row.line)
    check_numbers(where, row, { "mfu", "bandwidth_frac", "rows", unpack(percentiles) })
    for k = 2, #percentiles do
      if row[percentiles[k]] < row[percentiles[k - 1]] then fail("%s: %s: below %s", where, percentiles[k],
        percentiles[k - 1]) end
    end
    for _, name in ipairs { "mfu", "bandwidth_frac" } do
      if row[name] > 1 then fail("%s: %s: expected a share, found %g", where, name, row[name]) end
    end
    local idle = row.op == "idle"
    out[i] = { load = idle and "idle" or ("%s %s %s"):format(row.op, row.dtype, row.engine), op = row.op,
      dtype = row.dtype, engine = row.engine, busy_frac = idle and 0 or 1, mfu = row.mfu,
      bandwidth_frac = row.bandwidth_frac, watts = row.watts_p75, watts_p25 = row.watts_p25,
      watts_p50 = row.watts_p50, watts_p90 = row.watts_p90, readings = row.rows }
    count = count + (idle and 0 or row.rows)
  end
  local entry = native.file_exists(described) and native.read_toml(described).power_by_load
  return out, ("%s readings of published kernels (%s), from their p25 to their p90 beside the curve"):format(
    units.grouped(count), entry and ("%s, %s %s"):format(entry.library, entry.project, entry.commit)
    or "tables.toml does not say whose")
end

--- The rows of a GPU, and what they are in words; nil where nothing was measured, and of a GPU that is given as a
--- table.
---@return {load: string, busy_frac: number, mfu: number, bandwidth_frac: number, watts: number}[]?
---@return string? about
function rows.of(hardware)
  local folder = hardware.source:match "^(.*)/[^/]*%.toml$"
  if not folder then return nil end
  if native.file_exists(folder .. "/power.csv") then return of_loads(folder .. "/power.csv", hardware) end
  local cells = folder .. "/power_by_load.csv"
  if native.file_exists(cells) then return of_cells(cells, folder .. "/tables.toml") end
end

return rows
