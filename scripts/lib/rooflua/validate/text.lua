-- The report of a validation as text: one table per question.
local core = require "rooflua.base.core"
local discrepancy = require "rooflua.intervals.discrepancy"
local engines = require "rooflua.validate.engines"
local errors = require "rooflua.validate.errors"
local interval = require "rooflua.intervals.table_errors"
local policy = require "rooflua.policy"
local score = require "rooflua.validate.score"
local units = require "rooflua.text.units"

local text = {}

local titles = { e2e_mean = "E2E", tpot_mean = "TPOT", ttft_mean = "TTFT", step_time = "step", throughput = "tokens/s" }
for _, percent in ipairs { 50, 90, 99 } do
  for name, title in pairs { e2e = "E2E", tpot = "TPOT", ttft = "TTFT" } do
    titles[("%s_p%d"):format(name, percent)] = ("%s p%d"):format(title, percent)
  end
end

local percent = units.in_percent

local function header(...)
  local row = { ... }
  for _, metric in ipairs(score.metrics) do row[#row + 1] = titles[metric] end
  return row
end

--- One row per case, signed errors.
function text.case_rows(results, belief)
  local rows = { header("case", "rating") }
  table.insert(rows[1], "time rests on")
  for _, result in ipairs(results) do
    local found = result.beliefs[belief]
    if found and found.errors then
      local row = { result.case.id, result.case.rating }
      for _, metric in ipairs(score.metrics) do row[#row + 1] = percent(found.errors[metric], true) end
      row[#row + 1] = errors.evidence(found.evidence)
      rows[#rows + 1] = row
    end
  end
  return rows
end

--- The results with the largest |error| of one figure: of E2E, else of a step, of TTFT or of tokens per second.
function text.worst(results, belief, count)
  return errors.worst(results, function(result)
    local of = (result.beliefs[belief] or {}).errors
    local value = of and (of.e2e_mean or of.step_time or of.ttft_mean or of.ttft_p50 or of.throughput)
    return value and math.abs(value)
  end, nil, count)
end

--- "aic" or "aic 202, none 3": the kernel tables that were opened, and for how many cases where they differ.
function text.opened(counts)
  local parts, names = {}, core.sorted_keys(counts)
  for i, name in ipairs(names) do parts[i] = #names > 1 and name .. " " .. counts[name] or name end
  return table.concat(parts, ", ")
end

--- A row of cells: a name, and the errors of one group with one step model.
function text.row(name, metrics, group)
  local row = { name, tostring(group.cases) }
  for _, metric in ipairs(score.metrics) do
    row[#row + 1] = percent(metrics[metric] and metrics[metric].mean_abs_error)
  end
  row[#row + 1], row[#row + 2] = text.opened(group.tables), errors.evidence(group.evidence)
  return row
end

--- Names of the columns of text.row.
function text.header(first)
  local row = header(first, "cases")
  row[#row + 1], row[#row + 2] = "kernel tables", "time rests on"
  return row
end

--- Mean |error| of groups with one step model.
function text.group_rows(of, groups, names)
  local rows = { text.header "group" }
  for _, name in ipairs(names) do rows[#rows + 1] = text.row(name, of[name], groups[name]) end
  return rows
end

--- Mean |error| of one group with every step model.
function text.belief_rows(by_belief, groups, beliefs, group)
  local rows = { text.header "step model" }
  for _, belief in ipairs(beliefs) do
    local of = by_belief[belief.name][group]
    if of then rows[#rows + 1] = text.row(belief.name, of, groups[belief.name][group]) end
  end
  return rows
end

--- Per group and metric: the share of measured values inside their interval, and the mean width of intervals.
function text.coverage_rows(results, belief)
  local rows = { { "group", "metric", "cases", "inside %", "mean width %" } }
  local members = {}
  for group, list in pairs(errors.by(results, function(result)
    local found = result.beliefs[belief]
    return found and found.intervals and result.group
  end)) do
    members[group] = {}
    for i, result in ipairs(list) do members[group][i] = result.beliefs[belief] end
  end
  for _, group in ipairs(core.sorted_keys(members)) do
    for _, metric in ipairs(score.spread) do
      local one = interval.coverage(members[group], metric)
      if one then
        rows[#rows + 1] = { group, titles[metric], tostring(one.cases), ("%.0f"):format(one.inside_frac * 100),
          percent(one.mean_width) }
      end
    end
  end
  return rows
end

--- {tpot, ttft, e2e} each {coverage, rows, width = the mean one, of the simulated value}, and the same by group.
function text.intervals(results, belief)
  local function of(list)
    local found, out = {}, {}
    for i, result in ipairs(list) do found[i] = result.beliefs[belief] end
    for name, metric in pairs { tpot = "tpot_mean", ttft = "ttft_mean", e2e = "e2e_mean" } do
      local one = interval.coverage(found, metric)
      out[name] = one and { coverage = one.inside_frac, rows = one.cases, width = one.mean_width }
    end
    return out
  end
  local with = errors.filtered(results, function(result) return (result.beliefs[belief] or {}).intervals end)
  local found = errors.document(with, { { "group", function(result) return result.group end } }, of)
  return core.copy(found.all, { group = found.group })
end

--- Results with intervals of one step model: {about, in_closed_loop, found}.
local function with_intervals(results, belief)
  local out = {}
  for _, result in ipairs(results) do
    local found = result.beliefs[belief]
    if found and found.intervals then
      out[#out + 1] = { about = result.about, found = found, in_closed_loop = result.case.settings.clients ~= nil }
    end
  end
  return out
end

--- The model's own error that the intervals used, per kind of machine and model.
local function terms(list)
  local rows, seen = { { "engine and GPU", "model", "sigma %", "degrees of freedom", "from" } }, {}
  for _, each in ipairs(list) do
    local term, kind = each.found.discrepancy, discrepancy.kind_of(each.about)
    local key = term and kind .. each.about.model.name
    if term and not seen[key] then
      seen[key] = true
      rows[#rows + 1] = { kind, each.about.model.name, percent(term.scale), tostring(term.models),
        term.from .. (term.borrowed and " (assumed)" or "") }
    end
  end
  return rows
end

--- Residuals of runs by model, for intervals that draw the errors of tables and nothing else.
local function residuals(list)
  local rows, seen = { { "engine and GPU", "model", "runs", "residual %", "tables %" } }, discrepancy.seen(list)
  for _, kind in ipairs(core.sorted_keys(seen)) do
    for _, model in ipairs(core.sorted_keys(seen[kind])) do
      local row = seen[kind][model]
      rows[#rows + 1] = { kind, model, tostring(row.runs), ("%.2f"):format(row.residual * 100),
        ("%.2f"):format(row.tables * 100) }
    end
  end
  return rows
end

--- A part of the report.
--- @param switches table of interval.setting
function text.discrepancy(results, belief, switches)
  local list = with_intervals(results, belief)
  if switches.discrepancy ~= false then
    return { title = "The model's own error: a factor on every step, from runs of other models", rows = terms(list),
      left = 2 }
  end
  return { title = "Root mean squares of log(simulated / measured) of steps, and of what intervals without the model's "
    .. "own error explain", rows = residuals(list), left = 2 }
end

--- "ttft_cold_p50_ms (4 cases)": names of `measured` that are no figures of a simulation.
function text.unread(results)
  local parts = {}
  local counts = errors.counts(results, function(result) return result.case.unread end)
  for _, name in ipairs(core.sorted_keys(counts)) do
    parts[#parts + 1] = ("%s (%s)"):format(name, units.counted(counts[name], "case"))
  end
  return table.concat(parts, ", ")
end

--- Cases that did not run, counted by reason.
function text.failures(results, beliefs)
  local failed, lines = {}, {}
  for _, result in ipairs(results) do
    for _, belief in ipairs(beliefs) do
      local problem = (result.beliefs[belief.name] or {}).problem
      if problem then failed[#failed + 1] = { id = result.case.id, reason = belief.name .. ": " .. problem } end
    end
  end
  local reasons, counts, first = errors.reasons(failed, function(each) return each.reason end)
  for i, reason in ipairs(reasons) do lines[i] = ("%d x %s (%s)"):format(counts[reason], reason, first[reason].id) end
  return table.concat(lines, "\n")
end

--- The parameters of the run: of engines, then of the step model.
function text.parameter_rows(used, steps)
  local rows = { { "of", "parameter", "value", "source or fit" } }
  for _, row in ipairs(engines.describe(used)) do rows[#rows + 1] = row end
  local declared, values = policy.definition(steps).params, policy.parameters(steps)
  for _, name in ipairs(core.sorted_keys(declared)) do
    rows[#rows + 1] = { steps.name, name, tostring(values[name]), declared[name].source or "" }
  end
  return rows
end

return text
