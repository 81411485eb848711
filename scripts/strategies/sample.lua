--- Some candidates, drawn by the seed, in full.
local policy = require "rooflua.policy"
local random = require "rooflua.random"

---@class strategies.Sample
---@field n integer
local Sample = policy.define {
  name = "sample",
  doc = "Some candidates, drawn by the seed, in runs of full length.",
  params = { n = { default = 20, unit = "candidates", min = 1, integer = true, doc = "How many." } },
}

---@param state table candidates, results, requests, seed
---@return table[]|nil asks {candidate, requests}; nil: the search is over
function Sample:next(state)
  if #state.results > 0 then return nil end
  local stream, left, asks = random.streams(state.seed):stream "plan sample", {}, {}
  for i, each in ipairs(state.candidates) do left[i] = each.index end
  for _ = 1, math.min(self.n, #left) do
    local chosen = table.remove(left, stream:integer(1, #left))
    asks[#asks + 1] = { candidate = chosen, requests = state.requests }
  end
  return asks
end

return Sample
