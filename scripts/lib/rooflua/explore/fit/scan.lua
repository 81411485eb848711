--- Looks for a valley along one parameter at a time. The error of a simulation is flat where a parameter has no effect:
--- a host that is faster than its GPU changes nothing. A search that goes downhill cannot leave such a plain.
local core = require "rooflua.base.core"

local scan = {}

local most_points = 10 -- of one parameter in one round

--- The next place to look at, between points sorted by place: beside the best one, and in every other turn between the
--- neighbours that differ most, because the edge of a plain lies there. nil if all points are equal.
local function next_place(points, turn)
  local best, found, widest, steepest = 1, nil, 0, 0
  for i, point in ipairs(points) do
    if point.error < points[best].error then best = i end
  end
  for i = 1, #points - 1 do
    local a, b = points[i], points[i + 1]
    local width, height = b.place - a.place, math.abs(b.error - a.error)
    if turn % 2 == 0 and height > steepest then
      found, steepest = i, height
    elseif turn % 2 == 1 and (i == best or i + 1 == best) and width > widest then
      found, widest = i, width
    end
  end
  return found and (points[found].place + points[found + 1].place) / 2
end

local function insert(points, place, found)
  if found ~= found then found = math.huge end
  local at = 1
  while points[at] and points[at].place < place do at = at + 1 end
  table.insert(points, at, { place = place, error = found })
end

local function is_flat(points)
  for _, point in ipairs(points) do
    if point.error ~= points[1].error then return false end
  end
  return true
end

--- Goes round all parameters while evaluations are left, from `start` (places from 0 to 1).
---@param objective fun(places: number[]): number, nan where there is none
---@return number[] best, number smallest, integer used, integer hopeless evaluations without a finite error
function scan.all(objective, start, smallest, budget)
  local best = { core.unpack(start) }
  local used, hopeless = 0, 0
  local function along(i, most)
    local points, tried = {}, { core.unpack(best) }
    insert(points, best[i], smallest)
    local function try(place)
      tried[i] = place
      local found = objective(tried)
      used = used + 1
      if not (found < math.huge) then hopeless = hopeless + 1 end
      insert(points, place, found)
      if found < smallest then best[i], smallest = place, found end
    end
    for turn, place in ipairs { 1, 0, 0.5 } do
      if turn <= most and points[1].place ~= place and points[#points].place ~= place then try(place) end
    end
    for turn = 4, most do
      if is_flat(points) then return end
      local place = next_place(points, turn)
      if not place then return end
      try(place)
    end
  end
  local count = #best
  local rounds = math.max(1, math.floor(budget / (count * most_points)))
  for round = 1, rounds do
    for i = 1, count do
      local left = (rounds - round) * count + count - i + 1
      along(i, math.min(most_points, math.floor((budget - used) / left)))
    end
  end
  return best, smallest, used, hopeless
end

return scan
