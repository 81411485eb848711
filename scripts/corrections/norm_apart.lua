--- All-reduces and the norms after them as kernels of their own, where the prices are those of one kernel for both.
local policy = require "rooflua.policy"

---@class corrections.NormApart
---@field longer_s number
local NormApart = policy.define {
  name = "norm_apart",
  doc = "Adds to each all-reduce in front of a norm what the two take longer as two kernels than as one.",
  source = "an engine that does not fuse all-reduce, residual and norm of a model",
  params = {
    longer_s = {
      default = 11.1e-6, unit = "s", min = 0, max = 1,
      source = "SGLang pull request 19889, which fuses them for Qwen3.5: 21.5 us before, 10.4 us after",
      doc = "What an all-reduce and its norm take longer.",
    },
  },
}

NormApart.reads_work = false -- of an operation: shape, flop, bytes, mfu and bound are not made

--- It never makes a price lower, so that lower bounds of plans hold.
NormApart.lengthens = true

--- Names of all-reduces that a norm follows.
local before_norms = { attention_all_reduce = true, mlp_all_reduce = true }

function NormApart:op(op, time_s)
  return before_norms[op.name] and time_s + self.longer_s or time_s
end

return NormApart
