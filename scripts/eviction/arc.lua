--- Adapts between least recently and least frequently used, by what it evicted too early. The engine itself has this
--- order.
local policy = require "rooflua.policy"

---@class eviction.Arc: rooflua.Eviction
local Arc = policy.define {
  name = "arc",
  doc = "Adapts between least recently and least frequently used, by what it evicted too early.",
  source = "vLLM vllm/v1/kv_offload/cpu/policies/arc.py; Megiddo, Modha. ARC, FAST 2003",
  native = "arc",
}

return Arc
