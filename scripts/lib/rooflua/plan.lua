--- Which GPUs, how many, at what cost: scenarios of kind "plan" from Lua.
local axes = require "rooflua.plan.axes"
local core = require "rooflua.base.core"

local plan = {}

--- The axes that candidates differ in, in order: {name, type, values, ...} of rooflua.plan.axes, read-only. A generator
--- of candidates takes its parameters from them.
function plan.axes()
  local out = {}
  for i, row in ipairs(axes.rows()) do out[i] = core.readonly(row, "axis") end
  return out
end

--- The percent of the time that may be unsupported; nil where it is not asked.
local function strict_of(given)
  if given == nil then return nil end
  local percent = core.number(given, "plan.run: strict")
  if not (percent >= 0 and percent <= 100) then
    core.fail("plan.run: strict: expected a percentage from 0 to 100, found %s", core.describe(given))
  end
  return percent
end

--- The answer to a scenario of kind "plan": its document, with the text.
function plan.run(given)
  local rest = {}
  for key, value in core.sorted_pairs(core.table(given, "plan.run")) do rest[key == 1 and "scenario" or key] = value end
  core.check_keys(rest, { "scenario", "jobs", "progress", "strict" }, "plan.run")
  if rest.scenario == nil then core.fail "plan.run: a scenario is missing: plan.run { scenario, jobs = 2 }" end
  local answer, runs = require "rooflua.plan.run", require "rooflua.explore.runs"
  local scenario, reader = runs.scenario(rest.scenario, "plan.run")
  if (scenario.kind or "plan") ~= "plan" then
    core.fail("plan.run: kind: expected \"plan\", found %s", core.describe(scenario.kind))
  end
  local how = runs.options({ jobs = rest.jobs, progress = rest.progress }, "plan.run")
  local done = answer.report(answer.all(reader, scenario, { jobs = how.jobs, progress = how.progress,
    strict = strict_of(rest.strict) }))
  local out = done.document
  out.text = done.text
  return out
end

return plan
