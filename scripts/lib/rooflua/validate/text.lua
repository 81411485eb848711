-- The report of a validation as text: one table per question.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local discrepancy = require "rooflua.intervals.discrepancy"
local engines = require "rooflua.validate.engines"
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

--- "measured 61 %, interpolated 38 %": the two largest.
function text.evidence(shares)
  local list = {}
  for name, share in pairs(shares or {}) do list[#list + 1] = { name, share } end
  table.sort(list, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  local parts = {}
  for i = 1, math.min(2, #list) do parts[i] = ("%s %.0f %%"):format(list[i][1], list[i][2] * 100) end
  return table.concat(parts, ", ")
end

--- What was assumed, and how often: a table of counts by note.
function text.notes(counts)
  local lines = {}
  for _, note in ipairs(core.sorted_keys(counts)) do lines[#lines + 1] = ("%d x %s"):format(counts[note], note) end
  return table.concat(lines, "\n")
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
      row[#row + 1] = text.evidence(found.evidence)
      rows[#rows + 1] = row
    end
  end
  return rows
end

function text.cases(results, belief) return columns.after(1, text.case_rows(results, belief)) end

--- The results with the largest |error| of one figure: of E2E, else of a step, of TTFT or of tokens per second.
function text.worst(results, belief, count)
  local list = {}
  for i, result in ipairs(results) do
    local errors = (result.beliefs[belief] or {}).errors
    local value = errors and (errors.e2e_mean or errors.step_time or errors.ttft_mean or errors.ttft_p50
      or errors.throughput)
    if value then list[#list + 1] = { size = math.abs(value), i = i, result = result } end
  end
  table.sort(list, function(a, b) return a.size > b.size or a.size == b.size and a.i < b.i end)
  local out = {}
  for i = 1, math.min(count, #list) do out[i] = list[i].result end
  return out
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
  row[#row + 1], row[#row + 2] = text.opened(group.tables), text.evidence(group.evidence)
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

function text.groups(of, groups, names) return columns.after(1, text.group_rows(of, groups, names)) end

--- Mean |error| of one group with every step model.
function text.belief_rows(by_belief, groups, beliefs, group)
  local rows = { text.header "step model" }
  for _, belief in ipairs(beliefs) do
    local of = by_belief[belief.name][group]
    if of then rows[#rows + 1] = text.row(belief.name, of, groups[belief.name][group]) end
  end
  return rows
end

function text.beliefs(by_belief, groups, beliefs, group)
  return columns.after(1, text.belief_rows(by_belief, groups, beliefs, group))
end

--- Per group and metric: the share of measured values inside their interval, and the mean width of intervals.
function text.coverage(results, belief)
  local members, rows = {}, { { "group", "metric", "cases", "inside %", "mean width %" } }
  for _, result in ipairs(results) do
    local found = result.beliefs[belief]
    if found and found.intervals then
      members[result.group] = members[result.group] or {}
      table.insert(members[result.group], found)
    end
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
  return columns.after(2, rows)
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

--- @param switches table of interval.setting
function text.discrepancy(results, belief, switches)
  local list = with_intervals(results, belief)
  if switches.discrepancy ~= false then
    return "The model's own error: a factor on every step, from runs of other models\n" .. columns.after(2, terms(list))
  end
  return "Root mean squares of log(simulated / measured) of steps, and of what intervals without the model's own error "
    .. "explain\n" .. columns.after(2, residuals(list))
end

--- "ttft_cold_p50_ms (4 cases)": names of `measured` that are no figures of a simulation.
function text.unread(results)
  local counts, parts = {}, {}
  for _, result in ipairs(results) do
    for _, name in ipairs(result.case.unread or {}) do counts[name] = (counts[name] or 0) + 1 end
  end
  for _, name in ipairs(core.sorted_keys(counts)) do
    parts[#parts + 1] = ("%s (%s)"):format(name, units.counted(counts[name], "case"))
  end
  return table.concat(parts, ", ")
end

--- Cases that did not run, counted by reason.
function text.failures(results, beliefs)
  local counts, first = {}, {}
  for _, result in ipairs(results) do
    for _, belief in ipairs(beliefs) do
      local found = result.beliefs[belief.name]
      if found and found.problem then
        local key = belief.name .. ": " .. found.problem
        counts[key] = (counts[key] or 0) + 1
        first[key] = first[key] or result.case.id
      end
    end
  end
  local lines = {}
  for _, key in ipairs(core.sorted_keys(counts)) do
    lines[#lines + 1] = ("%d x %s (%s)"):format(counts[key], key, first[key])
  end
  return table.concat(lines, "\n")
end

--- The parameters of the run: of engines, then of the step model.
function text.parameters(used, steps)
  local rows = { { "of", "parameter", "value", "source or fit" } }
  for _, row in ipairs(engines.describe(used)) do rows[#rows + 1] = row end
  local declared, values = policy.describe(steps).params, policy.parameters(steps)
  for _, name in ipairs(core.sorted_keys(declared)) do
    rows[#rows + 1] = { steps.name, name, tostring(values[name]), declared[name].source or "" }
  end
  return columns.after(4, rows)
end

return text
