--- Groups prefills by the next power of two of their length.
local by_length = require "bucketing.group.by_length"
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
      default = 512, unit = "tokens", min = 1, integer = true, source = "inference-sim",
      doc = "Length of the first group, which holds all shorter prefills.",
    },
    largest = {
      default = 65536, unit = "tokens", min = 1, integer = true, source = "inference-sim",
      doc = "Length of the last group, which holds all longer prefills.",
    },
    key = by_length.key_parameter("context_plus_new", "inference-sim"),
  },
}

--- `smallest` doubled until it is at least `length` or `largest`.
function Pow2:bucket(length)
  local bucket = self.smallest
  while bucket < length and bucket < self.largest do bucket = bucket * 2 end
  return bucket
end

--- @return table groups ascending by seq_len, as in group/by_length
function Pow2:groups(prefills)
  local groups = by_length.groups(self, prefills)
  return groups  -- Not a tail call. Compiled-code idiom: docs/LUA_API.md, "Hot paths".
end

return Pow2
