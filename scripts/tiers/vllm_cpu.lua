--- KV in CPU memory as vLLM's OffloadingConnector keeps it: whole chunks of prompts are copied as soon as they are
--- computed, and a request whose prompt is found there waits until all of it is loaded. Requests after it do not wait.
local policy = require "rooflua.policy"

---@class tiers.VllmCpu: rooflua.Tiers
---@field outputs boolean
---@field store_threshold integer
---@field waits_for_pending boolean
---@field drops_last_chunk boolean
local VllmCpu = policy.define {
  name = "vllm_cpu",
  doc = "vLLM's OffloadingConnector: prompts go to the first store as they are computed, every hit is loaded.",
  source = "vLLM docs/features/kv_offloading_usage.md; "
    .. "vllm/distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py, releases 0.11 to 0.28",
  as_filled = true,
  last_chunk = true,
  flush = true,
  params = {
    outputs = { default = false, doc = "Answers are stored as well, chunk by chunk as they are filled.",
      source = "vLLM offload_prompt_only = true" },
    store_threshold = { default = 0, unit = "requests", min = 0, integer = true,
      doc = "Content is stored once so many requests had it, the present one among them; 0 and 1: at once.",
      source = "vLLM store_threshold, vllm/v1/kv_offload/reuse_manager.py" },
    waits_for_pending = { default = true,
      doc = "A request waits for content that is just arriving in a store.",
      source = "vLLM get_num_new_matched_tokens answers None while a chunk is stored or loaded" },
    drops_last_chunk = { default = false,
      doc = "What is loaded lacks the last chunk that is found: a drafter computes the states of that chunk again.",
      source = "vLLM tests/v1/kv_connector/unit/offloading_connector/test_scheduler.py, TestEagle" },
  },
}

--- Whether the engine counts how many requests had which content.
function VllmCpu:counts() return self.store_threshold > 1 end

--- Whether a request waits while another one loads a chunk that it would load.
function VllmCpu:shares_loads() return self.waits_for_pending end

--- What is loaded of so many tokens that are found: without the last chunk where a drafter loses it, and no less than
--- a chunk.
---@param found rooflua.Found
---@param tokens integer
---@return integer tokens
function VllmCpu:worth(found, tokens)
  if self.drops_last_chunk then tokens = tokens - found.chunk_tokens end
  return tokens >= found.chunk_tokens and tokens or 0
end

---@param found rooflua.Found
---@return integer? tokens
function VllmCpu:load(_, found)
  if found.tokens + found.pending_tokens < found.chunk_tokens then return 0 end
  if self.waits_for_pending and found.pending_tokens > 0 then return nil end
  return self:worth(found, found.tokens)
end

--- Whether a run is stored at all.
---@param run rooflua.StoredRun
function VllmCpu:keeps(run)
  if run.why == "preempted" or not (run.prompt or self.outputs) then return false end
  return self.store_threshold <= 1 or run.uses >= self.store_threshold
end

---@param run rooflua.StoredRun
---@param stores rooflua.Store[]
---@return string? name
function VllmCpu:store(run, stores)
  if self:keeps(run) then return stores[1].name end
end

return VllmCpu
