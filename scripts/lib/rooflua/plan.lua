--- Which GPUs, how many, at what cost: scenarios of kind "plan" from Lua.
local core = require "rooflua.base.core"
local answer = require "rooflua.plan.run"
local runs = require "rooflua.explore.runs"

local plan = {}

--- The answer to a scenario of kind "plan": its document, with the text.
function plan.run(given)
  local rest = {}
  for key, value in core.sorted_pairs(core.table(given, "plan.run")) do rest[key == 1 and "scenario" or key] = value end
  core.check_keys(rest, { "scenario", "jobs", "progress" }, "plan.run")
  if rest.scenario == nil then core.fail "plan.run: a scenario is missing: plan.run { scenario, jobs = 2 }" end
  local scenario, reader = runs.scenario(rest.scenario, "plan.run")
  if (scenario.kind or "plan") ~= "plan" then
    core.fail("plan.run: kind: expected \"plan\", found %s", core.describe(scenario.kind))
  end
  local how = runs.options({ jobs = rest.jobs, progress = rest.progress }, "plan.run")
  local done = answer.report(answer.all(reader, scenario, { jobs = how.jobs, progress = how.progress }))
  local out = done.document
  out.text = done.text
  return out
end

return plan
