-- Measured runs of speculative decoding as a kind of set (validate/harness.lua): one case per row.
local cells = require "rooflua.validate.columns"
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local json = require "rooflua.json"
local rows = require "rooflua.validate.speculation.rows"
local setup = require "rooflua.validate.speculation.setup"
local step_model = require "rooflua.validate.step_model"
local totals = require "rooflua.validate.speculation.totals"

local speculation = { name = "speculation", what = "measured speculative decoding", columns = rows.required,
  reads = rows.reads, joins = "folder", scopes = { speculation = true, drafter = true } }

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
    steps = step_model.of(options.steps, options.parameters), cases = cells.read_all(options, rows) }
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

local shown_of_model, shown_of_error = { { "cases", "tpot.cases", "count" } }, {}
for _, each in ipairs { { "tpot", "TPOT", "TPOT" }, { "ttft", "TTFT", "TTFT" },
  { "throughput", "throughput", "tokens/s" } } do
  shown_of_model[#shown_of_model + 1] = { each[2] .. ": mean", each[1] .. ".mean" }
  shown_of_model[#shown_of_model + 1] = { "median", each[1] .. ".median" }
  shown_of_error[#shown_of_error + 1] = { each[3], "errors." .. each[1], "signed" }
end
shown_of_error[#shown_of_error + 1] = { "time rests on", "rests", "text" }

local shown_of_case = { { "TPOT ms", "ms.tpot", "%.2f" }, { "error", "errors.tpot", "signed" },
  { "TTFT ms", "ms.ttft", "%.0f" }, { "error", "errors.ttft", "signed" },
  { "tok/s", "simulated.throughput", "%.0f" }, { "error", "errors.throughput", "signed" },
  { "time rests on", "rests", "text" } }

--- Rows of answers that ran.
local function rows_of(answers, shown)
  local list = {}
  for _, answer in ipairs(answers) do
    local found = answer.simulated
    if answer.errors then
      list[#list + 1] = { answer.case.id, ("%d"):format(answer.case.k), { errors = answer.errors, simulated = found,
        ms = { tpot = found.tpot * 1e3, ttft = found.ttft * 1e3 }, rests = errors.evidence(answer.evidence) } }
    end
  end
  return errors.rows({ "case", "drafts" }, shown, list)
end

local function model_rows(of)
  local list = {}
  for _, model in ipairs(core.sorted_keys(of)) do
    if type(of[model]) == "table" then list[#list + 1] = { model, of[model] } end
  end
  return errors.rows({ "model" }, shown_of_model, list)
end

local function order_rows(answers)
  local out = { { "model", "clients", "measured", "simulated" } }
  for _, row in ipairs(totals.orders(answers)) do
    out[#out + 1] = { row[1], ("%d"):format(row[2]), row[3], row[4] }
  end
  return out
end

--- @return table {parts, document, ran}
function Run:finish(answers)
  local of, ran, list = totals.document(answers), 0, json.array {}
  for i, answer in ipairs(answers) do
    list[i], ran = case_document(answer), ran + (answer.errors and 1 or 0)
  end
  local worst = errors.worst(answers, function(answer) return answer.errors and math.abs(answer.errors.tpot) end,
    function(answer) return answer.case.id end)
  local orders = order_rows(answers)
  return { ran = ran, document = { steps = self.steps.name, speculation = of, cases = list }, parts = {
    ("%s: %d cases, %d ran, %d did not"):format(self.path, #answers, ran, #answers - ran),
    ("Errors in percent, simulated / measured - 1, of means over requests; the acceptance of drafts is each run's own. "
      .. "Step model %s."):format(self.steps.name),
    { rows = rows_of(answers, shown_of_case), left = 1 },
    { title = "Mean and median of |error|", rows = model_rows(of), left = 1,
      record = "Mean and median of |error| by model, in percent" },
    { title = "Numbers of drafts from the slowest to the fastest, by output tokens per second", rows = orders,
      left = 1 },
    { rows = orders, left = 4, record = "The order of numbers of drafts, from the slowest to the fastest",
      hidden = true },
    { rows = rows_of(worst, shown_of_error), left = 1, record = "Every case, the worst first, in percent",
      hidden = true } } }
end

return speculation
