-- The report of a validation with measured closed loops as text.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local settings = require "rooflua.validate.silicon.settings"
local totals = require "rooflua.validate.silicon.totals"
local said = require "rooflua.validate.text"

local text = {}

local worst_shown = 10

local function percent(value, sign)
  if not value then return "-" end
  return (sign and "%+.1f" or "%.1f"):format(value * 100)
end

--- Cells of one group: TPOT, then TTFT.
local function cells(of)
  local out = { tostring(of.deployments), tostring(of.tpot.questions) }
  for _, metric in ipairs(totals.metrics) do
    local one = of[metric]
    out[#out + 1] = percent(one.mean_over_deployments)
    out[#out + 1], out[#out + 2] = percent(one.mean), percent(one.median)
    out[#out + 1] = percent(one.signed_median, true)
  end
  return out
end

local header = { "deployments", "questions", "TPOT: deployments", "mean", "median", "signed", "TTFT: deployments",
  "mean", "median", "signed" }

local function row(name, list)
  local out = { name }
  for _, cell in ipairs(list) do out[#out + 1] = cell end
  return out
end

--- Errors by class, engine, GPU and format.
function text.groups(document, answers)
  local rows = { row("group", header), row("all", cells(document.all)) }
  rows[1][#rows[1] + 1], rows[2][#rows[2] + 1] = "time rests on", said.evidence(totals.evidence(answers))
  for _, class in ipairs(totals.classes) do rows[#rows + 1] = row("class " .. class, cells(document.class[class])) end
  for _, kind in ipairs { "engine", "gpu", "format" } do
    for _, name in ipairs(core.sorted_keys(document[kind])) do
      rows[#rows + 1] = row(kind .. " " .. name, cells(document[kind][name]))
    end
  end
  return columns.after(1, rows)
end

--- How many measurements lie inside their intervals, and how wide these are.
function text.intervals(document)
  local rows = { { "group", "questions", "TPOT: inside", "high / low", "TTFT: inside", "high / low" } }
  local function add(name, of)
    local found = of.intervals
    if not found then return end
    rows[#rows + 1] = { name, tostring(found.tpot.questions), percent(found.tpot.inside_frac),
      ("%.2f"):format(found.tpot.high_over_low), percent(found.ttft.inside_frac),
      ("%.2f"):format(found.ttft.high_over_low) }
  end
  add("all", document.all)
  for _, class in ipairs(totals.classes) do add("class " .. class, document.class[class]) end
  return columns.after(1, rows)
end

local function deployment_rows(list)
  local rows = { row("deployment", header) }
  for _, each in ipairs(list) do rows[#rows + 1] = row(each.key, cells(each.of)) end
  return columns.after(1, rows)
end

--- Deployments with their errors, those that were scored.
local function scored_deployments(answers)
  local out = {}
  for _, each in ipairs(totals.deployments(answers)) do
    each.of = totals.of(each.answers)
    if each.of.deployments > 0 then out[#out + 1] = each end
  end
  return out
end

--- The deployments with the largest errors of TPOT.
function text.worst(answers)
  local list = scored_deployments(answers)
  table.sort(list, function(a, b)
    local x, y = a.of.tpot.mean, b.of.tpot.mean
    return x > y or x == y and a.key < b.key
  end)
  local shown = {}
  for i = 1, math.min(worst_shown, #list) do shown[i] = list[i] end
  return deployment_rows(shown)
end

--- Every scored deployment, then every question.
function text.wide(answers)
  local rows = { { "question", "deployment", "version", "isl", "osl", "clients", "TPOT", "TTFT", "time rests on" } }
  for _, answer in ipairs(answers) do
    local question = answer.question
    if answer.errors then
      rows[#rows + 1] = { question.id, question.key, question.version, tostring(question.isl), tostring(question.osl),
        tostring(question.clients), percent(answer.errors.tpot, true), percent(answer.errors.ttft, true),
        said.evidence(answer.evidence) }
    end
  end
  return deployment_rows(scored_deployments(answers)) .. "\n\n" .. columns.after(3, rows)
end

--- Questions that were not scored, by reason, with the first of each.
function text.refused(answers)
  local first, counts, rows = {}, {}, { { "questions", "reason", "first" } }
  for _, answer in ipairs(answers) do
    local reason = answer.refused
    if reason then
      counts[reason] = (counts[reason] or 0) + 1
      first[reason] = first[reason] or answer
    end
  end
  for _, reason in ipairs(core.sorted_keys(counts)) do
    local answer = first[reason]
    rows[#rows + 1] = { tostring(counts[reason]), reason, answer.problem or answer.question.where }
  end
  return #rows > 1 and columns.text(rows) or ""
end

--- What was assumed, and for how many questions.
function text.notes(answers)
  local counts, lines = {}, {}
  for _, answer in ipairs(answers) do
    for _, note in ipairs(answer.notes or {}) do counts[note] = (counts[note] or 0) + 1 end
  end
  for _, note in ipairs(core.sorted_keys(counts)) do lines[#lines + 1] = ("%d x %s"):format(counts[note], note) end
  return table.concat(lines, "\n")
end

--- The table of settings.
function text.settings()
  local rows = { { "engine", "where", "setting", "value", "source" } }
  for _, each in ipairs(settings.describe()) do rows[#rows + 1] = each end
  return columns.text(rows)
end

return text
