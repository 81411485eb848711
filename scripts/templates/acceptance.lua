--- What do drafts save if later ones are accepted less often than the first?
---
--- Setup     Llama-3.1-8B, bf16, on one H200; an EAGLE drafter with four drafts of each request.
--- Method    Requests under the same rate for every place, and under the acceptance below.
--- Measures  Output tokens per second, TPOT, tokens of a round.
--- Expect    What you believe before you look.
--- Limits    Which drafts are accepted is a belief until it is measured; what engines count: docs/LUA_API.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.Fading: rooflua.Acceptance
---@field first number
---@field fading number
---@field places integer
---@field shares number[]?
local Fading = policy.define {
  name = "fading",
  doc = "The first draft is accepted with a probability, each one after it with a part of that before.",
  params = {
    first = { default = 0.75, unit = "1", min = 0, max = 1, doc = "Probability that the first draft is accepted." },
    fading = { default = 0.9, unit = "1", min = 0, max = 1, doc = "Part of it that is left from place to place." },
    places = { default = 8, unit = "drafts", min = 1, max = 64, integer = true, doc = "No draft after these counts." },
  },
}

--- For each place the probability that its draft is accepted if those before it were. `request` and a stream of
--- random numbers of the request are there for what differs between requests.
---@return number[]
function Fading:curve(_, _)
  if not self.shares then
    self.shares = {}
    for j = 1, self.places do self.shares[j] = self.first * self.fading ^ (j - 1) end
  end
  return self.shares
end

local function with(acceptance)
  return {
    speculator = require "speculators.fixed" { draft_tokens = 4 },
    acceptance = acceptance,
    drafter = require "drafters.eagle" {},
  }
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Drafts with one rate, and with a rate that fades",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  workload = require "workloads.poisson" {
    rate_per_s = 4,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  vary = {
    speculation = {
      { label = "0.75 at every place", value = with(require "acceptance.constant" { rate = 0.75 }) },
      { label = "fading", value = with(Fading {}) },
    },
  },
}
return scenario
