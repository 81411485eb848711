--- Least frequently used leaves first, of those the least recently used. The engine itself has this order.
local policy = require "rooflua.policy"

---@class eviction.Lfu: rooflua.Eviction
local Lfu = policy.define {
  name = "lfu",
  doc = "Least frequently used leaves first, of those the least recently used.",
  source = "LMCache cache_policy LFU",
  native = "lfu",
}

return Lfu
