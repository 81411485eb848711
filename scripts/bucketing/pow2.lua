--- Groups prefills by the next power of two of their length.
local policy = require "rooflua.policy"

---@class bucketing.Pow2
---@field smallest integer
---@field largest integer
---@field key string
local Pow2 = policy.define {
  name = "pow2",
  doc = "Groups prefills by the next power of two of their length; a group is priced at that length.",
  source = "inference-sim 487017bc, sim/roofline_step_v2.go",
  params = {
    smallest = {
      default = 512, unit = "tokens", min = 1, source = "inference-sim",
      doc = "Shorter requests share this group.",
    },
    largest = {
      default = 65536, unit = "tokens", min = 1, source = "inference-sim",
      doc = "Longer requests share this group.",
    },
    key = {
      default = "context_plus_new", values = { "new", "context_plus_new" },
      doc = "Length of a request: its new tokens, or with the tokens in its KV cache.", source = "inference-sim",
    },
  },
}

local function shorter(a, b) return a.seq_len < b.seq_len end

--- The smallest power of two times `smallest` that holds `length`, at most `largest`.
function Pow2:bucket(length)
  local bucket = self.smallest
  while bucket < length and bucket < self.largest do bucket = bucket * 2 end
  return bucket
end

--- @return table groups ascending by seq_len, as in bucketing.exact
function Pow2:groups(prefills)
  local groups, group_of = {}, {}
  local with_context = self.key == "context_plus_new"
  for i = 1, #prefills do
    local prefill = prefills[i]
    local length = prefill.new_tokens
    if with_context then length = length + prefill.context_tokens end
    local bucket = self:bucket(length)
    local group = group_of[bucket]
    if not group then
      group = { requests = 0, new_tokens = 0, seq_len = bucket, members = {} }
      group_of[bucket] = group
      groups[#groups + 1] = group
    end
    group.requests = group.requests + 1
    group.new_tokens = group.new_tokens + prefill.new_tokens
    group.members[group.requests] = i
  end
  if #groups > 1 then table.sort(groups, shorter) end
  return groups
end

return Pow2
