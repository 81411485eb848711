--- A step takes longer by the same part of its time for each adapter in it.
local policy = require "rooflua.policy"

---@class corrections.AdapterFactor: rooflua.Correction
---@field factor number
local AdapterFactor = policy.define {
  name = "adapter_factor",
  doc = "Multiplies a step by 1 + factor x its different adapters, for adapters with gemms = false.",
  source = "BLIS (inference-sim) sim/lora/cost_model.go, StepOverheadFactor: factor = K6 / K7 at the largest rank",
  params = {
    factor = { default = 0.0, unit = "1", min = 0, source = "none: BLIS fits K6 and K7 per rank",
      doc = "Part of the step that an adapter adds." },
  },
}

function AdapterFactor:step(batch, time_s) return time_s * (1 + self.factor * batch.adapters) end

return AdapterFactor
