--- What do clients that give up and try again do to a server?
---
--- Setup     Llama-3.1-8B, bf16, on one H200 with few seats; bursts.
--- Method    The same requests of patient clients, and of the clients below.
--- Measures  Answers that came, attempts, output tokens that nobody read.
--- Expect    What you believe before you look.
--- Limits    What a client sees of an attempt that failed: rooflua help Ending.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.Hasty: rooflua.Client
---@field first_token_s number
---@field retries integer
---@field delay_s number
local Hasty = policy.define {
  name = "hasty",
  doc = "It waits some seconds for the first token, and sends its request again after a pause.",
  params = {
    first_token_s = { default = 3, unit = "s", min = 0, doc = "How long it waits for the first token." },
    retries = { default = 2, unit = "retries", min = 0, max = 1000, integer = true, doc = "How often it tries again." },
    delay_s = { default = 1, unit = "s", min = 0, doc = "Pause before a retry." },
  },
}

--- Seconds from sending to the first and to the last token; nil: it waits for ever.
---@return number? first_token_s, number? total_s
function Hasty:patience(_, _) return self.first_token_s, nil end

--- Seconds until the request is sent again; nil: the client gives up.
---@param ending rooflua.Ending
---@return number? delay_s
function Hasty:again(_, ending, _)
  if ending.attempt >= self.retries then return nil end
  return self.delay_s
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Patient clients and hasty ones",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 32 },
  workload = require "workloads.burst" {
    rate_per_s = 2,
    burst_rate_per_s = 40,
    period_s = 20,
    burst_s = 4,
    num_requests = 400,
    prompt_tokens = 2000,
    output_tokens = 150,
  },
  vary = { client = { "patient", Hasty {} } },
}
return scenario
