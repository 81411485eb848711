--- KV in the host's memory as TensorRT-LLM keeps it: every block, of prompts and answers, and every hit is loaded.
local policy = require "rooflua.policy"

---@class tiers.TrtllmHost: rooflua.Tiers
---@field outputs boolean
local TrtllmHost = policy.define {
  name = "trtllm_host",
  doc = "TensorRT-LLM's host cache: blocks of prompts and answers go to the first store, every hit is loaded.",
  source = "tensorrt_llm/llmapi/llm_args.py, KvCacheConfig; docs/source/features/kvcache.md",
  params = {
    outputs = { default = true, doc = "Answers are stored as well, when their request ends.",
      source = "TensorRT-LLM batch_manager/kvCacheManager.cpp, storeBlocks" },
  },
}

---@param found rooflua.Found
---@return integer tokens
function TrtllmHost:load(_, found) return found.tokens end -- luacheck: ignore self

---@param run rooflua.StoredRun
---@param stores rooflua.Store[]
---@return string? name
function TrtllmHost:store(run, stores)
  if run.why ~= "preempted" and (run.prompt or self.outputs) then return stores[1].name end
end

return TrtllmHost
