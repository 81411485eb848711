-- The gate in front of the router: the key `admission` of a scenario.
local gate_rules = require "rooflua.border.gate_rules"
local policies = require "rooflua.scenario.policies"
local routing = require "rooflua.border.routing"

local admission = {}

--- Deadlines out of the limits of the scenario: {of_classes, of_all, default}; nil where the policy asks for none.
local function deadlines_of(reader, instance, slo, class_slo)
  if not instance.slo_deadline then return nil end
  if not slo.ttft_s and #class_slo == 0 then
    reader:fail("admission", "slo_deadline: the scenario's slo has no ttft_s")
  end
  return { reader = reader, of_classes = class_slo, of_all = instance.deadline_s == 0 and slo.ttft_s or nil,
    default = slo.ttft_s or 0 }
end

--- The number of a class, from 0; nil where the workload has none of this name, which is an error of slo.classes.
local function number_of(deadlines, class, source)
  if tonumber(class) then return tonumber(class) end
  if type(source) ~= "table" then
    deadlines.reader:fail("admission", "slo_deadline needs the numbers of the classes of this workload; found "
      .. "slo.classes.%s", class)
  end
  for i, name in ipairs(source.classes or {}) do
    if name == class then return i - 1 end
  end
end

--- Limits of classes as deadlines, by class from 0.
local function class_deadlines(deadlines, source)
  local out, most = {}, -1
  for _, each in ipairs(deadlines.of_classes) do
    local class = number_of(deadlines, each.class, source)
    if class then out[class + 1], most = each.ttft_s or deadlines.default, math.max(most, class) end
  end
  for i = 1, most + 1 do out[i] = out[i] or deadlines.default end
  return out
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
---@param source any what the workload's requests come from: a table may name its classes. nil: nothing runs
function admission.tell(instance, deadlines, source)
  instance.slo_deadline_s = deadlines.of_all
  if source ~= nil then instance.class_deadline_s = class_deadlines(deadlines, source) end
end

return admission
