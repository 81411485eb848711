--- What the engine asks of faults.
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"

local faulting = {}

-- In the order of the engine.
local kinds = { fail = 0, slow = 1, link = 2 }
local known = { time_s = true, replica = true, kind = true, for_s = true, factor = true, link = true }

local function wrong(instance, message, ...)
  answers.wrong("faults", instance, "next", "next(now_s, replicas): " .. message, ...)
end

local function check_factor(instance, fault)
  local factor, is_link = fault.factor, fault.kind == "link"
  if fault.kind == "fail" then return end
  local right = type(factor) == "number" and (is_link and factor >= 0 and factor <= 1
    or not is_link and factor > 0 and factor < math.huge)
  if not right then
    wrong(instance, "factor: expected a number %s, found %s", is_link and "from 0 to 1" or "above 0",
      core.describe(factor))
  end
end

local function check_place(instance, fault, replicas)
  local replica = fault.replica
  if fault.kind == "link" then
    if type(fault.link) ~= "string" then
      wrong(instance, "link: expected the name of one of `links`, found %s", core.describe(fault.link))
    end
    if replica == nil then return end
  elseif fault.link ~= nil then
    wrong(instance, "link changes nothing of kind '%s'; kind = 'link' is right", fault.kind)
  end
  if type(replica) ~= "number" or replica % 1 ~= 0 or replica < 1 or replica > replicas then
    wrong(instance, "replica: expected a number from 1 to %d, found %s", replicas, core.describe(replica))
  end
end

local function check(instance, fault, now_s, replicas)
  if type(fault) ~= "table" then wrong(instance, "expected a fault or nil, found %s", core.describe(fault)) end
  for key in pairs(fault) do
    if not known[key] then
      wrong(instance, "%s", core.unknown_name("field of a fault", tostring(key), core.sorted_keys(known)))
    end
  end
  if not kinds[fault.kind] then
    wrong(instance, "kind: expected 'fail', 'slow' or 'link', found %s", core.describe(fault.kind))
  end
  if type(fault.time_s) ~= "number" or not (fault.time_s >= now_s and fault.time_s < math.huge) then
    wrong(instance, "time_s: expected seconds from %g on, found %s", now_s, core.describe(fault.time_s))
  end
  if fault.for_s ~= nil and (type(fault.for_s) ~= "number" or not (fault.for_s >= 0)) then
    wrong(instance, "for_s: expected seconds from 0 on, or nil: for ever; found %s", core.describe(fault.for_s))
  end
  check_place(instance, fault, replicas)
  check_factor(instance, fault)
end

--- next(now_s, replicas) -> time_s, replica from 0 (-1: all wires of a link), kind, for_s, factor, link; nil: there is
--- none.
function faulting.next_of(instance)
  return function(now_s, replicas)
    local fault = instance:next(now_s, replicas)
    if fault == nil then return nil end
    check(instance, fault, now_s, replicas)
    return fault.time_s, (fault.replica or 0) - 1, kinds[fault.kind], fault.for_s or math.huge, fault.factor or 1,
      fault.link
  end
end

return faulting
