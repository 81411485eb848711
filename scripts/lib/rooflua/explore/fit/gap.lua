-- Where the difference between a measured run and its simulation lies: per metric the measured value and the
-- predictions before and after a fit, and how much of the difference each part of the system closed.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local units = require "rooflua.text.units"

local gap = {}

--- The part of the system that a parameter describes.
local function part_of(path)
  if path:find "^frontend%." then return "front-end" end
  if path:find "host_" then return "host" end
  if path:find "^scheduler" or path:find "^router" then return "scheduling" end
  return "GPU"
end

local order = { "front-end", "host", "GPU", "scheduling" }

--- Parameters by part, in a fixed order: {{name, paths}}.
local function parts_of(paths)
  local out = {}
  for _, name in ipairs(order) do
    local own = {}
    for _, path in ipairs(paths) do
      if part_of(path) == name then own[#own + 1] = path end
    end
    if #own > 0 then out[#out + 1] = { name = name, paths = own } end
  end
  return out
end

--- {figures = {{run, metric, measured, before, after}}, parts = {{part, change = {metric = s}}}}. The parts take their
--- fitted values one after another, so that their changes and what is left add up to the difference before the fit.
---@param predict fun(values: table, observation: table): number
---@param wholes table[] an observation of each metric of each whole run
---@param before table values by path
---@param after table values by path
function gap.of(predict, wholes, before, after)
  local paths = core.sorted_keys(after)
  local figures, values = json.array {}, {}
  for i, each in ipairs(wholes) do
    figures[i] = { run = each.name, metric = each.metric, measured = each.value, before = predict(before, each) }
  end
  for path, value in pairs(before) do values[path] = value end
  local last, parts = {}, json.array {}
  for i, figure in ipairs(figures) do last[i] = figure.before end
  for _, part in ipairs(parts_of(paths)) do
    local now, change = {}, json.array {}
    for path, value in pairs(values) do now[path] = value end
    for _, path in ipairs(part.paths) do now[path] = after[path] end
    for i, each in ipairs(wholes) do
      local predicted = predict(now, each)
      change[i], last[i] = predicted - last[i], predicted
    end
    parts[#parts + 1], values = { part = part.name, change = change }, now
  end
  for i, figure in ipairs(figures) do figure.after = last[i] end
  return { figures = figures, parts = parts }
end

local function off(value, measured) return units.in_percent((value - measured) / measured, true) .. " %" end

local function time(value) return (value < 0 and "-" or "") .. units.text(math.abs(value), "s") end

--- Where what the fit left over can only be: TPOT has no front-end in it.
local function left_over(figures)
  for _, figure in ipairs(figures) do
    if figure.metric == "tpot_s_mean" and math.abs(figure.after / figure.measured - 1) > 0.05 then
      return ("TPOT is still off by %s: the front-end is no part of it. Where host parameters have no effect it is the "
        .. "GPU's time; fit a correction or mfu.model.* as well (--params)\n"):format(off(figure.after,
        figure.measured))
    end
  end
  return ""
end

--- The figures as a table, and the difference divided by parts.
function gap.text(found)
  local rows = { { "run", "metric", "measured", "before", "", "after", "" } }
  local shares = { { "metric", "measured - before" } }
  for _, part in ipairs(found.parts) do table.insert(shares[1], part.part) end
  table.insert(shares[1], "not explained")
  for i, figure in ipairs(found.figures) do
    rows[#rows + 1] = { figure.run, figure.metric, time(figure.measured), time(figure.before),
      off(figure.before, figure.measured), time(figure.after), off(figure.after, figure.measured) }
    local row = { figure.metric, time(figure.measured - figure.before) }
    for _, part in ipairs(found.parts) do row[#row + 1] = time(part.change[i]) end
    row[#row + 1] = time(figure.measured - figure.after)
    shares[#shares + 1] = row
  end
  return columns.text(rows) .. "\n\nwhere the difference is, by the fitted parameters\n" .. columns.text(shares) .. "\n"
    .. left_over(found.figures)
end

return gap
