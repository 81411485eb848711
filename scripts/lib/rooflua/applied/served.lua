-- A scenario as one replica of it sees it: with the keys that follow from its engine, and its scheduler and its
-- deployment under the same limits. What divides the memory and what runs begin with this.
local application = require "rooflua.applied.application"
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"
local specs = require "rooflua.border.specs"

local served = {}

local limits = { "max_num_seqs", "max_num_batched_tokens" }

--- The scheduler under the limits of the deployment. It takes those that it leaves open; one that asks for more is
--- refused, because the memory is divided for less.
local function within_deployment(reader, scheduler, deployment)
  local own, taken = policy.parameters(scheduler), {}
  for _, key in ipairs(limits) do
    local limit, asked = core.plain(deployment)[key], own[key]
    if type(limit) == "number" and type(asked) == "number" and (asked > limit or asked == 0) then
      if policy.is_given(scheduler, key) then
        reader:fail("deployment." .. key, "%.14g is less than the %.14g of the scheduler %s; give one of them only",
          limit, asked, scheduler.name)
      end
      taken[key] = limit
    end
  end
  if next(taken) == nil then return scheduler end
  return reader:at("deployment", policy.with, scheduler, taken)
end

local own_of_serving = schema.read_by("deployment", "serving.replicas")

--- The limits that the engine holds: those of the scheduler, and the deployment's where the scheduler declares none.
local function limits_of(parameters, deployment)
  local out = {}
  for _, key in ipairs(limits) do out[key] = parameters[key] or core.plain(deployment)[key] or 0 end
  return out
end

--- The keys of a deployment, divided into those that only serving reads and the others. The limits of the scheduler are
--- among the others.
local function divided(reader, given, parameters)
  local serving, options = {}, {}
  for _, key in ipairs(limits) do options[key] = parameters[key] end
  for key, value in pairs(given) do
    local part = own_of_serving[key] and serving or options
    part[key] = value
  end
  if serving.pp_batches and serving.pp_batches > 1 and (options.pp or 1) == 1 then
    reader:fail("deployment.pp_batches", "there is one stage; give pp as well, or leave it out")
  end
  return serving, options
end

--- The scenario as one replica sees it: what the replica says stands before what the scenario says, and the limits
--- of its scheduler are in its deployment.
---@param own table what the replica says of itself
---@return table merged, table scheduler, table held limits, table serving keys of the deployment that only serving
---  reads, table applied of application.of, with `scheduler` and `serving`
function served.of(reader, given, own)
  local merged = core.copy(given, own)
  local applied = application.of(reader, merged, true)
  merged = applied.given
  local scheduler, deployment = policies.with_method(reader, "scheduler", merged.scheduler, "plan"), merged.deployment
  local is_object, serving = specs.is(deployment, "Deployment"), {}
  if not is_object then deployment = schema.check_group(reader, "deployment", deployment) end
  scheduler = within_deployment(reader, scheduler, deployment)
  local parameters = policy.parameters(scheduler)
  if not is_object then serving, merged.deployment = divided(reader, deployment, parameters) end
  applied.given, applied.scheduler, applied.serving = merged, scheduler, serving
  return merged, scheduler, limits_of(parameters, deployment), serving, applied
end

return served
