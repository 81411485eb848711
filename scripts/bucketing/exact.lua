--- Groups prefills of exactly equal length.
local by_length = require "bucketing.group.by_length"
local policy = require "rooflua.policy"

---@class bucketing.Exact
---@field key string
local Exact = policy.define {
  name = "exact",
  doc = "One group per distinct length; every group is priced at its own length.",
  params = { key = by_length.key_parameter "new" },
}

function Exact:bucket(length) return length end

--- @param prefills {new_tokens: integer, context_tokens: integer}[]
--- @return table groups ascending by seq_len, as in group/by_length
function Exact:groups(prefills)
  local groups = by_length.groups(self, prefills)
  return groups  -- Not a tail call. Compiled-code idiom: docs/LUA_API.md, "Hot paths".
end

return Exact
