---@meta rooflua.json
--- JSON: doubles are exact in both directions, arrays stay arrays, null is json.null.
---@class rooflua.json
---@field null any stands for null
local json = {}

--- The value of a JSON text.
---@param text string
---@return any
function json.decode(text) end

--- The JSON text of a value. Keys are sorted, so that equal values give equal text.
---@param value any
---@param indent integer? spaces per level; default: one line
---@return string
function json.encode(value, indent) end

--- Marks a table as an array. An empty table without this mark is written as an object.
---@param t table
---@return table t
function json.array(t) end

--- The value of a JSON file. Trusted scripts only.
---@param path string
---@return any
function json.read(path) end

return json
