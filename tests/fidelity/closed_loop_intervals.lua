-- Makes the quantiles that intervals of closed loops rest on
-- (scripts/lib/rooflua/validate/closed_loops/residuals.lua) from the questions whose settings are stated, and says
-- whether the file has them already:
--
--     rooflua validate ../shared/data/truth/silicon/questions.csv --wide --json F
--     rooflua lua tests/fidelity/closed_loop_intervals.lua F [--write]
--
-- How many measurements lie inside the intervals: the same with --intervals 1.
local intervals = require "rooflua.validate.closed_loops.intervals"
local json = require "rooflua.json"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local path, write = arg[1], arg[2] == "--write"
local target = "scripts/lib/rooflua/validate/closed_loops/residuals.lua"
local text = intervals.text_of(intervals.residuals_of(json.decode(read(path)).questions))
if write then
  local file = assert(io.open(target, "w"))
  file:write(text)
  file:close()
end
print(text == read(target) and "residuals.lua is up to date" or "residuals.lua differs: --write")
