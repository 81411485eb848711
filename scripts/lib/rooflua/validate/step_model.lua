-- The one step model of a set whose cases have one answer each.
local beliefs = require "rooflua.validate.beliefs"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"

local step_model = {}

--- Why a set cannot use these names of --steps; nil if it can.
---@param names string[]
---@param what string "measured speculation"
function step_model.refusal(names, what)
  if #names > 1 then return ("%s is compared with one step model, found %d"):format(what, #names) end
  for _, belief in ipairs(beliefs.list()) do
    if belief.name == names[1] and belief.name ~= belief.steps then
      return ("'%s' is for measured cases; %s uses the shipped tables"):format(names[1], what)
    end
  end
end

--- The step model of --steps, with the parameters of --set.
---@param names string[] none or one
---@param parameters table?
function step_model.of(names, parameters)
  local steps = policies.of(Reader.new "validate", "steps", names[1])
  return parameters and policy.with(steps, parameters) or steps
end

return step_model
