-- Rows of a CSV of measurements as cases. A mistake in a row affects that row only.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local header = require "rooflua.validate.header"

local rows = {}

--- The number that a cell begins with: "8192 (default)", "0.18 to 0.21"; nil where it has none.
function rows.number(row, name)
  local value = row[name]
  return type(value) == "number" and value or tonumber(tostring(value or ""):match "^%s*(%-?[%d.]+)")
end

local function read(row, where, columns, case_of)
  if row.cells then
    core.fail("%s: the row has %d columns, the header %d; a text with a comma needs quotes", where, row.cells, columns)
  end
  return case_of(row, where)
end

--- Every row of a file, in its order, as a case with `id` and `where`. One with a `problem` could not be read.
---@param of table {required = columns, what = of which measurements, manual = the document with the columns, id = the
--- column of a case's name, texts = optional, columns whose numbers stay texts, case = function (row, where) -> case,
--- broken = optional, function (row) -> members of a case that could not be read}
function rows.read(path, of)
  local list, columns = native.csv_read(path, true, of.texts)
  header.check(path, columns, of.required, of.what, of.manual)
  local out = {}
  for i, row in ipairs(list) do
    local where = ("%s:%d"):format(path, row.line)
    local ok, case = pcall(read, row, where, #columns, of.case)
    if not ok then
      local problem = tostring(case)
      case = of.broken and of.broken(row) or {}
      case.problem = problem
    end
    case.id, case.where = tostring(row[of.id] or "line " .. row.line), where
    out[i] = case
  end
  if #out == 0 then core.fail("%s: has a header and no row; expected a case of %s per row", path, of.what) end
  return out
end

--- The names of cases.
function rows.ids(cases)
  local out = {}
  for i, case in ipairs(cases) do out[i] = case.id end
  return out
end

return rows
