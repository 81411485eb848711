-- Upgrades that were made of two measured closed loops: `source` "silicon questions ID and ID" names rows of
-- ../silicon/questions.csv beside the set, which have what the row itself leaves out: both sides' options, variables of
-- the environment, clients, engines of each role, and the day of a build without a number.
local columns = require "rooflua.validate.columns"
local native = require "rooflua.native"

local joined = {}

--- The rows of the file by the twelve letters of their names that a source has; {} where there is no such file.
local function rows_of(folder, name)
  local path, out = ("%s../%s/questions.csv"):format(folder, name), {}
  local ok, there = pcall(native.csv_header, path)
  local list = ok and native.csv_read(path, true, there)
  for _, row in ipairs(list or {}) do out[(row.question or ""):sub(1, 12)] = row end
  return out
end

--- @param options table {folder, loops = {} of files that were read}
--- @return table? {before, after}: cells of two closed loops; nil where the row names none, or one that is not there
function joined.of(case, options)
  local name, first, second = (case.source or ""):match "^(%w+) questions (%x+) and (%x+)"
  if not name then return nil end
  local loops = options.loops
  loops[name] = loops[name] or rows_of(options.folder, name)
  local before, after = loops[name][first], loops[name][second]
  return before and after and { before = before, after = after } or nil
end

--- The day of a side as a release name has it, "20260402"; nil where it is not known.
function joined.day(side)
  local day = side and (side.date or ""):gsub("%-", "") or ""
  return day:find "^%d%d%d%d%d%d%d%d$" and day or nil
end

--- The closed loop of a side as another release runs it, whose figures are not looked at.
--- @param loops table of closed_loops/rows.lua
function joined.question(side, id, release, where, loops)
  local cells = { question = id, engine_version = release, ttft_ms = "1", tpot_ms = "1", scored = "yes" }
  for _, column in ipairs { "family", "system", "engine", "format", "mode", "isl", "osl", "clients", "widths",
    "workers", "options", "env", "speculation", "draft_tokens", "config", "client" } do
    cells[column] = side[column] or ""
  end
  return columns.of_cells(loops, cells, where)
end

return joined
