--- Tensor parallelism whose speed-up is smaller than its number of ranks.
local policy = require "rooflua.policy"

---@class corrections.TpScaling
---@field tp integer
---@field exponent number
---@field decode_exponent number
local TpScaling = policy.define {
  name = "tp_scaling",
  doc = "A step on tp ranks takes tp^(1 - exponent) times what perfect scaling gives.",
  source = "inference-sim before 487017bc, calibrated roofline: speed-up tp^0.68 in prefill, tp^1 in decode",
  params = {
    tp = { default = 0, unit = "ranks", min = 0, integer = true, doc = "Ranks; 0 = those of the deployment." },
    exponent = {
      default = 0.68, unit = "1", min = 0, max = 1, source = "inference-sim before 487017bc",
      doc = "Speed-up is tp^exponent in steps with a prefill.",
    },
    decode_exponent = {
      default = 1.0, unit = "1", min = 0, max = 1, source = "inference-sim before 487017bc",
      doc = "Speed-up is tp^decode_exponent in steps of decodes alone.",
    },
  },
}

function TpScaling:bind(context)
  self.ranks = self.tp > 0 and self.tp or context.deployment.tp
end

function TpScaling:step(batch, time_s)
  local exponent = #batch.prefills > 0 and self.exponent or self.decode_exponent
  return time_s * self.ranks ^ (1 - exponent)
end

return TpScaling
