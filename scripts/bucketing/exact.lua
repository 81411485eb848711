--- Groups prefills of exactly equal length.
local policy = require "rooflua.policy"

---@class bucketing.Exact
---@field key string
local Exact = policy.define {
  name = "exact",
  doc = "One group per distinct length; every group is priced at its own length.",
  params = {
    key = {
      default = "new", values = { "new", "context_plus_new" },
      doc = "Length of a request: its new tokens, or with the tokens in its KV cache.",
    },
  },
}

local function shorter(a, b) return a.seq_len < b.seq_len end

--- @param prefills {new_tokens: integer, context_tokens: integer}[]
--- @return {requests: integer, new_tokens: integer, seq_len: integer, members: integer[]}[] groups ascending
--- by seq_len; members are indices into prefills
function Exact:groups(prefills)
  local groups, group_of = {}, {}
  local with_context = self.key == "context_plus_new"
  for i = 1, #prefills do
    local prefill = prefills[i]
    local length = prefill.new_tokens
    if with_context then length = length + prefill.context_tokens end
    local group = group_of[length]
    if not group then
      group = { requests = 0, new_tokens = 0, seq_len = length, members = {} }
      group_of[length] = group
      groups[#groups + 1] = group
    end
    group.requests = group.requests + 1
    group.new_tokens = group.new_tokens + prefill.new_tokens
    group.members[group.requests] = i
  end
  if #groups > 1 then table.sort(groups, shorter) end
  return groups
end

return Exact
