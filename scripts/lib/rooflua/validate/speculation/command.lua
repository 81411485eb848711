-- `rooflua validate FILE.csv` for measured runs of speculative decoding: one case per row. The program asks for each
-- case in a process of its own, as for the cases of a folder (validate/command.lua).
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local rows = require "rooflua.validate.speculation.rows"
local setup = require "rooflua.validate.speculation.setup"
local totals = require "rooflua.validate.speculation.totals"
local words = require "rooflua.validate.text"

local speculation = {}

local current

--- Whether this module reads a file.
speculation.reads = rows.is_file

-- Options --------------------------------------------------------------------------------------------------------

local function value_of(text)
  if text == "true" or text == "false" then return text == "true" end
  return tonumber(text) or text
end

--- Reads --set: speculation.NAME=VALUE is for the set-up of every case, drafter.NAME=VALUE for the drafter, anything
--- else for the step model.
local function options_of(sets)
  local options, of_steps = { drafter = {} }, nil
  for name, value in pairs(setup.options) do options[name] = value end
  for _, given in ipairs(sets) do
    local name, value = given:match "^([%w_.]+)=(.*)$"
    if not name then core.fail("--set %s: expected key=value", given) end
    local own, of_drafter = name:match "^speculation%.([%w_]+)$", name:match "^drafter%.([%w_]+)$"
    if own then
      if setup.options[own] == nil then
        core.fail("--set speculation.%s: %s", own, core.unknown_name("setting", own, core.sorted_keys(setup.options)))
      end
      options[own] = tonumber(value) or core.fail("--set %s: expected a number", given)
    elseif of_drafter then
      options.drafter[of_drafter] = value_of(value)
    else
      of_steps = of_steps or {}
      of_steps[name] = value_of(value)
    end
  end
  return options, of_steps
end

local function steps_of(names, of_steps)
  if #names > 1 then core.fail("--steps: measured speculation is compared with one step model, found %d", #names) end
  local steps = policies.of(Reader.new "validate", "steps", names[1])
  return of_steps and policy.with(steps, of_steps) or steps
end

local function check_options(options)
  if (options.tables or "") ~= "" then core.fail "--tables: measured speculation uses the shipped tables" end
  if (options.intervals or 0) > 0 then core.fail "--intervals: measured speculation has none" end
  if options.page then core.fail "--html: measured speculation has no page; --json has all figures" end
end

-- The run ----------------------------------------------------------------------------------------------------------

--- @param options table as of validate.open; `folder` is the file
--- @return table {cases = how many}
function speculation.open(options)
  check_options(options)
  local of_run, of_steps = options_of(options.set or {})
  local steps, all, selected = steps_of(options.steps or {}, of_steps), rows.read(options.folder), {}
  for _, case in ipairs(all) do
    if (options.only or "") == "" or case.id:find(options.only, 1, true) then selected[#selected + 1] = case end
  end
  if #selected == 0 then core.fail("--only: no case of %d has '%s' in its case_id", #all, options.only) end
  current = { path = options.folder, cases = selected, answers = {}, options = of_run, steps = steps }
  return { cases = #selected, tables = "" }
end

--- The first line of an error, without the place in a script.
local function problem_text(problem) return (tostring(problem):gsub("%s*\n.*", "")) end

--- Simulates case number i.
--- @return table {simulated, evidence, speculation}, or {problem}
function speculation.case(i)
  local case = current.cases[i]
  if case.problem then return { problem = case.problem } end
  local ok, found = pcall(setup.answer, case, current.steps, current.options)
  collectgarbage() -- simulations hold memory that Lua's collector does not count
  return ok and found or { problem = problem_text(found) }
end

--- Takes the result of case() in another process, or the reason why there is none.
function speculation.take(i, found, problem)
  local case = current.cases[i]
  local answer = { case = case }
  current.answers[i] = answer
  found = found or {}
  problem = problem and problem ~= "" and problem or found.problem
  if problem then
    answer.problem = problem
  else
    answer.model, answer.simulated, answer.evidence = setup.model(case).name, found.simulated, found.evidence
    answer.speculation, answer.errors = found.speculation, {}
    for _, metric in ipairs(totals.metrics) do
      answer.errors[metric] = found.simulated[metric] / case.measured[metric] - 1
    end
  end
  return { id = case.id }
end

-- Results ------------------------------------------------------------------------------------------------------------

local function case_document(answer)
  local case = answer.case
  return { case_id = case.id, model = answer.model, drafts = case.k, errors = answer.errors,
    simulated = answer.simulated, measured = case.measured, evidence = answer.evidence,
    speculation = answer.speculation, problem = answer.problem }
end

local function document(of)
  local out = { schema = 1, kind = "validation", steps = current.steps.name, speculation = of,
    cases = json.array {} }
  for i, answer in ipairs(current.answers) do out.cases[i] = case_document(answer) end
  return out
end

local function percent(value, sign) return (sign and "%+.1f" or "%.1f"):format(value * 100) end

local function case_rows()
  local out = { { "case", "drafts", "TPOT ms", "error", "TTFT ms", "error", "tok/s", "error", "time rests on" } }
  for _, answer in ipairs(current.answers) do
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

local function order_rows()
  local out = { { "model", "clients", "measured", "simulated" } }
  for _, row in ipairs(totals.orders(current.answers)) do
    out[#out + 1] = { row[1], ("%d"):format(row[2]), row[3], row[4] }
  end
  return out
end

local function report(of, ran)
  local answers = current.answers
  local parts = {
    ("%s: %d cases, %d ran, %d did not"):format(current.path, #answers, ran, #answers - ran),
    ("Errors in percent, simulated / measured - 1, of means over requests; the acceptance of drafts is each run's own. "
      .. "Step model %s."):format(current.steps.name),
  }
  local function add(title, list)
    if #list > 1 then parts[#parts + 1] = title .. columns.after(1, list) end
  end
  add("", case_rows())
  add("Mean and median of |error|\n", model_rows(of))
  add("Numbers of drafts from the slowest to the fastest, by output tokens per second\n", order_rows())
  local failed = {}
  for _, answer in ipairs(answers) do
    if answer.problem then failed[#failed + 1] = answer.case.id .. ": " .. answer.problem end
  end
  if #failed > 0 then parts[#parts + 1] = "Did not run\n" .. table.concat(failed, "\n") end
  return table.concat(parts, "\n\n")
end

--- @return table {text, document, ran}
function speculation.finish()
  local of, ran = totals.document(current.answers), 0
  for _, answer in ipairs(current.answers) do ran = ran + (answer.errors and 1 or 0) end
  return { text = report(of, ran), document = document(of), ran = ran }
end

--- Runs a whole file at once, for tests and scripts.
function speculation.run(options)
  local opened = speculation.open(options)
  for i = 1, opened.cases do speculation.take(i, speculation.case(i)) end
  return speculation.finish()
end

return speculation
