-- CSV files of measurements: a row is a table by the names of the header.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"

local csv = {}

--- The rows of a CSV file, and the names of its columns. Trusted scripts only. A cell that reads as a number is one, an
--- empty cell is left out, and `line` is the line of the row.
function csv.read(path)
  if not native.trusted then core.fail "csv.read: scenarios cannot read files; run with --trusted" end
  local rows, names = native.csv_read(core.text(path, "csv.read"))
  files.note(path)
  return rows, names
end

return csv
