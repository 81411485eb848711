-- What the links between GPUs add to collectives, by their hardware: the network between nodes, the bus of a host.
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"

local links = {}

--- Names of the corrections that a scenario has.
local function named(given)
  local out = {}
  for _, each in ipairs(type(given) == "table" and core.plain(given) or {}) do
    local is_policy = policy.is_instance(each) or policy.is_class(each)
    out[is_policy and policy.definition(each).name or each] = true
  end
  return out
end

--- Corrections that follow from where the ranks of a replica stand, beside those that the scenario has.
---@param facts table {hardware, tp, dp}
---@param given any the scenario's corrections
---@return rooflua.Policy[], string? sentence about ranks of several nodes
function links.of(reader, facts, given)
  local hardware, ranks = facts.hardware, (facts.tp or 1) * (facts.dp or 1)
  if not hardware or ranks < 2 then return {}, nil end
  local out, has, note = {}, named(given), nil
  local is_apart = ranks > hardware.domain_gpus
  if is_apart and hardware.network_bytes_per_s > 0 then
    if not has.network then
      out[1] = policies.of(reader, "corrections", "network")
      note = ("collectives of %d ranks cross the network between nodes of %d GPUs (corrections.network); no deployment "
        .. "behind the intervals does"):format(ranks, hardware.domain_gpus)
    end
  elseif is_apart then
    note = ("collectives of %d ranks are priced as in one node: nodes have %d GPUs, and %s states no network "
      .. "(network_gb_per_s)"):format(ranks, hardware.domain_gpus, hardware.name)
  end
  if hardware.shares_bus and not has.host_bus then out[#out + 1] = policies.of(reader, "corrections", "host_bus") end
  return out, note
end

return links
