-- A sensitivity on a page: what 1 % of each parameter does.
local json = require "rooflua.json"
local parts = require "rooflua.explore.page.parts"
local texts = require "rooflua.explore.text"

local sensitivities = {}
local array = json.array

local most_bars = 15

--- What 1 % of each parameter does to a metric, the largest first.
local function chart(search, metric)
  local moved = {}
  for _, each in ipairs(search.rows) do
    local percent = each.percent[metric]
    if percent and math.abs(percent) >= 0.0005 then moved[#moved + 1] = { path = each.path, percent = percent } end
  end
  if #moved == 0 then return nil end
  table.sort(moved, function(a, b)
    local x, y = math.abs(a.percent), math.abs(b.percent)
    return x > y or x == y and a.path < b.path
  end)
  local bars = array {}
  for i = 1, math.min(#moved, most_bars) do
    local percent = moved[i].percent
    bars[i] = { name = moved[i].path, total = ("%+.3f %%"):format(percent),
      values = array { math.max(percent, 0), math.max(-percent, 0) } }
  end
  return { title = "1 % more of each: " .. metric, kind = "bar", x = { label = "change", unit = "%" },
    segments = array { metric .. " rises", "it falls" }, bars = bars }
end

--- Adds the sections of one sensitivity.
function sensitivities.add(sections, result)
  local search, charts = result.search, array {}
  for _, metric in ipairs(search.metrics) do charts[#charts + 1] = chart(search, metric) end
  local note = texts.sensitivity_line(search) .. "."
  if #search.seeds > 1 then note = note .. " " .. texts.unclear .. "." end
  local name = result.name ~= "" and ", " .. result.name or ""
  if #charts > 0 then sections[#sections + 1] = { heading = "What 1 % does" .. name, charts = charts } end
  sections[#sections + 1] = { heading = "Sensitivity" .. name, note = (note:gsub("^%l", string.upper)),
    tables = array { parts.table_of(texts.sensitivity_rows(search)) } }
  if #search.fixed == 0 then return end
  local rows = { { "parameter", "why" } }
  for i, each in ipairs(search.fixed) do rows[i + 1] = { each.path, each.why } end
  sections[#sections + 1] = { heading = "Not varied", folded = ("%d parameters"):format(#search.fixed),
    tables = array { parts.table_of(rows) } }
end

return sensitivities
