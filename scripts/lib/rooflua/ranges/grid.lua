-- The times at which all counters of a range are known: between two of them each has grown by a known amount.
--
-- A series with a gap, or with longer steps, makes one interval of several. A quantity whose times lie between those of
-- the others would leave next to none: it is left out, and named.
local series = require "rooflua.ranges.series"

local grid = {}

local least_left = 0.5 -- of the intervals that the coarser of two has

local function add_times(out, items)
  for _, item in ipairs(items) do
    for i, start in ipairs(item.starts) do
      out[series.milliseconds(start)], out[series.milliseconds(item.ends[i])] = true, true
    end
  end
end

--- Times in milliseconds that lie in no step of an item, in order.
local function of_items(lists)
  local times = {}
  for _, items in ipairs(lists) do add_times(times, items) end
  local sorted, place, inside = {}, {}, {}
  for at in pairs(times) do sorted[#sorted + 1] = at end
  table.sort(sorted)
  for i, at in ipairs(sorted) do place[at], inside[i] = i, 0 end
  inside[#sorted + 1] = 0
  for _, items in ipairs(lists) do
    for _, item in ipairs(items) do
      for i, start in ipairs(item.starts) do
        local from, to = place[series.milliseconds(start)], place[series.milliseconds(item.ends[i])]
        if to > from + 1 then inside[from + 1], inside[to] = inside[from + 1] + 1, inside[to] - 1 end
      end
    end
  end
  local out, depth = {}, 0
  for i, at in ipairs(sorted) do
    depth = depth + inside[i]
    if depth == 0 then out[#out + 1] = at end
  end
  return out
end

--- {times in milliseconds, items that are read}; quantities that are left out go to `unread`.
---@param by_quantity table items of each quantity
---@param order string[] quantities, the most important one first
function grid.of(by_quantity, order, unread)
  local lists, times, kept = {}, {}, {}
  for _, quantity in ipairs(order) do
    local items = by_quantity[quantity]
    if items then
      local own = of_items { items }
      lists[#lists + 1] = items
      local all = of_items(lists)
      if #times > 1 and #own > 1 and #all - 1 < least_left * (math.min(#times, #own) - 1) then
        lists[#lists] = nil
        for _, item in ipairs(items) do
          unread[#unread + 1] = { where = item.where, name = item.name,
            why = "its times lie between those of other series; ask for all of them with one start and one step" }
        end
      elseif #own > 1 then
        times = all
        for _, item in ipairs(items) do kept[#kept + 1] = item end
      else
        lists[#lists] = nil
      end
    end
  end
  return times, kept
end

--- The place of the interval that ends at a time or has it inside; nil in front of all.
function grid.place(times, at)
  local low, high = 1, #times
  if at <= times[1] or at > times[high] then return nil end
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if times[middle] < at then low = middle else high = middle end
  end
  return low
end

return grid
