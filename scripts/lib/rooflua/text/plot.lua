--- Charts as Unicode text: a canvas of braille dots, two by four per character, with axes.
local core = require "rooflua.base.core"
local statistics = require "rooflua.base.statistics"
local units = require "rooflua.text.units"

local plot = {}
local floor, max, min, log10 = math.floor, math.max, math.min, math.log10

local dots = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } } -- by column, then row from the top

--- U+2800 + pattern, as UTF-8.
local function braille(pattern)
  return string.char(0xE2, 0xA0 + floor(pattern / 64), 0x80 + pattern % 64)
end

local function canvas(columns, rows)
  local cells = {}
  local self = { columns = columns * 2, rows = rows * 4 }
  --- Sets a dot; x counts from the left, y from the bottom, both from 0.
  function self.set(x, y)
    if x < 0 or y < 0 or x >= self.columns or y >= self.rows then return end
    local down = self.rows - 1 - y
    local cell = floor(down / 4) * columns + floor(x / 2)
    cells[cell] = bit.bor(cells[cell] or 0, dots[x % 2 + 1][down % 4 + 1])
  end
  --- @param dash table {on, off, done}: dots that are set, dots that are not, how many the line has so far
  function self.line(x0, y0, x1, y1, dash)
    local steps = max(math.abs(x1 - x0), math.abs(y1 - y0), 1)
    for i = dash.done > 0 and 1 or 0, steps do
      if dash.done % (dash.on + dash.off) < dash.on then
        self.set(floor(x0 + (x1 - x0) * i / steps + 0.5), floor(y0 + (y1 - y0) * i / steps + 0.5))
      end
      if x0 ~= x1 or y0 ~= y1 then dash.done = dash.done + 1 end
    end
  end
  function self.row(index)
    local out = {}
    for column = 0, columns - 1 do
      local pattern = cells[(index - 1) * columns + column]
      out[column + 1] = pattern and braille(pattern) or " "
    end
    return core.join(out)
  end
  return self
end

--- Whether an axis can show a value.
local function placeable(value, logarithmic)
  return value - value == 0 and (not logarithmic or value > 0)
end

--- A function from values to dots, 0 to size - 1.
local function scale(low, high, size, logarithmic)
  local place = logarithmic and log10 or function(value) return value end
  low, high = place(low), place(high)
  if high <= low then high = low + (low == 0 and 1 or math.abs(low)) end
  return function(value) return floor((place(value) - low) / (high - low) * (size - 1) + 0.5) end
end

--- Lowest and highest values that can be shown, and the number of points that cannot.
local function extent(chart)
  local x_low, x_high, y_low, y_high, left_out = math.huge, -math.huge, math.huge, -math.huge, 0
  for _, each in ipairs(chart.series) do
    for i, x in ipairs(each.x) do
      local y = each.y[i]
      if placeable(x, chart.x_log) and placeable(y, chart.y_log) then
        x_low, x_high, y_low, y_high = min(x_low, x), max(x_high, x), min(y_low, y), max(y_high, y)
      else
        left_out = left_out + 1
      end
    end
  end
  if chart.y_zero and not chart.y_log then y_low = min(y_low, 0) end
  if chart.y_top then y_high = max(y_high, chart.y_top) end
  return { x_low = x_low, x_high = x_high, y_low = y_low, y_high = y_high, left_out = left_out }
end

--- Lines differ by their dashes, because not every terminal has colours: dots that are set, dots that are not.
local dashes = { { 1, 0 }, { 6, 4 }, { 1, 3 }, { 10, 3 }, { 2, 2 }, { 4, 6 }, { 1, 6 }, { 12, 8 } }

