--- All prefills of a step in one group, as engines run them.
local by_length = require "bucketing.group.by_length"
local policy = require "rooflua.policy"

---@class bucketing.Fused
---@field key string
local Fused = policy.define {
  name = "fused",
  doc = "One group with all prefills, priced at their mean length (weighted by new tokens).",
  source = "vLLM flattens all prefills of a step into one forward pass",
  params = {
    key = by_length.key_parameter "context_plus_new",
  },
}

--- @return table groups one group, or none; as in group/by_length
function Fused:groups(prefills)
  if #prefills == 0 then return {} end
  local group = { requests = #prefills, new_tokens = 0, seq_len = 0, members = {} }
  local weighted = 0
  for i = 1, #prefills do
    local prefill = prefills[i]
    local length = by_length.length(prefill, self.key)
    group.new_tokens = group.new_tokens + prefill.new_tokens
    weighted = weighted + prefill.new_tokens * length
    group.members[i] = i
  end
  group.seq_len = math.max(1, math.floor(weighted / math.max(1, group.new_tokens) + 0.5))
  return { group }
end

return Fused
