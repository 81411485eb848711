-- The report of measured clusters: a table per kind and one per deployment.
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local metrics = require "rooflua.validate.clusters.metrics"
local score = require "rooflua.validate.clusters.score"
local units = require "rooflua.text.units"

local text = {}

local percent = units.in_percent

local function right_of(gain)
  return gain.direction and ("%d of %d"):format(gain.direction * gain.compared + 0.5, gain.compared) or "-"
end

local shown = { { "rows", "rows", "count" }, { "ran", "ran", "count" }, { "error: mean", "all.mean" },
  { "median", "all.median" }, { "pairs", "gain.pairs", "count" }, { "gain: error", "gain.error" },
  { "right direction", "right", "text" } }

--- A line of a table: two texts and figures.
local function line(name, word, of)
  return { name, word, { rows = of.rows, ran = of.ran, all = of.all, gain = of.gain, right = right_of(of.gain) } }
end

--- One line per kind, and one of the rows that stand beside.
function text.kind_rows(of)
  local list = {}
  for _, kind in ipairs(metrics.kinds) do
    local own = of[kind]
    if own then
      list[#list + 1] = line(kind, "A, B", own)
      if own.beside then list[#list + 1] = line("", "C, D", own.beside) end
    end
  end
  return errors.rows({ "kind", "quality" }, shown, list)
end

--- Errors by metric.
function text.metric_rows(of)
  local list = {}
  for _, kind in ipairs(metrics.kinds) do
    for _, about in ipairs(of[kind] and metrics.arms[kind] or {}) do
      local own = of[kind].arms[about[1]]
      if own then list[#list + 1] = { kind, about[1], own } end
    end
  end
  return errors.rows({ "kind", "metric" }, { { "rows", "rows", "count" }, { "mean", "mean" }, { "median", "median" } },
    list)
end

function text.deployment_rows(of)
  local list = {}
  for _, kind in ipairs(metrics.kinds) do
    for _, name in ipairs(core.sorted_keys(of[kind] and of[kind].deployments or {})) do
      local own = of[kind].deployments[name]
      list[#list + 1] = line(name, own.counts and "A, B" or "C, D", own)
    end
  end
  return errors.rows({ "deployment", "quality" }, shown, list)
end

--- Why rows did not run, with their number and the first of them.
function text.problem_rows(answers)
  local reasons, counts, first = errors.reasons(answers, function(answer)
    return answer.problem and answer.problem:gsub("^[^%s:]+:%d+: ", ""):gsub(" %([%a ]+, at [%d.]+ s%)", "") or nil
  end)
  local rows = { { "rows", "reason", "first" } }
  for _, reason in ipairs(reasons) do
    rows[#rows + 1] = { ("%d"):format(counts[reason]), reason, first[reason].row.id }
  end
  return rows
end

local function signed(answer, metric)
  local simulated, measured = answer.simulated[metric], answer.measured[metric]
  if not measured then return "" end
  return simulated and ("%+.0f"):format((simulated / measured - 1) * 100) or "-"
end

--- Every row, with --wide: errors simulated / measured - 1. A table per kind, as parts of a report.
function text.wide(answers)
  local out = {}
  for _, kind in ipairs(metrics.kinds) do
    local rows, list = { { "row", "deployment", "quality" } }, metrics.arms[kind]
    for _, about in ipairs(list) do table.insert(rows[1], about[1]) end
    table.insert(rows[1], "time rests on")
    for _, answer in ipairs(answers) do
      if answer.row.kind == kind and answer.figures then
        local row = { answer.row.id, answer.row.deployment, answer.row.quality }
        for _, about in ipairs(list) do row[#row + 1] = signed(answer, about[1]) end
        row[#row + 1] = errors.evidence(answer.evidence)
        rows[#rows + 1] = row
      end
    end
    out[#out + 1] = { title = kind, rows = rows, left = 3 }
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

return text