--- The dashes of the line of that number, at its beginning: {on, off, done}.
local function dash_of(number)
  local dash = dashes[(number - 1) % #dashes + 1]
  return { on = dash[1], off = dash[2], done = 0 }
end

--- Draws one series; its line is interrupted at a point that cannot be shown.
local function draw(area, each, chart, at_x, at_y, dash)
  local last_x, last_y
  for i, value in ipairs(each.x) do
    if not (placeable(value, chart.x_log) and placeable(each.y[i], chart.y_log)) then
      last_x = nil
    else
      local x, y = at_x(value), at_y(each.y[i])
      if each.points then
        for dx = 0, 1 do
          for dy = 0, 1 do area.set(x + dx, y + dy) end
        end
      elseif each.steps and last_x then
        area.line(last_x, last_y, x, last_y, dash)
        area.line(x, last_y, x, y, dash)
      elseif last_x then
        area.line(last_x, last_y, x, y, dash)
      else
        area.set(x, y)
      end
      last_x, last_y = x, y
    end
  end
end

local function left_out_text(count)
  return count > 0 and ("%d %s left out"):format(count, count == 1 and "point" or "points") or nil
end

--- The title line, as wide as the chart: the title at the left, the note at the right.
local function heading(chart, width, left_out)
  local left, right, text = chart.title or "", chart.note or "", left_out_text(left_out)
  if text then right = right == "" and text or right .. "; " .. text end
  local space = width - units.width(left) - units.width(right)
  return right == "" and left or left .. (" "):rep(max(space, 2)) .. right
end

--- The line below the x axis: both ends, and the name of the axis between them.
local function footing(chart, seen, columns)
  local left, right = units.text(seen.x_low, chart.x_unit), units.text(seen.x_high, chart.x_unit)
  local middle = chart.x_name or ""
  local space = columns - units.width(left) - units.width(right) - units.width(middle)
  local before = max(floor(space / 2), 1)
  return left .. (" "):rep(before) .. middle .. (" "):rep(max(space - before, 1)) .. right
end

--- A line per series with a name: how it is drawn, its name, and its note. None where no series has a name.
local function legend(chart, margin)
  local lines, longest = {}, 0
  for _, each in ipairs(chart.series) do longest = max(longest, units.width(each.name or "")) end
  if longest == 0 then return lines end
  for number, each in ipairs(chart.series) do
    local sample = canvas(6, 1)
    if each.points then
      draw(sample, { x = { 5 }, y = { 1 }, points = true }, {}, function(x) return x end, function(y) return y end)
    else
      sample.line(0, 1, 11, 1, dash_of(number))
    end
    lines[#lines + 1] = ((" "):rep(margin + 2) .. units.padded(sample.row(1), 6) .. " "
      .. units.padded(each.name or "", longest) .. (each.note and "  " .. each.note or "")):gsub("%s+$", "")
  end
  return lines
end

--- Lines, points or steps with axes. chart: series = {{x, y, name, note, points, steps}}, title, note, width, height,
--- x_unit, y_unit, x_log, y_log, y_zero (the axis begins at 0). Points that cannot be shown (0 on a logarithmic
--- axis, values that are not finite) are left out and counted.
function plot.chart(chart)
  local seen = extent(chart)
  if seen.x_low > seen.x_high then
    return ("%s  (%s)"):format(chart.title or "", left_out_text(seen.left_out) or "nothing to show yet")
  end
  local top, bottom = units.text(seen.y_high, chart.y_unit), units.text(seen.y_low, chart.y_unit)
  local margin = max(units.width(top), units.width(bottom))
  local columns, rows = max((chart.width or 80) - margin - 2, 10), chart.height or 10
  local area = canvas(columns, rows)
  local at_x = scale(seen.x_low, seen.x_high, area.columns, chart.x_log)
  local at_y = scale(seen.y_low, seen.y_high, area.rows, chart.y_log)
  for number, each in ipairs(chart.series) do draw(area, each, chart, at_x, at_y, dash_of(number)) end
  local lines = { heading(chart, margin + 2 + columns, seen.left_out) }
  for row = 1, rows do
    local label = row == 1 and top or row == rows and bottom or ""
    lines[row + 1] = (units.padded(label, margin, true) .. " │" .. area.row(row)):gsub("%s+$", "")
  end
  lines[#lines + 1] = (" "):rep(margin) .. " └" .. ("─"):rep(columns)
  lines[#lines + 1] = (" "):rep(margin + 2) .. footing(chart, seen, columns)
  for _, line in ipairs(legend(chart, margin)) do lines[#lines + 1] = line end
  return core.join(lines, "\n")
end

-- Charts of a simulation ---------------------------------------------------------------------------------

--- Queue, batch and KV cache over time.
---@param name string of the simulation; "" where there is only one
---@param steps table[] as live:steps() returns them
function plot.overview(name, steps, options)
  local charts = {}
  local function panel(title, field, more)
    local x, y, largest, sum_s, total_s = {}, {}, 0, 0, 0
    for i, step in ipairs(steps) do
      x[i], y[i] = step.end_s, step[field]
      largest = max(largest, y[i])
      sum_s, total_s = sum_s + y[i] * (step.end_s - step.start_s), total_s + step.end_s - step.start_s
    end
    local unit = units.of(field)
    local note = #steps > 0 and ("mean %s, most %s"):format(
      unit and units.text(sum_s / total_s, unit) or units.significant(sum_s / total_s, 4),
      units.text(largest, unit)) or ""
    local chart = { title = title, note = note, series = { { x = x, y = y, steps = true } }, y_zero = true,
      y_unit = unit, x_unit = "s", width = options.width, height = options.height or 4 }
    for key, value in pairs(more or {}) do chart[key] = value end
    charts[#charts + 1] = plot.chart(chart)
  end
  local of = name == "" and "" or name .. ": "
  panel(of .. "waiting requests", "waiting")
  panel(of .. "requests in a step", "requests")
  panel(of .. "KV cache in use", "kv_used_frac", { y_top = options.full and 1 or nil })
  return core.join(charts, "\n")
end

--- The quantile curve of a metric: the share of requests below each value.
---@param list table[] {name, values}
function plot.quantiles(metric, list, options)
  local series, notes, logarithmic = {}, {}, true
  for _, each in ipairs(list) do
    table.sort(each.values)
    local x, y, count = {}, {}, #each.values
    for i, value in ipairs(each.values) do
      x[i], y[i] = value, count == 1 and 1 or (i - 1) / (count - 1)
      if value <= 0 then logarithmic = false end
    end
    local note = count == 0 and "no request ended yet" or ("p50 %s, p99 %s"):format(
      units.text(statistics.of_sorted(each.values, 0.5), "s"), units.text(statistics.of_sorted(each.values, 0.99), "s"))
    series[#series + 1] = { x = x, y = y, name = #list > 1 and each.name or nil, note = note }
    if #list == 1 and count > 0 then notes[1] = note end
  end
  return plot.chart { title = metric .. ", share of requests below", note = core.join(notes, "; "), series = series,
    x_unit = units.of(metric), y_unit = "share", x_log = logarithmic, y_zero = true, width = options.width,
    height = options.height }
end

--- Operations below the roofline of their GPU: flop/s over flop per byte, both logarithmic.
---@param rows table[] of an explained step: flop, bytes, time_s, count
function plot.roofline(rows, peak_flop_per_s, bytes_per_s, options)
  local x, y, named = {}, {}, {}
  for _, row in ipairs(rows) do
    if row.flop > 0 and row.bytes > 0 and row.time_s > 0 then
      x[#x + 1], y[#y + 1] = row.flop / row.bytes, row.flop / row.time_s
      named[#named + 1] = { row.name, units.significant(x[#x], 4) .. " flop/B", units.text(y[#y], "flop/s"),
        units.text(y[#y] / min(peak_flop_per_s, x[#x] * bytes_per_s), "share") }
    end
  end
  local ridge = peak_flop_per_s / bytes_per_s
  local low, high = ridge / 100, ridge * 10
  for _, value in ipairs(x) do low, high = min(low, value / 2), max(high, value * 2) end
  local roof = { x = { low, ridge, high }, y = { low * bytes_per_s, peak_flop_per_s, peak_flop_per_s }, name = "roof" }
  table.insert(named, 1, { "op", "intensity", "rate", "of the roof" })
  return plot.chart { title = "roofline", series = { roof, { x = x, y = y, points = true, name = "operations" } },
    x_log = true, y_log = true,
    note = ("%s, %s, ridge at %s flop/B"):format(units.text(peak_flop_per_s, "flop/s"),
      units.text(bytes_per_s, "B/s"), units.significant(ridge, 4)),
    y_unit = "flop/s", x_unit = "flop/B", width = options.width, height = options.height }
    .. "\n\n" .. require("rooflua.text.columns").text(named, "  ")
end

return plot
