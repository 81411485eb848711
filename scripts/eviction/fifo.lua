--- What was stored first leaves first. The engine itself has this order.
local policy = require "rooflua.policy"

---@class eviction.Fifo: rooflua.Eviction
local Fifo = policy.define {
  name = "fifo",
  doc = "What was stored first leaves first.",
  source = "LMCache cache_policy FIFO",
  native = "fifo",
}

return Fifo
