-- What lower bounds undo of corrections: a correction makes an operation faster than flop over peak and bytes over
-- bandwidth, and the step model makes it slower again.
local core = require "rooflua.base.core"

local floors = {}

--- Whether a scenario's own corrections change single operations.
function floors.may_undo(prepared)
  local list = prepared.corrections
  for i = 1, #list - (list.unasked or 0) do
    if list[i].op then return true end
  end
  return false
end

--- Seconds by the name of an operation: of itself, what corrections take from it, and what bounds add.
local function sums_of(rows)
  local sums = {}
  for _, row in ipairs(rows) do
    local name = row.kind == "correction" and row.of or row.name
    local sum = sums[name] or { own = 0, taken = 0, added = 0, by = {} }
    local time_s = row.time_s * (row.count or 1)
    sums[name] = sum
    if row.kind == "correction" and row.of then
      sum.taken = sum.taken + time_s
      if time_s < 0 then sum.by[row.name] = true end
    elseif row.kind == "floor" then
      sum.added = sum.added + time_s
    else
      sum.own = sum.own + time_s
    end
  end
  return sums
end

--- A sentence for each operation of which bounds give back a part that corrections took.
---@param rows table[] of a batch that was explained
function floors.sentences(rows)
  local out = {}
  for name, sum in core.sorted_pairs(sums_of(rows)) do
    local undone = math.min(sum.added, -sum.taken)
    if sum.own > 0 and undone > 0.01 * sum.own then
      out[#out + 1] = ("the floor (flop over peak, bytes over bandwidth) undoes the correction %s: %s x %.3g becomes "
        .. "x %.3g; a correction that means less work says so: changes_work = true in its definition"):format(
        core.join(core.sorted_keys(sum.by), ", "), name, (sum.own + sum.taken) / sum.own,
        (sum.own + sum.taken + undone) / sum.own)
    end
  end
  return out
end

return floors
