--- Times of collectives over ranks that share a domain.
local cost = require "rooflua.cost"

local collectives = {}

--- Time of a collective over ranks of one NVLink domain. Without rows of the library an all-gather and a reduce-scatter
--- move half of what an all-reduce moves.
--- @param kind string "all_gather" (bytes of the result), "reduce_scatter" or "all_to_all" (bytes of a rank's input)
function collectives.time(steps, name, kind, bytes, ranks, count)
  if steps.database:measures "collective" then
    return (cost.lookup(steps.database, { op = "collective", collective = kind, dtype = "bf16", ranks = ranks,
      bytes = bytes }, count, name))
  end
  if kind == "all_to_all" then return (cost.all_to_all(steps.database, bytes, ranks, count, name)) end
  return (cost.all_reduce(steps.database, bytes / 2, ranks, count, name))
end

return collectives
