--- Draws two replicas at random and takes the one with fewer outstanding requests.
local policy = require "rooflua.policy"

---@class routers.PowerOfTwo: rooflua.Router
local PowerOfTwo = policy.define {
  name = "power_of_two",
  doc = "Of two replicas drawn at random, the one with fewer outstanding requests.",
  source = "Mitzenmacher, The Power of Two Choices in Randomized Load Balancing, 2001",
  signals = { "outstanding" },
  params = {},
}

function PowerOfTwo:start(rng)
  self.draws = rng:stream("router")
end

---@param replicas rooflua.Candidates
function PowerOfTwo:route(_, replicas)
  local count = #replicas
  local a = self.draws:integer(1, count)
  if count == 1 then return a end
  local b = self.draws:integer(1, count - 1)
  if b >= a then b = b + 1 end
  local load_a, load_b = replicas[a].outstanding, replicas[b].outstanding
  if load_b < load_a or (load_b == load_a and b < a) then return b end
  return a
end

return PowerOfTwo
