--- What bucketing policies share: the length of a prefill, and groups of prefills in the same bucket.
local by_length = {}

--- The parameter `key`: how the length of a prefill is counted.
--- @param default string "new" or "context_plus_new"
function by_length.key_parameter(default, source)
  return { default = default, values = { "new", "context_plus_new" }, source = source,
    doc = "Length of a prefill: its new tokens, or its new tokens and those in its KV cache." }
end

--- @param key string
--- @return number tokens
function by_length.length(prefill, key)
  if key == "context_plus_new" then return prefill.new_tokens + prefill.context_tokens end
  return prefill.new_tokens
end

local function shorter(a, b) return a.seq_len < b.seq_len end

--- One group per value of policy:bucket(length), ascending.
--- @param policy table with `key` and a method bucket(length) -> seq_len
--- @return {requests: integer, new_tokens: integer, seq_len: integer, members: integer[]}[] groups
--- members are indices into prefills
function by_length.groups(policy, prefills)
  local key = policy.key
  local groups, group_of = {}, {}
  for i = 1, #prefills do
    local prefill = prefills[i]
    local bucket = policy:bucket(by_length.length(prefill, key))
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

return by_length
