---@meta rooflua.csv
--- CSV files of measurements.
---@class rooflua.csv
local csv = {}

--- The rows of a CSV file, each a table by the names of the header. A cell that reads as a number is one, an empty cell
--- is left out, and `line` is the line of the row. A row with more cells than the header is an error. Trusted scripts
--- only, as with `rooflua lua`.
---@param path string
---@return table[] rows
---@return string[] names of the columns
function csv.read(path) end

return csv
