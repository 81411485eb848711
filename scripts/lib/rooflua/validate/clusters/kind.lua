-- Measured clusters as a kind of set (validate/harness.lua): all CSVs of a folder are one set, one case is one run.
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local figures = require "rooflua.validate.clusters.figures"
local json = require "rooflua.json"
local profiles = require "rooflua.validate.clusters.profiles"
local rows = require "rooflua.validate.clusters.rows"
local runs = require "rooflua.validate.clusters.runs"
local step_model = require "rooflua.validate.step_model"
local text = require "rooflua.validate.clusters.text"
local totals = require "rooflua.validate.clusters.totals"

local what = "measured clusters"

local clusters = { name = "clusters", what = what, columns = rows.required, reads = rows.reads, joins = true,
  scopes = { clusters = true }, lists_problems = true }

function clusters.refusals(options)
  return { tables = what .. " use the shipped tables of their GPUs; there is no folder to open",
    steps = step_model.refusal(options.steps, what), page = what .. " have no page; --json has all figures",
    intervals = what .. " have none" }
end

local function options_of(scoped)
  local out = { seed = 0, sessions_s = 0 }
  for _, each in ipairs(scoped) do
    if out[each.name] == nil then
      core.fail("--set clusters.%s: %s", each.name, core.unknown_name("setting", each.name, core.sorted_keys(out)))
    end
    local number = tonumber(each.text)
    if not number or number < 0 or number % 1 ~= 0 then
      core.fail("--set %s: expected a whole number, 0 or more", each.given)
    end
    out[each.name] = number
  end
  return out
end

local Run = {}
Run.__index = Run

--- All rows of the CSVs, and sentences about columns that are not known.
local function read_all(paths)
  local all, notes = {}, {}
  for _, path in ipairs(paths) do
    local list, unknown = rows.read(path)
    for _, row in ipairs(list) do all[#all + 1] = row end
    if #unknown > 0 then
      notes[#notes + 1] = ("%s: columns that are not read: %s"):format(path, core.join(unknown, ", "))
    end
  end
  return all, notes
end

--- Runs, then the rows that are none, each by itself.
local function cases_of(all, set)
  local out = runs.of(all, set)
  for _, row in ipairs(all) do
    if row.kind ~= "starts" and row.problem then
      out[#out + 1] = { id = row.id, problem = row.problem, members = { { row = row } } }
    end
  end
  return out
end

function clusters.open(options)
  local run = { path = options.path, wide = options.wide, options = options_of(options.scoped),
    only = "id or deployment", cases_word = "run", ids = {}, names = {} }
  run.options.steps = step_model.of(options.steps, options.parameters)
  run.rows, run.notes = read_all(options.paths or { options.path })
  run.cases = cases_of(run.rows, profiles.of(options.path))
  if #run.cases == 0 then
    core.fail("%s: has only rows of starts, which are constants and are not scored", options.path)
  end
  for i, case in ipairs(run.cases) do
    local names = {}
    for n, member in ipairs(case.members) do names[n] = member.row.id .. " " .. member.row.deployment end
    run.ids[i], run.names[i] = case.id, table.concat(names, " ")
  end
  return setmetatable(run, Run)
end

--- @return table {rows = list of figures, evidence, notes}
function Run:case(i)
  local case = self.cases[i]
  if case.problem then core.fail("%s", case.problem) end
  local found = figures.answer(case, self.options)
  found.notes = json.array(found.notes)
  return found
end

--- The answers of the rows of a case.
function Run:take(i, found, problem)
  local out = {}
  for n, member in ipairs(self.cases[i].members) do
    local row = member.row
    local own = found and found.rows[n]
    out[n] = totals.answer(row, own, problem or row.problem)
    out[n].evidence, out[n].notes = found and found.evidence, found and found.notes
  end
  return out
end

-- Results ---------------------------------------------------------------------------------------------------------

local function row_document(answer)
  local row = answer.row
  return { id = row.id, kind = row.kind, deployment = row.deployment, quality = row.quality,
    pair = row.pair ~= "" and row.pair or nil, arm = row.arm ~= "" and row.arm or nil, simulated = answer.simulated,
    measured = answer.measured, evidence = answer.evidence, problem = answer.problem }
end

local function parts_of(run, answers, of, starts, ran)
  local parts = {
    ("%s: %d rows in %d runs, %d rows ran, %d did not%s"):format(run.path, #answers, #run.cases, ran, #answers - ran,
      starts > 0 and (", %d rows of starts that are not scored"):format(starts) or ""),
    ("Errors in percent: exp(|ln(simulated / measured)|) - 1, at most 900; a row that did not run has 900. Step model "
      .. "%s, seed %d."):format(run.options.steps.name, run.options.seed)
      .. "\nA mean is over metrics of a row, then rows of a deployment, then deployments. A gain is a treatment "
      .. "against the reference of its pair; directions are of gains above 10 %.",
    { rows = text.kind_rows(of), left = 2, record = "Errors and gains by kind, in percent" },
    { rows = text.metric_rows(of), left = 2, record = "Errors by metric, in percent" },
    { rows = text.deployment_rows(of), left = 2, record = "Errors and gains by deployment, in percent" },
    { title = "Did not run", rows = text.problem_rows(answers), left = 3, record = "Rows that did not run" },
    errors.titled("Assumed", errors.counted_lines(totals.notes(answers))),
    errors.titled("Notes", table.concat(run.notes, "\n")),
  }
  if run.wide then
    for _, part in ipairs(text.wide(answers)) do parts[#parts + 1] = part end
    parts[#parts + 1] = { title = "Pairs", rows = text.pair_rows(totals.pairs(answers)), left = 4 }
  end
  return parts
end

--- @return table {parts, document, ran}
function Run:finish(answers_by_case)
  local answers, ran, cases_ran, starts = {}, 0, 0, 0
  for _, list in ipairs(answers_by_case) do
    for _, answer in ipairs(list) do
      answers[#answers + 1], ran = answer, ran + (answer.figures and 1 or 0)
    end
    cases_ran = cases_ran + (list[1].figures and 1 or 0)
  end
  for _, row in ipairs(self.rows) do starts = starts + (row.kind == "starts" and 1 or 0) end
  local of = totals.document(answers)
  local document = { steps = self.options.steps.name, clusters = of, assumed = totals.notes(answers),
    unread = #self.notes > 0 and json.array(self.notes) or nil }
  if self.wide then
    document.rows = json.array {}
    for i, answer in ipairs(answers) do document.rows[i] = row_document(answer) end
  end
  return { parts = parts_of(self, answers, of, starts, ran), document = document, ran = cases_ran }
end

return clusters
