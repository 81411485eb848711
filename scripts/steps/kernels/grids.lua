--- Grids that were filled, by the tables that they were asked of. Deployments that differ only in seats, token budget
--- or memory ask the same attention of the same tables, and filling its grids takes longer than all else of binding.
---
--- The first price asks for a grid within code that is being compiled: finding and keeping one neither makes a closure
--- nor walks through a table.
local grids = {}
grids.__index = grids

local most_kept = 256 -- of one database; a grid has a tenth of a megabyte
local filled = setmetatable({}, { __mode = "k" }) -- database -> {count, by_text = {text of a question = grid}}

--- The text of a question, without what changes from call to call.
local function text_of(query, varying)
  local parts = {}
  for key, value in pairs(query) do
    if not varying[key] then parts[#parts + 1] = ("%s=%s"):format(key, tostring(value)) end
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

--- The place of a question's grid: that of every question with the same text.
--- @param database rooflua.Database
--- @param query table
--- @param varying table<string, boolean> fields of the query that are the axes of the grid
function grids.of(database, query, varying)
  return setmetatable({ database = database, text = text_of(query, varying) }, grids)
end

--- The grid that an earlier question kept; nil if there is none.
function grids:known()
  local known = filled[self.database]
  return known and known.by_text[self.text]
end

--- @param grid table it must not refer to the database
function grids:keep(grid)
  local known = filled[self.database]
  if not known or known.count >= most_kept then
    known = { count = 0, by_text = {} }
    filled[self.database] = known
  end
  known.count = known.count + 1
  known.by_text[self.text] = grid
end

return grids
