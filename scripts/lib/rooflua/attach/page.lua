-- The page of `attach --html`: the answer in words, and what was seen over time beside what is simulated.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local over_time = require "rooflua.attach.over_time"
local stamps = require "rooflua.ranges.stamps"
local words = require "rooflua.plan.words"

local page = {}
local array = json.array

--- The unit of time of the axis: its name, and its seconds.
local function clock_of(seconds)
  if seconds < 600 then return "s", 1 end
  if seconds < 4 * 3600 then return "min", 60 end
  return "h", 3600
end

--- The unit of a chart of values up to `largest`, and what a value is multiplied with.
local function unit_of(unit, largest)
  if unit == "1" then return "%", 100 end
  if unit == "s" and largest < 1 then return "ms", 1000 end
  return unit, 1
end

--- A chart of a series, of each of the sides {name, values} that has it; nil where nothing was seen of it.
local function chart_of(about, sides, ends)
  local name, largest, is_seen = about[1], 0, false
  for _, side in ipairs(sides) do
    for _, value in ipairs(side.values[name] or {}) do
      if value ~= json.null then largest = math.max(largest, value) end
    end
    is_seen = is_seen or side.is_seen and side.values[name] ~= nil
  end
  if not is_seen or largest == 0 and name == "hit_frac" then return nil end
  local time_unit, time_scale = clock_of(ends[#ends])
  local unit, scale = unit_of(about[3], largest)
  local list = array {}
  for _, side in ipairs(sides) do
    local points, begin_s = array {}, 0
    for i, value in ipairs(side.values[name] or {}) do
      if value ~= json.null then
        points[#points + 1] = { x = (begin_s + ends[i]) / 2 / time_scale, y = value * scale }
      end
      begin_s = ends[i]
    end
    if #points > 0 then list[#list + 1] = { name = side.name, points = points } end
  end
  return { title = about[2], kind = "line", x = { label = "time", unit = time_unit },
    y = { label = about[2], unit = unit }, series = list }
end

local function time_section(document, sides)
  local seen, charts = document.seen.over_time, array {}
  for _, about in ipairs(over_time.shown) do charts[#charts + 1] = chart_of(about, sides, seen.ends_s) end
  local lines = array { "Each point is an interval. Running requests, the queue and KV use are means of the samples in "
    .. "it, or of the simulated time. E2E and TPOT are of requests that ended in it, TTFT of those that had their "
    .. "first token in it. Quantiles lie between the bounds of buckets, also those of simulations." }
  if seen.start_s > 1e8 then
    table.insert(lines, 1, ("%s to %s UTC."):format(stamps.text(seen.start_s),
      stamps.text(seen.start_s + seen.ends_s[#seen.ends_s])))
  end
  return { heading = "Believed and seen over time", paragraphs = lines, charts = charts }
end

local function figures_section(document)
  local head = array { "figure", "believed", "seen", document.calibrated and "calibrated" or nil, "90 % interval" }
  local rows = array { head }
  for _, each in ipairs(document.figures) do
    local row = array { each.title, words.value(each.metric, each.believed), words.value(each.metric, each.seen),
      each.calibrated and words.value(each.metric, each.calibrated) or nil,
      ("%s to %s"):format(words.value(each.metric, each.low), words.value(each.metric, each.high)) }
    rows[#rows + 1] = row
  end
  return { heading = "Figures", tables = array { rows } }
end

--- {title, lead, sections} as measure/html/sections.h takes it.
---@param document table of attach/command.lua
---@param text string its report
function page.of(document, text)
  local sections = array {}
  local seen = document.seen.over_time
  if seen then
    local sides = { { name = "seen", values = seen, is_seen = true },
      { name = "believed", values = document.believed.over_time } }
    if document.calibrated and document.calibrated.over_time then
      sides[3] = { name = "calibrated", values = document.calibrated.over_time }
    end
    sections[#sections + 1] = time_section(document, sides)
  end
  if #document.figures > 0 then sections[#sections + 1] = figures_section(document) end
  sections[#sections + 1] = { heading = "The answer", text = text }
  return { title = document.scenario.title, lead = "The load: " .. document.load .. ".",
    sections = array(core.copy(sections)) }
end

return page
