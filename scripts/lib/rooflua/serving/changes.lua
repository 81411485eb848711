--- The KEY=VALUE arguments of :set and :fork: reading and completing them.
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"
local policies = require "rooflua.scenario.policies"
local Reader = require "rooflua.scenario.reader"
local serve = require "rooflua.serving.live"

local changes = {}

local function fail(message, ...) error(message:format(...), 0) end

local function value_of(text)
  if text == "true" or text == "false" then return text == "true" end
  return tonumber(text) or text
end

--- The policies that can be changed, by their names.
local function policies_of(live)
  local own = serve.state(live).replicas[1]
  return { scheduler = own.scheduler, steps = own.prepared.step_policy,
    speculator = own.speculation and own.speculation.speculator or nil }
end

--- Turns "scheduler=sjf", "scheduler.max_num_seqs=8", "steps=roofline_v2:reviewed" into the table that live:set takes.
function changes.of(live, arguments)
  local now, out = policies_of(live), {}
  for _, each in ipairs(arguments) do
    local key, value = each:match "^([%w_.]+)=(.+)$"
    local which, parameter = (key or ""):match "^(%a+)%.?([%w_]*)$"
    if not which or not now[which] then
      fail("expected scheduler=NAME, steps=NAME or scheduler.PARAMETER=VALUE, found '%s'", each)
    end
    if parameter == "" then
      out[which] = value
    else
      local base = out[which]
      if type(base) == "string" then base = policies.of(Reader.new "set", which, base) end
      out[which] = policy.with(base or now[which], { [parameter] = value_of(value) })
    end
  end
  return out
end

--- Arguments of :set to complete: "scheduler=", "scheduler.max_num_seqs=", ...
function changes.settable(session)
  local live, out = session.lives[session.current], { "scheduler=", "steps=" }
  if not live then return out end
  local now = policies_of(live)
  if now.speculator then out[#out + 1] = "speculator=" end
  for slot, instance in pairs(now) do
    for _, name in ipairs(core.sorted_keys(policy.parameters(instance))) do
      out[#out + 1] = ("%s.%s="):format(slot, name)
    end
  end
  table.sort(out)
  return out
end

return changes
