--- A ring of points: each replica has many, and a key belongs to the replica of the next point. Where a replica comes
--- or goes only the keys next to its points move.
--- uhashring (used by vllm-project/production-stack): 160 points of each node
local members = require "routers.gateways.members"
local ring = {}

local points_each = 160

local Ring = {}
Ring.__index = Ring

--- @param rng rooflua.Rng the router's
function ring.new(rng)
  return setmetatable({ places = rng:stream "ring", keys = rng:stream "ring keys", of = {} }, Ring)
end

local function points_of(self, replicas)
  local points = {}
  for i = 1, #replicas do
    local first = (replicas[i].index - 1) * points_each
    for k = 0, points_each - 1 do points[#points + 1] = { at = self.places:at(first + k), place = i } end
  end
  table.sort(points, function(a, b) return a.at < b.at end)
  return points
end

--- The place of the replica that this key belongs to.
--- @param key integer from 0 on
function Ring:place(replicas, key)
  local key_of_all = members.key(replicas) -- replicas for prompts and those for decodes have a ring each
  local points = self.of[key_of_all]
  if not points then
    points = points_of(self, replicas)
    self.of[key_of_all] = points
  end
  local at, low, high = self.keys:at(key), 1, #points + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if points[middle].at < at then low = middle + 1 else high = middle end
  end
  return points[low <= #points and low or 1].place
end

return ring
