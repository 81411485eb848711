-- The report of a validation with measured closed loops as text.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local said = require "rooflua.validate.text"
local totals = require "rooflua.validate.closed_loops.totals"
local units = require "rooflua.text.units"

local text = {}

local worst_shown = 10

local percent = units.in_percent

--- Metrics of a table in its order, and what is shown of each.
local shown = { { "tpot", "TPOT" }, { "e2e", "E2E" }, { "ttft_unsaturated", "TTFT unsaturated" }, { "ttft", "TTFT" } }

--- Cells of one group.
local function cells(name, of)
  local out = { name, tostring(of.deployments), tostring(of.tpot.questions) }
  for _, each in ipairs(shown) do
    local one = of[each[1]]
    out[#out + 1], out[#out + 2] = percent(one.mean_over_deployments), percent(one.weighted)
    out[#out + 1], out[#out + 2] = percent(one.median), percent(one.signed_median, true)
  end
  out[#out + 1] = percent(of.tpot.exp_mean_log)
  return out
end

local function header(first)
  local out = { first, "deployments", "questions" }
  for _, each in ipairs(shown) do
    out[#out + 1], out[#out + 2], out[#out + 3], out[#out + 4] = each[2] .. ": mean", "weighted", "median", "signed"
  end
  out[#out + 1] = "TPOT: exp mean |ln|"
  return out
end

--- Errors by config, class, engine, architecture, speculation, GPU and format.
function text.group_rows(document)
  local rows = { header "group", cells("all", document.all) }
  for _, kind in ipairs { "config", "class", "engine", "architecture", "speculation", "gpu", "format" } do
    for _, name in ipairs(kind == "class" and totals.classes or core.sorted_keys(document[kind])) do
      local of = document[kind][name]
      if of.deployments > 0 then rows[#rows + 1] = cells(kind .. " " .. name, of) end
    end
  end
  return rows
end

function text.groups(document, answers)
  return columns.after(1, text.group_rows(document)) .. "\n\nTime rests on " .. said.evidence(totals.evidence(answers))
end

--- How many measurements lie inside their intervals, and how wide these are.
function text.interval_rows(document)
  local rows = { { "group", "questions", "TPOT: inside", "high / low", "TTFT: inside", "high / low", "E2E: inside",
    "high / low" } }
  local function add(name, of)
    local found = of.intervals
    if not found then return end
    local row = { name, tostring(found.tpot.questions) }
    for _, metric in ipairs { "tpot", "ttft", "e2e" } do
      row[#row + 1] = percent(found[metric].inside_frac)
      row[#row + 1] = ("%.2f"):format(found[metric].high_over_low)
    end
    rows[#rows + 1] = row
  end
  add("all", document.all)
  for _, class in ipairs(totals.classes) do add("class " .. class, document.class[class]) end
  return rows
end

function text.intervals(document) return columns.after(1, text.interval_rows(document)) end

local function deployment_rows(list)
  local rows = { header "deployment" }
  for _, each in ipairs(list) do rows[#rows + 1] = cells(each.key, each.of) end
  return rows
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
---@param config string? only of questions with this config
function text.worst_rows(answers, config)
  if config then
    local kept = {}
    for _, each in ipairs(answers) do
      if each.question.config == config then kept[#kept + 1] = each end
    end
    answers = kept
  end
  local list, out = scored_deployments(answers), {}
  table.sort(list, function(a, b)
    local x, y = a.of.tpot.mean, b.of.tpot.mean
    return x > y or x == y and a.key < b.key
  end)
  for i = 1, math.min(worst_shown, #list) do out[i] = list[i] end
  return deployment_rows(out)
end

function text.worst(answers) return columns.after(1, text.worst_rows(answers)) end

--- Every scored deployment, then every question.
function text.wide(answers)
  local rows = { { "question", "deployment", "version", "isl", "osl", "clients", "TPOT", "E2E", "TTFT",
    "time rests on" } }
  for _, answer in ipairs(answers) do
    local question, errors = answer.question, answer.errors
    if errors then
      rows[#rows + 1] = { question.id, question.key, question.version, tostring(question.isl), tostring(question.osl),
        tostring(question.clients), percent(errors.tpot, true), percent(errors.e2e, true), percent(errors.ttft, true),
        said.evidence(answer.evidence) }
    end
  end
  return columns.after(1, deployment_rows(scored_deployments(answers))) .. "\n\n" .. columns.after(3, rows)
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

text.notes = said.notes

return text
