-- The page of `rooflua upgrade`, as a description that the program draws (engine/measure/html/sections.h).
local json = require "rooflua.json"
local text = require "rooflua.upgrade.text"

local page = {}

local gib = 2 ^ 30

--- Rows as a table of a page: cells without the indent of the terminal.
local function table_of(rows)
  local out = json.array {}
  for i, row in ipairs(rows) do
    local cells = json.array {}
    for j, cell in ipairs(row) do cells[j] = cell:gsub("^ +", "") end
    out[i] = cells
  end
  return out
end

--- Parts of the memory of both sides as bars.
local function memory_chart(answer)
  local segments, place, bars = json.array {}, {}, json.array {}
  for _, side in ipairs { "before", "after" } do
    for _, each in ipairs(answer.capacity[side].parts) do
      if each.bytes > 0 and not place[each.name] then
        segments[#segments + 1] = each.name
        place[each.name] = #segments
      end
    end
  end
  segments[#segments + 1] = "KV cache"
  for i, side in ipairs { "before", "after" } do
    local found, values, total = answer.capacity[side], json.array {}, 0
    for j = 1, #segments do values[j] = 0 end
    for _, each in ipairs(found.parts) do
      if place[each.name] then values[place[each.name]] = each.bytes / gib end
    end
    values[#segments] = math.max(0, found.kv_bytes) / gib
    for _, value in ipairs(values) do total = total + value end
    bars[i] = { name = side == "before" and answer.from or answer.to, total = total, values = values }
  end
  return { title = "Memory of a GPU", kind = "bar", x = { label = "memory", unit = "GiB" }, segments = segments,
    bars = bars }
end

--- {title, lead, sections}.
---@param answer table of document.of
function page.of(answer)
  local sections = json.array {}
  local function add(section) sections[#sections + 1] = section end
  add { heading = "Flags", text = table.concat(text.flag_lines(answer), "\n"), charts = json.array {} }
  add { heading = "Rules that act", note = text.head_of_rules(answer), charts = json.array {},
    tables = #answer.rules > 0 and json.array { table_of(text.rule_rows(answer)) } or nil,
    paragraphs = json.array(text.sources(answer)) }
  add { heading = "Memory", charts = json.array { memory_chart(answer) },
    tables = json.array { table_of(text.memory_rows(answer)) } }
  add { heading = "Steps", charts = json.array {}, note = answer.steps_problem,
    tables = not answer.steps_problem and json.array { table_of(text.step_rows(answer)) } or nil }
  local without = text.without_load(answer)
  local intervals = not without and answer.load.after.intervals
  add { heading = "Load", charts = json.array {}, note = without,
    tables = not without and json.array { table_of(text.load_rows(answer)) } or nil,
    paragraphs = json.array(intervals and intervals.text or {}) }
  if #answer.notes > 0 then
    add { heading = "Notes", charts = json.array {}, paragraphs = json.array(answer.notes) }
  end
  return { title = ("%s to %s"):format(answer.from, answer.to), sections = sections,
    lead = answer.same and "Nothing changes." or answer.starts and "The engine starts on the release after."
      or "The engine does not start on the release after." }
end

return page
