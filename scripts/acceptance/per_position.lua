--- Acceptance as engines publish it: S_j, the share of rounds in which draft j and all before it are accepted.
---
---     a_j = S_j / S_(j-1)          what the engine draws with: draft j is accepted if those before it were
---     logit a_j + c_j + z          with `spread` > 0; z is one normal number of the request, with that deviation
---
--- The shifts c_j are chosen so that the mean of S_j over requests is the published one.
local policy = require "rooflua.policy"
local curves = require "acceptance.curves.spread"

---@class acceptance.PerPosition: rooflua.Acceptance
---@field rates number[]
---@field spread number
---@field scope string
local PerPosition = policy.define {
  name = "per_position",
  doc = "Shares of rounds that accept at least j drafts, as engines publish them (S_j).",
  source = "vLLM spec_decode metrics: acceptance rate per position",
  params = {
    rates = { default = { 0.6, 0.36, 0.17 }, unit = "1", source = "EAGLE-3 of gpt-oss-120b on random prompts, rounded",
      doc = "S_1, S_2, ...: unconditional, never rising. Drafts after the list are not accepted." },
    spread = { default = 0, unit = "1", min = 0, max = 5,
      doc = "Deviation between requests, of the logits of all shares; 0 = every request has the mean.",
      source = "0: the published mean only" },
    scope = { default = "request", values = { "request", "step" },
      doc = "request: every row draws; step: one draw for the whole batch, as engines simulate acceptance.",
      source = "SGLANG_SIMULATE_ACC_LEN, TensorRT-LLM: step" },
  },
}

---@param rng rooflua.RandomStream of the request
---@return number[] a_1, a_2, ...
function PerPosition:curve(_, rng)
  if not self.shares then self.shares = curves.conditional(self.rates, "per_position.rates") end
  if self.spread == 0 then return self.shares end
  if not self.shifts then self.shifts = curves.shifts(self.rates, self.spread) end
  return curves.drawn(self.shares, self.shifts, rng:normal(0, self.spread))
end

return PerPosition
