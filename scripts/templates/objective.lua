--- Which deployment is best if dollars are not all that counts?
---
--- Setup     Llama-3.1-8B, bf16, vLLM; up to 8 H100 or H200, at the prices below.
--- Method    The same candidates as in a plan of least cost, compared by the objective below.
--- Measures  The score, among deployments that hold `slo`; less is better.
--- Expect    What you believe before you look.
--- Limits    Figures of a result: docs/PLANNER.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.CostAndRoom
---@field gpu_dollars number
local CostAndRoom = policy.define {
  name = "cost_and_room",
  doc = "Dollars per hour, and what the place of a GPU is worth.",
  params = { gpu_dollars = { default = 0.5, unit = "$", min = 0, doc = "Worth of the place of a GPU, per hour." } },
}

---@param result table cost_per_hour, gpus, output_tokens_per_s, joules_per_token, ...
---@return number score lower is better
function CostAndRoom:score(result) return result.cost_per_hour + self.gpu_dollars * result.gpus end

--- No deployment within the bounds scores less; without this method every candidate is simulated.
---@param bounds table least cost_per_hour and gpus
---@return number score
function CostAndRoom:floor(bounds) return bounds.cost_per_hour + self.gpu_dollars * bounds.gpus end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "plan",
  title = "The cheapest deployment, with a price of room",
  seed = 1,
  model = "llama-3.1-8b",
  engine = "vllm 0.24",
  workload = require "workloads.poisson" {
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  plan = {
    load = { rate_per_s = 20 },
    slo = { ttft_s_p99 = 1, tpot_s_p99 = 0.05 },
    gpus = { { "h100-sxm", most = 8, price_per_hour = 3 }, { "h200-sxm", most = 8, price_per_hour = 4 } },
    requests = 300, -- of a full run
    replicates = 0, -- 40 say how sure the answer is
    candidates = require "candidates.ladder" { tp = { 1, 2 }, max_num_seqs = { 64, 256 } },
    objective = CostAndRoom {},
  },
}
return scenario
