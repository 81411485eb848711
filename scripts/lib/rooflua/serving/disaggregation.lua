-- How prefill and decode replicas work together: the key `disaggregation` of a scenario.
local policies = require "rooflua.scenario.policies"
local routing = require "rooflua.border.routing"
local schema = require "rooflua.scenario.schema"

local disaggregation = {}

--- The replicas that have a role, by role.
local function count_roles(list)
  local out = { both = 0, prefill = 0, decode = 0 }
  for _, each in ipairs(list) do out[each.config.role] = out[each.config.role] + 1 end
  return out
end

--- What the engine models of the chosen settings for these replicas.
local function check_replicas(reader, group, list)
  for i, each in ipairs(list) do
    if group.order == "decode_first" and each.config.role == "both" then
      reader:fail("order", "decode_first needs replicas of the roles prefill and decode only, and replica %d is of the "
        .. "role both", i)
    end
    if group.push == "layers" and each.config.role == "prefill" and each.deployment.pp > 1 then
      reader:fail("push", "layers is not modelled with stages of pp (replica %d); chunks is", i)
    end
  end
end

--- Settings that change nothing are errors.
local function check_effects(reader, group)
  if group.decider ~= nil and group.order ~= "decode_first" then
    reader:fail("decider", "nothing is decided with order = \"prefill_first\"; say order = \"decode_first\"")
  end
  if group.lease_s == 0 then reader:fail("lease_s", "found 0; a time above 0 is right, or leave it out") end
end

--- {config, decider}: what the engine reads, and the decider; nil where every prompt is split. Of a scenario without
--- the key, or without prefill replicas, both are nil.
---@param list table of replicas.of
function disaggregation.of(reader, given, list)
  local inside, group = reader:child "disaggregation", schema.check_group(reader, "disaggregation", given)
  if group.decider ~= nil then policies.with_method(inside, "decider", group.decider, "split") end
  if given == nil or count_roles(list).prefill == 0 then return {} end
  check_effects(inside, group)
  check_replicas(inside, group, list)
  local decider
  if group.order == "decode_first" then
    local given_or_default = group.decider or schema.entry("disaggregation.decider").default
    decider = policies.with_method(inside, "decider", given_or_default, "split")
    inside:at("decider", routing.declared, decider)
  end
  return { config = { order = group.order, push = group.push, lease_s = group.lease_s }, decider = decider }
end

return disaggregation
