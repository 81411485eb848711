-- The policies around the engines of a simulation, one of a kind: {decider, admission, client, faults, experts}; and a
-- list, {autoscalers}, one of a pool. The engine gets them as one table.
local admission = require "rooflua.serving.admission"
local policy = require "rooflua.policy"
local running = require "rooflua.machine.experts.running"

local surroundings = {}

--- Fresh instances of those that the pieces of a scenario have, started; nil where there are none.
---@param all table pieces.of
---@param source any? what its requests come from; nil: nothing runs
function surroundings.of(all, source)
  local out = {}
  for name, given in pairs { decider = all.disaggregation.decider, admission = all.admission, client = all.client,
    faults = all.faults } do
    local instance = policy.fresh(given)
    if name == "admission" and all.gate_deadlines then admission.tell(instance, all.gate_deadlines, source) end
    if instance.start then instance:start(all.streams) end
    out[name] = instance
  end
  for i, given in ipairs(all.pools and all.pools.policies or {}) do
    local instance = policy.fresh(given)
    if instance.start then instance:start(all.streams) end
    out.autoscalers = out.autoscalers or {}
    out.autoscalers[i] = instance
  end
  out.encoder = all.encoder
  if all.experts then out.experts = running.new(all.experts.shapes, all.experts.process, all.experts.balancer) end
  return next(out) and out
end

--- The same with each replaced by change(policy); nil stays.
function surroundings.changed(own, change)
  if not own then return nil end
  local out = {}
  for name, each in pairs(own) do
    if name == "autoscalers" then
      out[name] = {}
      for i, one in ipairs(each) do out[name][i] = change(one) end
    else
      out[name] = change(each)
    end
  end
  return out
end

return surroundings
