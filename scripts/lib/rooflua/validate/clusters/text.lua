-- The report of measured clusters: a table per kind and one per deployment.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local metrics = require "rooflua.validate.clusters.metrics"
local said = require "rooflua.validate.text"
local score = require "rooflua.validate.clusters.score"
local units = require "rooflua.text.units"

local text = {}

local percent = units.in_percent

local function gain_cells(gain)
  if gain.pairs == 0 then return "0", "-", "-" end
  return ("%d"):format(gain.pairs), percent(gain.error),
    gain.direction and ("%d of %d"):format(gain.direction * gain.compared + 0.5, gain.compared) or "-"
end

local function row_of(name, word, of)
  local pairs_count, error, direction = gain_cells(of.gain)
  return { name, word, ("%d"):format(of.rows), ("%d"):format(of.ran), percent(of.all and of.all.mean),
    percent(of.all and of.all.median), pairs_count, error, direction }
end

local head = { "", "quality", "rows", "ran", "error: mean", "median", "pairs", "gain: error", "right direction" }

--- One line per kind, and one of the rows that stand beside.
function text.kind_rows(of)
  local rows = { core.copy(head) }
  rows[1][1] = "kind"
  for _, kind in ipairs(metrics.kinds) do
    local own = of[kind]
    if own then
      rows[#rows + 1] = row_of(kind, "A, B", own)
      if own.beside then rows[#rows + 1] = row_of("", "C, D", own.beside) end
    end
  end
  return rows
end

--- Errors by metric.
function text.metric_rows(of)
  local rows = { { "kind", "metric", "rows", "mean", "median" } }
  for _, kind in ipairs(metrics.kinds) do
    for _, about in ipairs(of[kind] and metrics.arms[kind] or {}) do
      local own = of[kind].arms[about[1]]
      if own then
        rows[#rows + 1] = { kind, about[1], ("%d"):format(own.rows), percent(own.mean), percent(own.median) }
      end
    end
  end
  return rows
end

function text.deployment_rows(of)
  local rows = { core.copy(head) }
  rows[1][1] = "deployment"
  for _, kind in ipairs(metrics.kinds) do
    for _, name in ipairs(core.sorted_keys(of[kind] and of[kind].deployments or {})) do
      local own = of[kind].deployments[name]
      rows[#rows + 1] = row_of(name, own.counts and "A, B" or "C, D", own)
    end
  end
  return rows
end

--- Why rows did not run, with their number and the first of them.
function text.problem_rows(answers)
  local first, counts = {}, {}
  for _, answer in ipairs(answers) do
    local problem = answer.problem
    if problem then
      local reason = problem:gsub("^[^%s:]+:%d+: ", ""):gsub(" %([%a ]+, at [%d.]+ s%)", "")
      counts[reason] = (counts[reason] or 0) + 1
      first[reason] = first[reason] or answer.row.id
    end
  end
  local rows = { { "rows", "reason", "first" } }
  for _, reason in ipairs(core.sorted_keys(counts)) do
    rows[#rows + 1] = { ("%d"):format(counts[reason]), reason, first[reason] }
  end
  return rows
end

local function signed(answer, metric)
  local simulated, measured = answer.simulated[metric], answer.measured[metric]
  if not measured then return "" end
  return simulated and ("%+.0f"):format((simulated / measured - 1) * 100) or "-"
end

--- Every row, with --wide: errors simulated / measured - 1.
function text.wide_rows(answers)
  local out = {}
  for _, kind in ipairs(metrics.kinds) do
    local rows, list = { { "row", "deployment", "quality" } }, metrics.arms[kind]
    for _, about in ipairs(list) do table.insert(rows[1], about[1]) end
    table.insert(rows[1], "time rests on")
    for _, answer in ipairs(answers) do
      if answer.row.kind == kind and answer.figures then
        local row = { answer.row.id, answer.row.deployment, answer.row.quality }
        for _, about in ipairs(list) do row[#row + 1] = signed(answer, about[1]) end
        row[#row + 1] = said.evidence(answer.evidence)
        rows[#rows + 1] = row
      end
    end
    if #rows > 1 then out[#out + 1] = { kind, rows } end
  end
  return out
end

--- The pairs, with --wide: gains as factors.
function text.pair_rows(list)
  local rows = { { "pair", "deployment", "arm", "metric", "measured", "simulated", "error" } }
  for _, pair in ipairs(list) do
    for _, gain in ipairs(pair.gains) do
      rows[#rows + 1] = { pair.pair, pair.deployment, pair.arm, gain.metric, ("%.3f"):format(math.exp(gain.measured)),
        gain.simulated and ("%.3f"):format(math.exp(gain.simulated)) or "-", percent(score.shown(gain.error)) }
    end
  end
  return rows
end

text.notes = said.notes

--- @param left integer columns that are aligned to the left
function text.table(left, rows) return columns.after(left, rows) end

return text
