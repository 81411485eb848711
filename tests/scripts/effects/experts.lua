-- Keys of experts that drift and balancers that move them: what scenes.lua has of them.
local experts = {}

--- Experts that drift and are placed anew all the time, on GPUs of two nodes.
local function scene(served, more)
  local own = { zipf = 1, drift_steps = 100, update_steps = 10, redundant = 8, balancer = require "balancers.swaps" {
    step_interval = 30, window_size = 20 } }
  for key, value in pairs(more or {}) do own[key] = value or nil end
  return served { steps = "kernels", model = "mixtral-8x7b", router = "round_robin",
    deployment = { dp = 2, tp = 8, ep = 8 }, experts = own }
end

--- Scenes of balancers, and values of their parameters.
function experts.declare(effects, served)
  for _, name in ipairs { "eplb", "never", "swaps" } do
    effects.own["balancers." .. name] = { function(one)
      return scene(served, { balancer = one })
    end }
  end
  effects.needs["balancers.eplb"] = { step_interval = 40, window_size = 30, head_start = 0.5, use_async = "no" }
  effects.needs["balancers.swaps"] = { step_interval = 30, window_size = 20 }
  effects.values["balancers.eplb.groups"] = { 2, 4 }
  effects.values["balancers.eplb.layers_per_chunk"] = { 1 }
  effects.values["balancers.eplb.max_utilization"] = { 0 }
end

--- Adds the keys: values that change a result.
function experts.add(add, served)
  add(function() return scene(served) end, {
    ["experts.zipf"] = { 2 }, ["experts.drift_steps"] = { 5 }, ["experts.update_steps"] = { 5 },
    ["experts.redundant"] = { 0 }, ["experts.balancer"] = { "never" } })
  add(function() return scene(served, { drift_steps = false, drift_tokens = 1e6 }) end,
    { ["experts.drift_tokens"] = { 5000 } })
  add(function() return scene(served, { drift_steps = false, drift_s = 1e3 }) end, { ["experts.drift_s"] = { 0.5 } })
  add(function() return scene(served, { zipf = false, weights = { 3, 1, 1, 1, 1, 1, 1, 1 } }) end,
    { ["experts.weights"] = { { 9, 1, 1, 1, 1, 1, 1, 1 } } })
end

return experts
