-- The gate in front of the router: the key `admission` of a scenario.
local gate_rules = require "rooflua.border.gate_rules"
local policies = require "rooflua.scenario.policies"
local routing = require "rooflua.border.routing"

local admission = {}

--- Limits of classes as deadlines, by class from 0.
local function class_deadlines(reader, slo, class_slo)
  local out, most = {}, -1
  for _, each in ipairs(class_slo) do
    local class = tonumber(each.class)
    if not class then
      reader:fail("admission", "slo_deadline needs the numbers of classes; found slo.classes.%s", each.class)
    end
    out[class + 1], most = each.ttft_s or slo.ttft_s or 0, math.max(most, class)
  end
  for i = 1, most + 1 do out[i] = out[i] or slo.ttft_s or 0 end
  return out
end

--- Deadlines out of the limits of the scenario: {by_class, of_all}; nil where the policy asks for none.
local function deadlines_of(reader, instance, slo, class_slo)
  if not instance.slo_deadline then return nil end
  local classes = class_deadlines(reader, slo, class_slo)
  if not slo.ttft_s and #classes == 0 then
    reader:fail("admission", "slo_deadline: the scenario's slo has no ttft_s")
  end
  return { by_class = classes, of_all = instance.deadline_s == 0 and slo.ttft_s or nil }
end

--- Settings that change nothing, or that need others.
local function check(reader, instance)
  local rules = reader:at("admission", gate_rules.of, instance)
  if rules.credit and rules.staleness_s == 0 then
    reader:fail("admission", "credit changes nothing with staleness_s = 0")
  end
  if rules.most > 0 and rules.interval_s == 0 then
    reader:fail("admission", "most needs interval_s above 0")
  end
end

--- The policy of the gate, and deadlines that the scenario gives it; nil: there is none.
function admission.of(reader, given, slo, class_slo)
  if given == nil then return nil end
  local instance = policies.with_method(reader, "admission", given, "admit")
  reader:at("admission", routing.declared, instance)
  check(reader, instance)
  return instance, deadlines_of(reader, instance, slo, class_slo)
end

--- A fresh instance knows the deadlines.
function admission.tell(instance, deadlines)
  instance.class_deadline_s, instance.slo_deadline_s = deadlines.by_class, deadlines.of_all
end

return admission
