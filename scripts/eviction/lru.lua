--- Least recently used leaves first. The engine itself has this order.
local policy = require "rooflua.policy"

---@class eviction.Lru: rooflua.Eviction
local Lru = policy.define {
  name = "lru",
  doc = "Least recently used leaves first.",
  source = "vLLM vllm/v1/kv_offload/cpu/policies/lru.py",
  native = "lru",
}

return Lru
