-- Keys of experts that drift and balancers that move them: what effects_scenes.lua has of them.
local experts = {}

--- Experts that drift and are placed anew all the time.
local function scene(served, more)
  local own = { zipf = 1, drift_steps = 100, update_steps = 20, balancer = require "balancers.swaps" {
    step_interval = 30, window_size = 20 } }
  for key, value in pairs(more or {}) do own[key] = value end
  return served { steps = "kernels", model = "mixtral-8x7b", deployment = { tp = 4, ep = 4 }, experts = own }
end

--- Scenes of balancers, and values of their parameters.
function experts.declare(effects, served)
  for _, name in ipairs { "never", "swaps" } do
    effects.own["balancers." .. name] = { function(one) return scene(served, { balancer = one }) end }
  end
  local early = { step_interval = 40, window_size = 30, host_s = 0.01 }
  effects.own["balancers.eplb"] = { function(one) return scene(served, { balancer = one }) end,
    function(one) return scene(served, { balancer = require("rooflua.policy").with(one, early) }) end }
  effects.values["balancers.eplb.step_interval"] = { 20, 90 }
  effects.values["balancers.eplb.window_size"] = { 7, 100 }
  effects.values["balancers.eplb.layers_per_chunk"] = { 1 }
  effects.values["balancers.eplb.max_utilization"] = { 0 }
  effects.values["balancers.swaps.step_interval"] = { 10 }
  effects.values["balancers.swaps.window_size"] = { 1 }
end

--- Adds the keys: values that change a result.
function experts.add(add, served)
  add(function() return scene(served) end, {
    ["experts.zipf"] = { 2 }, ["experts.drift_steps"] = { 5 }, ["experts.update_steps"] = { 5 },
    ["experts.redundant"] = { 4 }, ["experts.balancer"] = { "never" } })
  add(function()
    local given = scene(served, { drift_steps = false })
    given.experts.drift_steps = nil
    given.experts.update_steps = nil
    return given
  end, { ["experts.drift_tokens"] = { 500 }, ["experts.drift_s"] = { 0.2 } })
  add(function()
    local given = scene(served)
    given.experts.zipf = nil
    given.experts.weights = { 3, 1, 1, 1, 1, 1, 1, 1 }
    return given
  end, { ["experts.weights"] = { { 9, 1, 1, 1, 1, 1, 1, 1 } } })
end

return experts
