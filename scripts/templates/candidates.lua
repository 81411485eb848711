--- Which deployment is best among those that I can run?
---
--- Setup     Llama-3.1-8B, bf16, vLLM; up to 8 H100 or H200, at the prices below.
--- Method    The deployments that the generator below emits; what cannot win is left out by bounds.
--- Measures  Dollars per hour, among deployments that hold `slo`.
--- Expect    What you believe before you look.
--- Limits    What a candidate may have: rooflua help candidates.ladder; a plan: docs/PLANNER.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.Doubled
---@field seats integer
local Doubled = policy.define {
  name = "doubled",
  doc = "Seats grow with the GPUs of a replica.",
  params = { seats = { default = 64, unit = "requests", min = 1, integer = true, doc = "Of a replica on one GPU." } },
}

--- Hands every candidate to `emit`. `question` has model, gpus, slo and more.
---@param question table
---@param emit fun(candidate: table)
function Doubled:each(question, emit)
  for gpu in ipairs(question.gpus) do
    for _, tp in ipairs { 1, 2, 4 } do
      emit { gpu = gpu, tp = tp, max_num_seqs = self.seats * tp }
    end
  end
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "plan",
  title = "The cheapest of the deployments that we run",
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
    candidates = Doubled {},
  },
}
return scenario
