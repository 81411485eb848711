-- Latencies and throughput against the load, from a quarter of it to four times as much.
local declared = require "rooflua.applied.declared"
local json = require "rooflua.json"
local opening = require "rooflua.runs.opening"

local load = { title = "Over load", kinds = { serve = true } }

local factors = { 1, 0.25, 2, 0.5, 1.5, 0.75, 1.25, 3, 4 } -- those that tell most come first

function load.plan(opened)
  if #opened.all > 1 then return nil end -- a sweep of the scenario's own is on the page already
  local given = opening.variant(opened, 1)
  local path = declared.load(opened.reader, given)
  local found = path and declared.find(opened.reader, given, path, "load")
  if not found or type(found.value) ~= "number" or found.value <= 0 then return nil end
  local values, seen = json.array {}, {}
  for _, factor in ipairs(factors) do
    local value = factor * found.value
    if found.about.integer then value = math.max(1, math.floor(value + 0.5)) end
    value = math.min(math.max(value, found.about.min or value), found.about.max or value)
    if not seen[value] then values[#values + 1] = value end
    seen[value] = true
  end
  return { runs = true, against = true, set = json.array { "vary=" .. json.encode { [path] = values } },
    drop = json.array { path } }
end

return load
