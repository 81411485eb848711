--- In which order should candidates be simulated so that few runs do?
---
--- Setup     Llama-3.1-8B, bf16, vLLM; up to 8 H100 or H200, at the prices below.
--- Method    Short runs of all candidates, then full runs of the best ones, as below.
--- Measures  Dollars per hour, among deployments that hold `slo`; how many runs that took.
--- Expect    What you believe before you look.
--- Limits    What a strategy sees: docs/PLANNER.md; the truth to compare it with: strategies.exhaustive.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.TwoRounds
---@field kept integer
---@field short number
local TwoRounds = policy.define {
  name = "two_rounds",
  doc = "Short runs of all, full runs of those that score least.",
  params = {
    kept = { default = 4, unit = "candidates", min = 1, integer = true, doc = "Of the second round." },
    short = { default = 0.3, unit = "1", min = 0, max = 1, exclusive_min = true, doc = "Part of a full run." },
  },
}

local function by_score(a, b)
  if a.score ~= b.score then return a.score < b.score end
  return a.candidate < b.candidate
end

--- The next runs {candidate, requests}; nil: the search is over. Asked again when they have ended.
---@param state table candidates, results, requests
---@return table[]?
function TwoRounds:next(state)
  local asks = {}
  if #state.results == 0 then
    local requests = math.max(10, math.floor(self.short * state.requests))
    for i, each in ipairs(state.candidates) do asks[i] = { candidate = each.index, requests = requests } end
    return asks
  end
  if #state.results > #state.candidates then return nil end
  local order = {}
  for i, result in ipairs(state.results) do
    order[i] = { candidate = result.candidate, score = result.score or math.huge }
  end
  table.sort(order, by_score)
  for i = 1, math.min(self.kept, #order) do
    asks[i] = { candidate = order[i].candidate, requests = state.requests }
  end
  return asks
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "plan",
  title = "The cheapest deployment, in two rounds",
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
    strategy = TwoRounds {},
  },
}
return scenario
