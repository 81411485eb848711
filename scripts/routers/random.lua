--- A replica drawn at random; the draws depend on the seed of the run.
local policy = require "rooflua.policy"

---@class routers.Random: rooflua.Router
---@field rng rooflua.Random
local Random = policy.define {
  name = "random",
  doc = "Every replica with the same probability.",
  source = "the baseline of Mitzenmacher, The Power of Two Choices, 2001",
  signals = {},
  params = {},
}

function Random:start(rng)
  self.draws = rng:stream("router")
end

---@param replicas rooflua.Candidates
function Random:route(_, replicas)
  return self.draws:integer(1, #replicas)
end

return Random
