--- What the engine asks of faults.
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"

local faulting = {}

local known = { time_s = true, replica = true, kind = true, for_s = true, factor = true }

local function wrong(instance, message, ...)
  answers.wrong("faults", instance, "next", "next(now_s, replicas): " .. message, ...)
end

local function check(instance, fault, now_s, replicas)
  if type(fault) ~= "table" then wrong(instance, "expected a fault or nil, found %s", core.describe(fault)) end
  for key in pairs(fault) do
    if not known[key] then
      wrong(instance, "%s", core.unknown_name("field of a fault", tostring(key), core.sorted_keys(known)))
    end
  end
  if fault.kind ~= "fail" and fault.kind ~= "slow" then
    wrong(instance, "kind: expected 'fail' or 'slow', found %s", core.describe(fault.kind))
  end
  if type(fault.time_s) ~= "number" or not (fault.time_s >= now_s and fault.time_s < math.huge) then
    wrong(instance, "time_s: expected seconds from %g on, found %s", now_s, core.describe(fault.time_s))
  end
  local replica = fault.replica
  if type(replica) ~= "number" or replica % 1 ~= 0 or replica < 1 or replica > replicas then
    wrong(instance, "replica: expected a number from 1 to %d, found %s", replicas, core.describe(replica))
  end
  if fault.for_s ~= nil and (type(fault.for_s) ~= "number" or not (fault.for_s >= 0)) then
    wrong(instance, "for_s: expected seconds from 0 on, or nil: for ever; found %s", core.describe(fault.for_s))
  end
  local factor = fault.factor
  if fault.kind == "slow" and (type(factor) ~= "number" or not (factor > 0 and factor < math.huge)) then
    wrong(instance, "factor: expected a number above 0, found %s", core.describe(factor))
  end
end

--- next(now_s, replicas) -> time_s, replica from 0, whether it is slow, for_s, factor; nil: there is none.
function faulting.next_of(instance)
  return function(now_s, replicas)
    local fault = instance:next(now_s, replicas)
    if fault == nil then return nil end
    check(instance, fault, now_s, replicas)
    return fault.time_s, fault.replica - 1, fault.kind == "slow", fault.for_s or math.huge, fault.factor or 1
  end
end

return faulting
