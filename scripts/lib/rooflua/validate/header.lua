-- The header of a CSV of measurements: which file it is, and whether its columns are there.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local header = {}

--- Those of `names` that are no columns.
---@param columns string[]
---@param names string[]
function header.missing(columns, names)
  local there, out = {}, {}
  for _, name in ipairs(columns) do there[name] = true end
  for _, name in ipairs(names) do
    if not there[name] then out[#out + 1] = name end
  end
  return out
end

--- Whether a file can be read as CSV and has all of these columns.
---@param names string[]
---@param columns string[]? those of the file, where they are known
function header.tells(path, names, columns)
  local ok = true
  if not columns then ok, columns = pcall(native.csv_header, path) end
  return ok and #header.missing(columns, names) == 0
end

--- Raises an error that names the columns that are missing.
---@param what string of what: "measured start-ups"
---@param manual string where its columns are described: "docs/VALIDATION.md"
---@param telling string[]? a file with none of these columns is another one
function header.check(path, columns, required, what, manual, telling)
  local missing = header.missing(columns, required)
  if #missing == 0 then return end
  local is_other = telling and #header.missing(columns, telling) == #telling
  core.fail("%s:1: %s%s missing: %s; a file of %s has %s (%s)", path,
    is_other and "this is no file of measured cases that is known here: " or "",
    #missing == 1 and "a column is" or "columns are", core.join(missing, ", "), what, core.join(required, ", "), manual)
end

return header
