-- Makes the quantiles that intervals of closed loops rest on (scripts/lib/rooflua/validate/silicon/residuals.lua), and
-- prints how many measurements lie inside the intervals:
--
--     rooflua validate ../shared/data/truth/silicon/develop.csv --wide --json F
--     rooflua lua tests/fidelity/silicon_intervals.lua F [--write]
local intervals = require "rooflua.validate.silicon.intervals"
local json = require "rooflua.json"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local path, write = arg[1], arg[2] == "--write"
local target = "scripts/lib/rooflua/validate/silicon/residuals.lua"
local text = intervals.text_of(intervals.residuals_of(json.decode(read(path)).questions))
if write then
  local file = assert(io.open(target, "w"))
  file:write(text)
  file:close()
end
print(text == read(target) and "residuals.lua is up to date" or "residuals.lua differs: --write")
