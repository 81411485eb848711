--- Which KV is worth its way to the memory of the host and back?
---
--- Setup     Llama-3.1-8B, bf16, on one H200 with few blocks; conversations that come back late.
--- Method    The same conversations under vLLM's rules for CPU memory, and under those below.
--- Measures  TTFT; which share of the prompts came from where.
--- Expect    What you believe before you look.
--- Limits    What a policy sees and may do: docs/LUA_API.md; the keys of stores: docs/TIERS.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.LongOnes: rooflua.Tiers
---@field least_tokens integer
local LongOnes = policy.define {
  name = "long_ones",
  doc = "Loads what is found if that are many tokens; prompts are stored, answers are not.",
  params = {
    least_tokens = { default = 1024, unit = "tokens", min = 0, integer = true, doc = "Fewer are computed again." },
  },
}

--- Tokens beyond those in the GPU that are loaded; 0 computes all. nil would wait for more content.
---@param found rooflua.Found
---@return integer? tokens
function LongOnes:load(_, found)
  if found.tokens < self.least_tokens then return 0 end
  return found.tokens
end

--- Names of the stores that get a run of content; none without an answer.
---@param run rooflua.StoredRun
---@param stores rooflua.Store[]
---@return string? name
function LongOnes:store(run, stores)
  if run.prompt then return stores[1].name end
end

local function with(tiers)
  return { policy = tiers, stores = { { name = "cpu", capacity_bytes = 40e9 } } }
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "KV in memory of the host: all of it, and long prompts",
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
      { label = "vllm_cpu", value = with(require "tiers.vllm_cpu" {}) },
      { label = "long ones", value = with(LongOnes {}) },
    },
  },
}
return scenario
