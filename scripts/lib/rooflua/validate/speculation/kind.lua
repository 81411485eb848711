-- Measured runs of speculative decoding as a kind of set (validate/harness.lua): one case per row.
local columns = require "rooflua.text.columns"
local cells = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local rows = require "rooflua.validate.speculation.rows"
local setup = require "rooflua.validate.speculation.setup"
local step_model = require "rooflua.validate.step_model"
local totals = require "rooflua.validate.speculation.totals"
local units = require "rooflua.text.units"
local words = require "rooflua.validate.text"

local speculation = { name = "speculation", what = "measured speculative decoding", columns = rows.required,
  reads = rows.reads, scopes = { speculation = true, drafter = true } }

local what = "measured speculation"

function speculation.refusals(options)
  return { tables = what .. " uses the shipped tables", steps = step_model.refusal(options.steps, what),
    intervals = what .. " has none", page = what .. " has no page; --json has all figures",
    wide = what .. " reports every case as it is" }
end

--- speculation.NAME=VALUE is for the set-up of every case, drafter.NAME=VALUE for the drafter.
local function options_of(scoped)
  local out = { drafter = {} }
  for name, value in pairs(setup.options) do out[name] = value end
  for _, each in ipairs(scoped) do
    if each.scope == "drafter" then
      out.drafter[each.name] = each.value
    elseif setup.options[each.name] == nil then
      core.fail("--set speculation.%s: %s", each.name,
        core.unknown_name("setting", each.name, core.sorted_keys(setup.options)))
    else
      out[each.name] = tonumber(each.text) or core.fail("--set %s: expected a number", each.given)
    end
  end
  return out
end

local Run = {}
Run.__index = Run

function speculation.open(options)
  local run = { path = options.path, options = options_of(options.scoped),
    steps = step_model.of(options.steps, options.parameters), cases = rows.read(options.path) }
  run.ids = cells.ids(run.cases)
  return setmetatable(run, Run)
end

--- @return table {simulated, evidence, speculation}
function Run:case(i)
  local case = self.cases[i]
  if case.problem then core.fail("%s", case.problem) end
  return setup.answer(case, self.steps, self.options)
end

function Run:take(i, found, problem)
  local case = self.cases[i]
  if problem then return { case = case, problem = problem } end
  local answer = { case = case, model = setup.model(case).name, simulated = found.simulated,
    evidence = found.evidence, speculation = found.speculation, errors = {} }
  for _, metric in ipairs(totals.metrics) do
    answer.errors[metric] = found.simulated[metric] / case.measured[metric] - 1
  end
  return answer
end

-- Results ------------------------------------------------------------------------------------------------------------

local function case_document(answer)
  local case = answer.case
  return { case_id = case.id, model = answer.model, drafts = case.k, errors = answer.errors,
    simulated = answer.simulated, measured = case.measured, evidence = answer.evidence,
    speculation = answer.speculation, problem = answer.problem }
end

local percent = units.in_percent

local function case_rows(answers)
  local out = { { "case", "drafts", "TPOT ms", "error", "TTFT ms", "error", "tok/s", "error", "time rests on" } }
  for _, answer in ipairs(answers) do
    if answer.errors then
      local found, errors = answer.simulated, answer.errors
      out[#out + 1] = { answer.case.id, ("%d"):format(answer.case.k), ("%.2f"):format(found.tpot * 1e3),
        percent(errors.tpot, true), ("%.0f"):format(found.ttft * 1e3), percent(errors.ttft, true),
        ("%.0f"):format(found.throughput), percent(errors.throughput, true), words.evidence(answer.evidence) }
    end
  end
  return out
end

local function model_rows(of)
  local out = { { "model", "cases", "TPOT: mean", "median", "TTFT: mean", "median", "throughput: mean", "median" } }
  for _, model in ipairs(core.sorted_keys(of)) do
    local each = of[model]
    if type(each) == "table" then
      local row = { model, ("%d"):format(each.tpot.cases) }
      for _, metric in ipairs(totals.metrics) do
        row[#row + 1], row[#row + 2] = percent(each[metric].mean), percent(each[metric].median)
      end
      out[#out + 1] = row
    end
  end
  return out
end

local function order_rows(answers)
  local out = { { "model", "clients", "measured", "simulated" } }
  for _, row in ipairs(totals.orders(answers)) do
    out[#out + 1] = { row[1], ("%d"):format(row[2]), row[3], row[4] }
  end
  return out
end

--- Errors of cases, the largest of TPOT first; no measured values.
local function error_rows(answers)
  local list, out = {}, { { "case", "drafts", "TPOT", "TTFT", "tokens/s", "time rests on" } }
  for _, answer in ipairs(answers) do
    if answer.errors then list[#list + 1] = answer end
  end
  table.sort(list, function(a, b)
    local x, y = math.abs(a.errors.tpot), math.abs(b.errors.tpot)
    return x > y or x == y and a.case.id < b.case.id
  end)
  for _, answer in ipairs(list) do
    local errors = answer.errors
    out[#out + 1] = { answer.case.id, ("%d"):format(answer.case.k), percent(errors.tpot, true),
      percent(errors.ttft, true), percent(errors.throughput, true), words.evidence(answer.evidence) }
  end
  return out
end

--- Tables for the record: {title, rows}.
local function record(answers, of)
  return { { title = "Mean and median of |error| by model, in percent", rows = model_rows(of) },
    { title = "The order of numbers of drafts, from the slowest to the fastest", rows = order_rows(answers), left = 4 },
    { title = "Every case, the worst first, in percent", rows = error_rows(answers) } }
end

--- @return table {text, document, ran, record}
function Run:finish(answers)
  local of, ran, list = totals.document(answers), 0, json.array {}
  for i, answer in ipairs(answers) do
    list[i], ran = case_document(answer), ran + (answer.errors and 1 or 0)
  end
  local parts = {
    ("%s: %d cases, %d ran, %d did not"):format(self.path, #answers, ran, #answers - ran),
    ("Errors in percent, simulated / measured - 1, of means over requests; the acceptance of drafts is each run's own. "
      .. "Step model %s."):format(self.steps.name),
  }
  local function add(title, rows_of)
    if #rows_of > 1 then parts[#parts + 1] = title .. columns.after(1, rows_of) end
  end
  add("", case_rows(answers))
  add("Mean and median of |error|\n", model_rows(of))
  add("Numbers of drafts from the slowest to the fastest, by output tokens per second\n", order_rows(answers))
  return { text = table.concat(parts, "\n\n"), ran = ran, record = record(answers, of),
    document = { steps = self.steps.name, speculation = of, cases = list } }
end

return speculation
