-- The answer of `rooflua trace` as a page: the step as bars, then operations, gaps and kernels without an operation.
local json = require "rooflua.json"
local text = require "rooflua.profile.text"

local page = {}

local most_segments, most_bars, most_gaps, most_unknown = 9, 8, 40, 40

local function ms(value) return value == json.null and 0 or (value or 0) * 1e3 end

local function cells_of(rows)
  local out = json.array {}
  for i, row in ipairs(rows) do out[i] = json.array(row) end
  return out
end

local function unwrapped(lines)
  local out = json.array {}
  for i, line in ipairs(lines) do out[i] = (line:gsub("\n%s*", " ")) end
  return out
end

--- The step three times: as it was measured, by the tables, by the datasheet.
local function step_chart(answer)
  local segments, bars = json.array {}, json.array {}
  local fields = { { "measured", "measured_s", answer.step_s }, { "tables", "table_s", answer.table_s },
    { "roofline", "roofline_s", answer.roofline_s } }
  local shown = math.min(most_segments, #answer.operations)
  for i = 1, shown do segments[i] = answer.operations[i].name end
  segments[#segments + 1] = "other operations"
  segments[#segments + 1] = "host and idle"
  for i, field in ipairs(fields) do
    local values, sum = json.array {}, 0
    for j = 1, shown do
      values[j] = ms(answer.operations[j][field[2]])
      sum = sum + values[j]
    end
    local idle = i == 1 and ms(answer.gaps_s + answer.between_s) or i == 2 and ms(answer.host_table_s) or 0
    values[shown + 1], values[shown + 2] = math.max(0, ms(field[3]) - sum - idle), idle
    bars[i] = { name = field[1], total = ms(field[3]), values = values }
  end
  return { title = "The step", kind = "bar", x = { label = "time", unit = "ms" }, segments = segments, bars = bars }
end

--- The operations that take longest, three bars each.
local function operations_chart(answer)
  local bars = json.array {}
  for i = 1, math.min(most_bars, #answer.operations) do
    local each = answer.operations[i]
    for j, field in ipairs { { "measured", "measured_s" }, { "tables", "table_s" }, { "roofline", "roofline_s" } } do
      local values = json.array { 0, 0, 0 }
      values[j] = ms(each[field[2]])
      bars[#bars + 1] = { name = ("%s %s"):format(each.name, field[1]), values = values, total = values[j] }
    end
  end
  return { title = "Operations that take longest", kind = "bar", x = { label = "time of a step", unit = "ms" },
    segments = json.array { "measured", "tables", "roofline" }, bars = bars }
end

--- {title, lead, sections}.
---@param answer table of document.of
function page.of(answer)
  local sections = json.array {}
  local function add(section) sections[#sections + 1] = section end
  add { heading = "What explains most", charts = json.array { step_chart(answer) },
    paragraphs = unwrapped(text.causes(answer)) }
  add { heading = "Operations", charts = json.array { operations_chart(answer) },
    tables = json.array { cells_of(text.operation_rows(answer)) },
    paragraphs = unwrapped(text.fallbacks(answer)) }
  if #answer.gaps > 0 then
    add { heading = "Gaps", charts = json.array {}, tables = json.array { cells_of(text.gap_rows(answer, most_gaps)) } }
  end
  if #answer.unknown > 0 then
    add { heading = "Kernels without an operation", charts = json.array {},
      tables = json.array { cells_of(text.unknown_rows(answer, most_unknown)) } }
  end
  if #answer.notes > 0 then
    add { heading = "Notes", charts = json.array {}, paragraphs = json.array(answer.notes) }
  end
  local lead = table.concat(unwrapped(text.head(answer)), ". ")
  return { title = ("A trace of %s on %s"):format(answer.model, answer.hardware), sections = sections, lead = lead }
end

return page
