--- What should leave the memory of the host first when it is full?
---
--- Setup     Llama-3.1-8B, bf16, on one H200 with few blocks, and a store that holds a part of the conversations.
--- Method    The same conversations under the order of last use, and under the order below.
--- Measures  TTFT; the share of prompt tokens that came from the store.
--- Expect    What you believe before you look.
--- Limits    What a block says of itself: rooflua help StoredBlock; the keys of stores: docs/TIERS.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.FewUses: rooflua.Eviction
---@field use_s number
local FewUses = policy.define {
  name = "few_uses",
  doc = "The least recently used leaves first; each use counts as some seconds.",
  params = { use_s = { default = 30, unit = "s", min = 0, doc = "By which a use delays that content leaves." } },
}

--- What has the lowest key leaves first. Asked when content is put, used or released.
---@param block rooflua.StoredBlock
---@return number key
function FewUses:key(block) return block.used_s + self.use_s * block.uses end

local function with(eviction)
  return { policy = require "tiers.vllm_cpu" {},
    stores = { { name = "cpu", capacity_bytes = 6e9, eviction = eviction } } }
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "A full store: last use, and uses",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  deployment = { kv_blocks = 2000, max_model_len = 16384 },
  workload = require "workloads.multi_turn" {
    sessions = 60,
    session_rate_per_s = 1,
    turns = 5,
    think_time_s = 20,
    prompt_tokens = 1500,
    output_tokens = 150,
  },
  vary = {
    tiers = {
      { label = "lru", value = with(require "eviction.lru" {}) },
      { label = "few uses", value = with(FewUses {}) },
    },
  },
}
return scenario
