-- `rooflua validate FILE.csv`: measured closed loops of public deployments, one question per row. The program asks for
-- each question in a process of its own, as for the cases of a folder (validate/command.lua).
local beliefs = require "rooflua.validate.beliefs"
local core = require "rooflua.base.core"
local intervals = require "rooflua.validate.silicon.intervals"
local json = require "rooflua.json"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local rows = require "rooflua.validate.silicon.rows"
local settings = require "rooflua.validate.silicon.settings"
local setup = require "rooflua.validate.silicon.setup"
local text = require "rooflua.validate.silicon.text"
local totals = require "rooflua.validate.silicon.totals"

local silicon = {}

local current

--- The statistic that simulated figures are compared with. The file does not say whether it has means or medians. Of
--- the two, this one has the smaller median error of TTFT (docs/VALIDATION.md).
local statistic = "mean"
local statistics_known = { mean = { ttft = "ttft_mean", tpot = "tpot_mean" },
  median = { ttft = "ttft_p50", tpot = "tpot_p50" } }

-- Options --------------------------------------------------------------------------------------------------------

local function names_of_options()
  local out = { "statistic" }
  for name in pairs(setup.options) do out[#out + 1] = name end
  for _, name in ipairs(settings.names) do out[#out + 1] = name end
  table.sort(out)
  return out
end

local function number_of(name, value, given)
  local smallest = setup.options[name] == 0 and 0 or 1
  if name:find "_s$" then
    if not tonumber(value) or tonumber(value) < 0 then core.fail("--set %s: expected seconds, 0 or more", given) end
    return tonumber(value)
  end
  local number = tonumber(value)
  if not number or number < smallest or number % 1 ~= 0 then
    core.fail("--set %s: expected a whole number, %d or more", given, smallest)
  end
  return number
end

--- Settings that are true or false, and the table of the options that has them.
local booleans = {
  reserve_full = function(options) return options.overrides end,
  refuse = function(options) return options end,
}

--- Puts one --set silicon.NAME=VALUE into the options of the run.
local function put(options, name, value, given)
  if name == "statistic" then
    if not statistics_known[value] then core.fail("--set %s: expected mean or median", given) end
    options.statistic = value
  elseif booleans[name] then
    if value ~= "true" and value ~= "false" then core.fail("--set %s: expected true or false", given) end
    booleans[name](options)[name] = value == "true"
  elseif setup.options[name] then
    options[name] = number_of(name, value, given)
  else
    options.overrides[name] = number_of(name, value, given)
  end
end

--- Reads --set: silicon.NAME=VALUE is for the set-up of every question, anything else for the step model.
local function options_of(sets)
  local options, of_steps, known = { overrides = {}, statistic = statistic }, nil, {}
  for name, value in pairs(setup.options) do options[name] = value end
  for _, name in ipairs(names_of_options()) do known[name] = true end
  for _, given in ipairs(sets) do
    local name, value = given:match "^([%w_.]+)=(.*)$"
    if not name then core.fail("--set %s: expected key=value", given) end
    local own = name:match "^silicon%.([%w_]+)$"
    if own and not known[own] then
      core.fail("--set silicon.%s: %s", own, core.unknown_name("setting", own, names_of_options()))
    elseif own then
      put(options, own, value, given)
    else
      of_steps = of_steps or {}
      if value == "true" or value == "false" then value = value == "true" end
      of_steps[name] = tonumber(value) or value
    end
  end
  return options, of_steps
end

--- The step model: one, because a question has one answer.
local function steps_of(names, of_steps)
  if #names > 1 then core.fail("--steps: measured closed loops are compared with one step model, found %d", #names) end
  for _, belief in ipairs(beliefs.list()) do
    if belief.name == names[1] and (belief.plain_sampling or belief.tables and belief.steps ~= belief.name) then
      core.fail("--steps %s: needs tables of its own; measured closed loops use the shipped tables", names[1])
    end
  end
  local steps = policies.of(Reader.new "validate", "steps", names[1])
  return of_steps and policy.with(steps, of_steps) or steps
end

--- Options of the command that have no meaning here. Intervals need no replicates (silicon/intervals.lua): any number
--- asks for them.
local function check_options(options, steps, of_steps)
  if (options.intervals or 0) > 0 and (steps.name ~= "kernels" or of_steps) then
    core.fail("--intervals: intervals of closed loops are those of the step model kernels, "
      .. "without --set of its parameters")
  end
  if (options.tables or "") ~= "" then
    core.fail("--tables: measured closed loops use the shipped tables of their GPUs; there is no folder to open")
  end
  if options.page then core.fail "--html: measured closed loops have no page; --json has all figures" end
end

-- The run ----------------------------------------------------------------------------------------------------------

--- @param options table as of validate.open; `folder` is the file, `wide` also reports rows
--- @return table {cases = how many}
function silicon.open(options)
  local of_run, of_steps = options_of(options.set or {})
  local steps = steps_of(options.steps or {}, of_steps)
  check_options(options, steps, of_steps)
  local all, selected = rows.read(options.folder), {}
  for _, question in ipairs(all) do
    local name = question.id .. " " .. (question.key or "")
    if (options.only or "") == "" or name:find(options.only, 1, true) then selected[#selected + 1] = question end
  end
  if #selected == 0 then
    core.fail("--only: no question of %d has '%s' in its id or deployment", #all, options.only)
  end
  current = { path = options.folder, questions = selected, answers = {}, options = of_run, steps = steps,
    wide = options.wide == true, intervals = (options.intervals or 0) > 0 }
  return { cases = #selected, tables = "" }
end

--- The first line of an error, without the place in a script.
local function problem_text(problem) return (tostring(problem):gsub("%s*\n.*", "")) end

--- A short reason for counts: what differs from question to question is left out.
local function reason_of(problem)
  if problem:find "does not fit" then return "does not fit" end
  if problem:find "faster than the GPUs" then return "faster than the GPUs" end
  if problem:find "not a closed loop" then return "not a closed loop of its clients" end
  return problem:match "^([^:]+:[^:]+)" or problem
end

local function empty_answer(i)
  local question = current.questions[i]
  local answer = { question = question }
  current.answers[i] = answer
  if question.problem then
    answer.refused, answer.problem = "broken row", question.problem
    return answer
  end
  answer.refused = setup.refusal(question, current.options)
  answer.class = not answer.refused and setup.class(question) or nil
  return answer
end

--- Simulates question number i.
--- @return table {simulated, evidence, notes}, or {problem}; empty if it is refused
function silicon.case(i)
  local answer = empty_answer(i)
  if answer.refused then return {} end
  local ok, found = pcall(setup.answer, answer.question, current.steps, current.options)
  collectgarbage() -- simulations hold memory that Lua's collector does not count
  if not ok then return { problem = problem_text(found) } end
  found.notes = json.array(found.notes or {})
  return found
end

--- Takes the result of case() in another process, or the reason why there is none.
function silicon.take(i, found, problem)
  local answer = empty_answer(i)
  found = found or {}
  problem = problem and problem ~= "" and problem or found.problem
  if problem and not answer.refused then
    answer.refused, answer.problem = reason_of(problem), problem
  elseif not answer.refused then
    local names, measured = statistics_known[current.options.statistic], answer.question.measured
    answer.simulated, answer.evidence, answer.notes = found.simulated, found.evidence, found.notes
    answer.errors = {}
    for metric, name in pairs(names) do answer.errors[metric] = found.simulated[name] / measured[metric] - 1 end
    if current.intervals then answer.intervals = intervals.of(answer) end
  end
  return { id = answer.question.id }
end

-- Results ------------------------------------------------------------------------------------------------------------

local function question_document(answer)
  local question = answer.question
  return { question = question.id, deployment = question.key, class = answer.class, engine = question.engine,
    gpu = question.system, format = question.format, version = question.version, isl = question.isl, osl = question.osl,
    clients = question.clients, errors = answer.errors,
    intervals = answer.intervals, simulated = answer.simulated, measured = question.measured,
    evidence = answer.evidence, notes = answer.notes, refused = answer.refused, problem = answer.problem }
end

local function requests_text()
  local given = current.options.requests_per_client
  return given > 0 and ("%d requests per client"):format(given)
    or "as many requests per client as a row's program sends"
end

--- {schema, kind, steps, silicon}; with --wide also every question. requests_per_client 0: as many as a row's program
--- sends.
local function document(of)
  local out = { schema = 1, kind = "validation", steps = current.steps.name, silicon = of,
    settings = { statistic = current.options.statistic, seeds = current.options.seeds,
      requests_per_client = current.options.requests_per_client, refuse = current.options.refuse } }
  if current.wide then
    out.questions = json.array {}
    for i, answer in ipairs(current.answers) do out.questions[i] = question_document(answer) end
  end
  return out
end

local function report(of, ran)
  local answers, options = current.answers, current.options
  local parts = {
    ("%s: %d questions of %d deployments, %d scored, %d not"):format(current.path, #answers, of.coverage.deployments,
      ran, #answers - ran),
    ("Errors in percent, simulated / measured - 1, of the %s over requests. Step model %s, %s, %d seed%s.")
      :format(options.statistic, current.steps.name, requests_text(), options.seeds, options.seeds == 1 and "" or "s")
      .. "\n\"deployments\": the mean over deployments of the mean |error| of their questions; mean, median and signed "
      .. "(median) are over questions.",
    text.groups(of, answers),
  }
  local function add(title, body)
    if body ~= "" then parts[#parts + 1] = title .. "\n" .. body end
  end
  if ran > 0 then
    add("The ten deployments with the largest errors of TPOT",
      text.worst(answers))
  end
  if current.intervals and ran > 0 then
    add("Measured values inside the 90 % interval, from the errors of other models (no replicates are simulated)",
      text.intervals(of))
  end
  add("Not scored", text.refused(answers))
  add("Assumed", text.notes(answers))
  if current.wide then
    add("Deployments and questions", text.wide(answers))
    add("Settings of engines", text.settings())
  end
  return table.concat(parts, "\n\n")
end

--- @return table {text, document, ran}
function silicon.finish()
  local of, ran = totals.document(current.answers), 0
  for _, answer in ipairs(current.answers) do ran = ran + (answer.errors and 1 or 0) end
  return { text = report(of, ran), document = document(of), ran = ran }
end

--- Runs a whole file at once, for tests and scripts.
function silicon.run(options)
  local opened = silicon.open(options)
  for i = 1, opened.cases do silicon.take(i, silicon.case(i)) end
  return silicon.finish()
end

return silicon
