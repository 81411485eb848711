--- Splits the prefills of a step, sorted by length, into groups of equally many requests.
local by_length = require "bucketing.group.by_length"
local policy = require "rooflua.policy"

---@class bucketing.Quantile
---@field groups_at_most integer
---@field key string
local Quantile = policy.define {
  name = "quantile",
  doc = "Equally many requests per group; a group is priced at its longest member.",
  params = {
    groups_at_most = {
      default = 4, unit = "groups", min = 1, integer = true,
      doc = "Number of groups; fewer where a step has fewer prefills.",
    },
    key = by_length.key_parameter "context_plus_new",
  },
}

local most_prefills = 1048576  -- in a step: length and index of a prefill fit into one double

--- @return table groups ascending by seq_len, as in group/by_length
function Quantile:groups(prefills)
  local count = #prefills
  local lengths, order = {}, {}
  for i = 1, count do
    lengths[i] = by_length.length(prefills[i], self.key)
    -- Compiled-code idiom: docs/LUA_API.md, "Hot paths".
    order[i] = lengths[i] * most_prefills + i
  end
  table.sort(order)
  for i = 1, count do order[i] = order[i] % most_prefills end
  local groups, wanted = {}, math.min(self.groups_at_most, count)
  for g = 1, wanted do
    local first, last = math.floor((g - 1) * count / wanted) + 1, math.floor(g * count / wanted)
    local group = { requests = last - first + 1, new_tokens = 0, seq_len = lengths[order[last]], members = {} }
    for i = first, last do
      group.members[#group.members + 1] = order[i]
      group.new_tokens = group.new_tokens + prefills[order[i]].new_tokens
    end
    groups[g] = group
  end
  return groups
end

return Quantile
