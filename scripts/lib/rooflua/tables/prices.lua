-- Prices of GPUs per hour, from bench_data/prices.toml: examples with a source and a date each, which a person's own
-- prices replace. Also short names of GPUs for reports.
local native = require "rooflua.native"
local statistics = require "rooflua.base.statistics"

local prices = {}

local by_name

local function read()
  if by_name then return by_name end
  by_name = {}
  local path = native.home .. "/bench_data/prices.toml"
  if not native.file_exists(path) then return by_name end
  for name, rows in pairs(native.read_toml(path).gpu or {}) do by_name[name] = rows end
  return by_name
end

--- {low, typical, high, date, sources} of a GPU in dollars per hour: the lowest, the median and the highest quote, and
--- the date of the newest. nil where there is none.
function prices.of(name)
  local rows = read()[name]
  if not rows then return nil end
  local values, date, sources = {}, "", {}
  for i, row in ipairs(rows) do
    values[#values + 1] = row.low or row.price
    if row.high then values[#values + 1] = row.high end
    date = row.date > date and row.date or date
    sources[i] = ("%s, %s"):format(row.source, row.date)
  end
  table.sort(values)
  return { low = values[1], typical = statistics.median(values), high = values[#values], date = date,
    sources = sources }
end

--- "H100" of "h100-sxm": the name without the way it is mounted, where that is the usual one.
function prices.label(name)
  return (name:upper():gsub("%-SXM$", ""):gsub("%-SXM%-", "-"))
end

return prices
