--- Grids that were filled, by the tables that they were asked of. Deployments that differ only in seats, token budget
--- or memory ask the same attention of the same tables, and filling its grids takes longer than all else of binding.
local grids = {}

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

--- The grid of a question: that of an earlier one with the same text, else what `fill` returns. A grid must not refer
--- to the database.
--- @param database rooflua.Database
--- @param query table
--- @param varying table<string, boolean> fields of the query that are the axes of the grid
--- @param fill fun(): table
function grids.of(database, query, varying, fill)
  local known = filled[database]
  if not known or known.count >= most_kept then
    known = { count = 0, by_text = {} }
    filled[database] = known
  end
  local text = text_of(query, varying)
  if not known.by_text[text] then known.count, known.by_text[text] = known.count + 1, fill() end
  return known.by_text[text]
end

return grids
