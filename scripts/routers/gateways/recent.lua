--- How many requests each replica got within a window of time.
local recent = {}

local Recent = {}
Recent.__index = Recent

function recent.new(window_s)
  return setmetatable({ window_s = window_s, counts = {}, times = {}, indices = {}, first = 1, last = 0 }, Recent)
end

function Recent:add(index, now_s)
  self.last = self.last + 1
  self.times[self.last], self.indices[self.last] = now_s, index
  self.counts[index] = (self.counts[index] or 0) + 1
end

--- What is older than the window leaves.
local function pass(self, now_s)
  while self.first <= self.last and self.times[self.first] <= now_s - self.window_s do
    local index = self.indices[self.first]
    self.counts[index] = self.counts[index] - 1
    self.times[self.first], self.indices[self.first] = nil, nil
    self.first = self.first + 1
  end
end

--- The place of the replica with the fewest; the first of equal ones.
function Recent:fewest(replicas)
  pass(self, replicas.now_s)
  local best, fewest = 1, math.huge
  for i = 1, #replicas do
    local count = self.counts[replicas[i].index] or 0
    if count < fewest then best, fewest = i, count end
  end
  return best
end

return recent
