--- Decodes whose layers are CUDA graphs each, with attention between them: every layer is launched by the host.
local policy = require "rooflua.policy"

---@class corrections.PiecewiseGraphs
---@field layer_s number
local PiecewiseGraphs = policy.define {
  name = "piecewise_graphs",
  doc = "Adds to steps without prompts what each layer takes longer where a step is one graph a layer, and not one.",
  source = "an engine that captures decodes piecewise; steps with prompts are so with both kinds of graphs",
  params = {
    layer_s = {
      default = 18e-6, unit = "s", min = 0, max = 1,
      source = "vLLM pull request 20059, 28 layers, 1 to 10 requests/s: medians of TPOT of 5.42, 5.69 and 6.12 ms, and "
        .. "of 5.02, 5.09 and 5.39 with full graphs: 14, 21 and 26 us a layer; pull request 51167, 58 layers: 5.87 and "
        .. "4.97 ms, 16 us. Pull request 25444 has 120 us for a model of experts, which nothing explains",
      doc = "What a layer takes longer.",
    },
  },
}

--- It never makes a price lower, so that lower bounds of plans hold.
PiecewiseGraphs.lengthens = true

function PiecewiseGraphs:bind(context)
  self.longer_s = self.layer_s * context.model.layers / (context.deployment.pp or 1)
end

function PiecewiseGraphs:step(batch, time_s)
  if #batch.prefills > 0 then return time_s end
  return time_s + self.longer_s
end

return PiecewiseGraphs
