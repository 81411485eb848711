-- Simulated runs of a deployment with other settings, judged by an SLO: which bounds hold, and how far the worst is
-- from its limit.
local changes = require "rooflua.applied.changes"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local metrics = require "rooflua.measure.metrics"
local outcomes = require "rooflua.measure.outcomes"
local policy = require "rooflua.policy"
local runs = require "rooflua.explore.runs"
local single = require "rooflua.runs.single"
local variants = require "rooflua.scenario.variants"

local trials = {}

--- What every answer shows, whatever the SLO bounds.
trials.shown = { "ttft_s_mean", "ttft_s_p99", "tpot_s_mean", "tpot_s_p99", "e2e_s_mean", "output_tokens_per_s",
  "requests_per_s" }

local count_names = { "num_requests", "num_prompts", "limit" }
local runs_of_worker = 4 -- between two looks at the clock
local unmeasured = 1e9 -- how far a metric without a value is from its limit

--- How far a value is from its bound: 1 at the limit, more beyond it.
local function ratio_of(bound, value)
  if not value then return unmeasured end
  local ratio = 0
  if bound.max then ratio = bound.max > 0 and value / bound.max or (value > 0 and unmeasured or 0) end
  if bound.min then ratio = math.max(ratio, value > 0 and bound.min / value or unmeasured) end
  return math.min(ratio, unmeasured)
end

--- The verdict on one run: {meets, margin, binds, metrics, problem, lost}.
---@param run table? a row of runs.run
---@param limits table[] {metric, min, max}
function trials.judge(run, limits)
  if not run or run.problem then
    return { meets = false, margin = unmeasured, metrics = {}, problem = run and run.problem or "did not run" }
  end
  local lost = outcomes.not_completed(run.summary)
  local out = { meets = lost == nil, margin = 0, metrics = {}, intervals = run.intervals,
    lost = lost and outcomes.text(lost) or nil }
  for _, name in ipairs(trials.shown) do out.metrics[name] = metrics.value(run, name) end
  for _, bound in ipairs(limits) do
    local value = metrics.value(run, bound.metric)
    local ratio = ratio_of(bound, value)
    out.metrics[bound.metric] = value
    if ratio > 1 then out.meets = false end
    if ratio > out.margin then out.margin, out.binds = ratio, bound.metric end
  end
  if lost then out.margin = out.margin + 1 + lost.count / lost.requests end -- worse than any that completes all
  return out
end

--- The parameter of a workload that says how many requests it sends, and its value; nil where it has none.
function trials.count_of(workload)
  if not policy.is_instance(workload) then return nil end
  local own = policy.parameters(workload)
  for _, name in ipairs(count_names) do
    if type(own[name]) == "number" and own[name] < math.huge then return name, own[name] end
  end
end

--- One run in this process, which knows the model, the GPU and prices already: {summary, intervals} or {problem}.
local function run_here(asked, list)
  local ok, found = pcall(function()
    local given = changes.apply(asked.reader, asked.given, list)
    return single.run("serve", asked.reader, given, { document = true, operations = false })
  end)
  if not ok then
    if chunks.is_spent(found) or tostring(found) == "interrupted" then error(found, 0) end
    return { problem = tostring(found) }
  end
  if found.partial and found.partial.stopped_by == "timeout" then return { problem = "stopped", is_stopped = true } end
  if found.partial then error(found.partial.message or "stopped", 0) end
  return { summary = found.summary, intervals = found.intervals }
end

--- The same of several, in worker processes.
local function run_apart(asked, lists)
  local rows = {}
  for i, list in ipairs(lists) do
    rows[i] = variants.base()
    rows[i].name, rows[i].changes = ("setting %d"):format(i), list
  end
  local _, about = runs.run(asked.reader, asked.given, rows, { jobs = asked.jobs, tolerant = true })
  return about.rows
end

--- Runs a list of settings, each a list of changes {path, value}: {summary, intervals} or {problem} of each. `asked` is
--- {reader, given, jobs, is_late}. Where the time is over, the rest of the list has none.
---@return table[], boolean is_late
function trials.rows(asked, list)
  local out, most = {}, asked.jobs == 1 and 1 or runs_of_worker * asked.jobs
  for first = 1, #list, most do
    if asked.is_late() then return out, true end
    local batch = {}
    for i = first, math.min(first + most - 1, #list) do batch[#batch + 1] = list[i] end
    local found = asked.jobs == 1 and { run_here(asked, batch[1]) } or run_apart(asked, batch)
    asked.ran = (asked.ran or 0) + #batch
    if found[1].is_stopped then return out, true end
    for i in ipairs(batch) do out[first + i - 1] = found[i] end
  end
  return out, false
end

--- The same, as verdicts; `asked` has limits and count_name as well.
---@param requests integer? fewer requests than the scenario has
function trials.run(asked, list, requests)
  local out = {}
  for i, each in ipairs(list) do
    local own = core.copy(each)
    if requests then own[#own + 1] = { path = "workload." .. asked.count_name, value = requests } end
    out[i] = own
  end
  local found, is_late = trials.rows(asked, out)
  for i, row in ipairs(found) do out[i] = trials.judge(row, asked.limits) end
  for i = #found + 1, #out do out[i] = nil end
  return out, is_late
end

--- A copy of a scenario that is one run without a report.
function trials.plain(given)
  local out = core.copy(given)
  out.kind, out.vary, out.sweep, out.report, out.search = nil, nil, nil, nil, nil
  return out
end

return trials
