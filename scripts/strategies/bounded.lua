--- Candidates in the order of the least score that bounds allow, in full, until no other can be among the ranks that
--- are asked for: the same ranks as `exhaustive`.
local policy = require "rooflua.policy"

---@class strategies.Bounded
---@field batch integer
local Bounded = policy.define {
  name = "bounded",
  doc = "By the least possible score, in full, until no other can be among the first ranks: exact.",
  params = { batch = { default = 8, unit = "candidates", min = 1, integer = true, doc = "How many at a time." } },
}

--- The score of the rank that is asked for last; infinite while fewer have one.
local function threshold(state, ranks)
  local scores = {}
  for _, each in ipairs(state.results) do
    if each.score and each.requests == state.requests then scores[#scores + 1] = each.score end
  end
  table.sort(scores)
  return scores[ranks] or math.huge
end

---@param state table candidates (by floor), results, requests, ranks
---@return table[]|nil asks {candidate, requests}; nil: the search is over
function Bounded:next(state)
  local done, asks = {}, {}
  for _, each in ipairs(state.results) do
    if each.requests == state.requests then done[each.candidate] = true end
  end
  local most = threshold(state, state.ranks)
  for _, each in ipairs(state.candidates) do
    local can_win = not each.floor or each.floor <= most
    if not done[each.index] and can_win and #asks < self.batch then
      asks[#asks + 1] = { candidate = each.index, requests = state.requests }
    end
  end
  return #asks > 0 and asks or nil
end

return Bounded
