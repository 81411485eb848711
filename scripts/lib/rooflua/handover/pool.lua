-- The pool of a scenario whose autoscaler is handed over: the only one of that kind.
local core = require "rooflua.base.core"
local quoting = require "rooflua.text.quoting"
local settings = require "rooflua.handover.settings"

local pool = {}

--- @param format string of --write
--- @param names table<string, true> autoscalers that the format can express
--- @return table pool, table settings of its autoscaler
function pool.of(format, policies, names)
  local found
  for _, each in ipairs(policies.pools) do
    if each.autoscaler and not each.autoscaler.own and names[each.autoscaler.name] then
      if found then core.fail("--write %s: two pools have such an autoscaler; a file is of one", format) end
      found = each
    end
  end
  if not found then
    core.fail("--write %s: no pool has the autoscaler %s; give replicas = { { max = N, autoscaler = \"%s\" } }", format,
      core.join(core.sorted_keys(names), " or "), core.sorted_keys(names)[1])
  end
  return found, settings.of(format, "autoscaler", found.autoscaler)
end

--- The name of its Deployment, as `rooflua plan --write` has it.
function pool.deployment(policies, own)
  return quoting.name(policies.model, "model", own.role and own.role ~= "both" and "-" .. own.role or "")
end

return pool
