--- vLLM's TieringOffloadingSpec: CPU memory in front of secondary tiers, such as files. What is stored goes to all of
--- them at once, not from one to the next when it is evicted. A hit in a later store is put into the first store
--- as well.
local every = require "tiers.stores.every"
local policy = require "rooflua.policy"
local VllmCpu = require "tiers.vllm_cpu"

---@class tiers.VllmTiered: tiers.VllmCpu
local VllmTiered = policy.define {
  name = "vllm_tiered",
  doc = "vLLM's TieringOffloadingSpec: what is stored goes to every store at once, hits are put into the first.",
  source = "vLLM docs/features/kv_offloading_usage.md, \"Multi-Tier Setup\", releases 0.22 to 0.28",
  extends = VllmCpu,
  promote = true,
  params = {
    store_threshold = { default = 0, unit = "requests", min = 0, max = 1, integer = true,
      doc = "0 or 1: content is stored at once. This specification refuses more.",
      source = "vLLM docs/features/kv_offloading_usage.md, store_threshold",
      idle = { why = "0 and 1 both mean at once" } },
  },
}

---@param run rooflua.StoredRun
---@param stores rooflua.Store[]
---@return string? ... names
function VllmTiered:store(run, stores)
  if self:keeps(run) then return every(stores) end
end

return VllmTiered
