-- The widths of a measured deployment: attention over tp ranks in each of dp copies, experts over moe_tp x ep ranks.
-- Widths are handed to the deployment as soon as it has a key for them. Until it has `ep`, whole experts inside one TP
-- group are priced by a rule of the step model `kernels`; its all-to-all is not what engines do there.
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local widths = {}

--- Note of a run whose experts are priced by the step model's rule.
widths.rule_note = "whole experts priced by the step model's rule expert_parallel"

--- Whether a deployment has a key of that name.
local function takes(name) return schema.entry("deployment." .. name) ~= nil end

--- Why a deployment of these widths cannot be simulated; nil if it can.
--- @param of table {tp, dp, moe_tp, ep}
function widths.refusal(of, model)
  if of.ep > 1 and not model.moe then return "widths: ep of a model without experts" end
  if of.dp > 1 and not takes "dp" then return "widths: dp " .. of.dp end
  if of.ep > 1 and of.moe_tp > 1 and not (takes "ep" and takes "moe_tp") then
    return ("widths: moe_tp %d, ep %d"):format(of.moe_tp, of.ep)
  end
end

--- The keys of a deployment with these widths. Those that are 1 are left out.
function widths.keys(of)
  local out = { tp = of.tp }
  if of.dp > 1 then out.dp = of.dp end
  if of.ep > 1 and takes "ep" then out.ep = of.ep end
  if (out.dp or out.ep) and takes "moe_tp" then out.moe_tp = of.moe_tp end
  return out
end

--- Whether the experts of these widths are priced by the step model's rule.
function widths.by_rule(of) return of.ep > 1 and not takes "ep" end

--- The step model for these widths.
function widths.steps(steps, of)
  if steps.name ~= "kernels" or policy.is_given(steps, "expert_parallel") then return steps end
  if not widths.by_rule(of) then return steps end
  return policy.with(steps, { expert_parallel = true })
end

return widths
