--- Every candidate in full: the truth that the other strategies are tested against.
local policy = require "rooflua.policy"

---@class strategies.Exhaustive
local Exhaustive = policy.define {
  name = "exhaustive",
  doc = "Every candidate in a run of full length.",
  params = {},
}

---@param state table candidates, results, requests
---@return table[]|nil asks {candidate, requests}; nil: the search is over
function Exhaustive:next(state) -- luacheck: ignore 212
  if #state.results > 0 then return nil end
  local asks = {}
  for i, each in ipairs(state.candidates) do asks[i] = { candidate = each.index, requests = state.requests } end
  return asks
end

return Exhaustive
