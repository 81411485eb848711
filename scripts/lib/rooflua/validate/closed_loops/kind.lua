-- Measured closed loops of public deployments as a kind of set (validate/harness.lua): one question per row.
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local intervals = require "rooflua.validate.closed_loops.intervals"
local json = require "rooflua.json"
local kinds = require "rooflua.intervals.kinds"
local native = require "rooflua.native"
local pair_rows = require "rooflua.validate.pairs.rows"
local pair_score = require "rooflua.validate.pairs.score"
local rows = require "rooflua.validate.closed_loops.rows"
local sets = require "rooflua.validate.sets"
local setup = require "rooflua.validate.closed_loops.setup"
local step_model = require "rooflua.validate.step_model"
local text = require "rooflua.validate.closed_loops.text"
local totals = require "rooflua.validate.closed_loops.totals"
local units = require "rooflua.text.units"

local what = "measured closed loops"

local loops = { name = "silicon", what = what, scopes = { silicon = true },
  words = { "cookbook", "amd", "rigs", "tuning" },
  joins = "folder",
  replaces = { file = "questions.csv", column = "options" }, lists_problems = true, columns = rows.required,
  reads = rows.reads }

function loops.refusals(options)
  local own = (options.steps[1] or "kernels") == "kernels" and not options.parameters
  return { tables = what .. " use the shipped tables of their GPUs; there is no folder to open",
    steps = step_model.refusal(options.steps, what), page = what .. " have no page; --json has all figures",
    intervals = not own and "intervals of closed loops are those of the step model kernels, without --set of its "
      .. "parameters" or nil }
end

--- Files with the lengths of requests that rows refer to.
function loops.files(path)
  local folder = sets.split(path)
  local out = pair_rows.files(folder .. "/")
  for _, row in ipairs((native.csv_read(path, true))) do
    if row.lengths_file then out[#out + 1] = folder .. "/" .. tostring(row.lengths_file) end
  end
  return out
end

-- Options ----------------------------------------------------------------------------------------------------------

--- What simulated figures are compared with: rows do not say whether they have means or medians. Of the two, means have
--- the smaller median error of TTFT (docs/VALIDATION.md).
local statistics = { mean = { ttft = "ttft_mean", tpot = "tpot_mean" }, median = { ttft = "ttft_p50",
  tpot = "tpot_p50" } }

local function options_of(scoped, folder)
  local out = { statistic = "mean", folder = folder }
  local names = core.sorted_keys(setup.options)
  names[#names + 1] = "statistic"
  for name, value in pairs(setup.options) do out[name] = value end
  for _, each in ipairs(scoped) do
    if each.name == "statistic" then
      out.statistic = statistics[each.text] and each.text
        or core.fail("--set %s: expected mean or median", each.given)
    elseif setup.options[each.name] == nil then
      core.fail("--set silicon.%s: %s", each.name, core.unknown_name("setting", each.name, names))
    else
      local smallest, number = each.name == "seeds" and 1 or 0, tonumber(each.text)
      if each.name == "modelled" and number ~= 0 and number ~= 1 then
        core.fail("--set %s: expected 0 or 1", each.given)
      end
      if not number or number < smallest or number % 1 ~= 0 then
        core.fail("--set %s: expected a whole number, %d or more", each.given, smallest)
      end
      out[each.name] = number
    end
  end
  return out
end

-- The run ----------------------------------------------------------------------------------------------------------

local Run = {}
Run.__index = Run

function loops.open(options)
  local folder = sets.split((options.paths or { options.path })[1]) .. "/"
  local run = { path = options.path, options = options_of(options.scoped, folder), wide = options.wide,
    steps = step_model.of(options.steps, options.parameters), intervals = (options.intervals or 0) > 0,
    ids = {}, names = {}, only = "id or deployment", cases_word = "question" }
  local needed
  run.pairs, needed = pair_rows.beside(folder)
  run.needed, run.questions = needed, {}
  for _, path in ipairs(options.paths or { options.path }) do
    for _, question in ipairs(rows.read(path, needed)) do table.insert(run.questions, question) end
  end
  for i, question in ipairs(run.questions) do
    run.ids[i], run.names[i] = question.id, question.id .. " " .. (question.key or "")
  end
  return setmetatable(run, Run)
end

--- @return table {simulated, output_tokens, evidence, notes}; empty of a row that the file does not score
function Run:case(i)
  local question = self.questions[i]
  if question.scored == "no" and not self.needed[question.id] or question.problem then return {} end
  local found = setup.answer(question, self.steps, self.options)
  found.notes = json.array(found.notes)
  return found
end

--- A short reason for counts: what differs from question to question is left out, and so are places in files.
local function reason_of(problem)
  for _, part in ipairs { "does not fit", "a request is refused", "model not known", "system not known" } do
    if problem:find(part, 1, true) then return part end
  end
  local said = problem
  while said:find "^[^%s:]+:%d+: " do said = said:gsub("^[^%s:]+:%d+: ", "") end
  said = said:gsub("[;(] ?known.*$", ""):gsub("; did you mean.*$", ""):gsub("%s+$", "")
  return said:match "^([^:]+:[^:]+)" or said
end

function Run:take(i, found, problem)
  local question = self.questions[i]
  local answer = { question = question }
  if question.scored == "no" then
    answer.left_out = question.scored_why ~= "" and question.scored_why or "the file does not score it"
    answer.of_pair = self.needed[question.id] and (found or {}).simulated or nil
    return answer
  end
  if question.problem then
    answer.refused, answer.problem = "broken row", question.problem
    return answer
  end
  answer.class, answer.architecture = setup.class(question, self.options.folder), setup.architecture(question)
  if problem then
    answer.refused, answer.problem = reason_of(problem), problem
    return answer
  end
  local names = statistics[self.options.statistic]
  answer.simulated, answer.evidence, answer.notes = found.simulated, found.evidence, found.notes
  answer.of_pair, answer.output_tokens = found.simulated, found.output_tokens
  answer.drafts = found.drafts
  local simulated = found.simulated
  answer.errors = totals.errors(question, { ttft = simulated[names.ttft], tpot = simulated[names.tpot],
    ttft_p50 = simulated.ttft_p50, makespan_s = simulated.makespan_s,
    total_tokens_per_s = simulated.total_tokens_per_s,
    waits = kinds.load_of(simulated.queue_mean, simulated.ttft_mean) == "saturated" },
    found.output_tokens)
  if self.intervals then answer.intervals = intervals.of(answer) end
  return answer
end

-- Results ------------------------------------------------------------------------------------------------------------

local function question_document(answer)
  local question = answer.question
  return { question = question.id, deployment = question.key, class = answer.class, engine = question.engine,
    gpu = question.system, architecture = answer.architecture, format = question.format, version = question.version,
    speculation = question.speculation ~= "" and question.speculation or nil, config = question.config,
    isl = question.isl, osl = question.osl, clients = question.clients, errors = answer.errors,
    intervals = answer.intervals, simulated = answer.simulated, measured = question.measured,
    evidence = answer.evidence, notes = answer.notes, refused = answer.refused, problem = answer.problem,
    left_out = answer.left_out }
end

--- {steps, silicon, assumed, settings}; with --wide also every question.
local function document(run, answers, of)
  local options = run.options
  local out = { steps = run.steps.name, silicon = of, assumed = totals.notes(answers), settings = {
    statistic = options.statistic, seeds = options.seeds, requests_per_client = options.requests_per_client,
    modelled = options.modelled == 1 and 1 or nil } }
  if run.wide then
    out.questions = json.array {}
    for i, answer in ipairs(answers) do out.questions[i] = question_document(answer) end
  end
  return out
end

local function requests_text(options)
  local given = options.requests_per_client
  return given > 0 and ("%d requests per client"):format(given) or "as many requests per client as a row says"
end

local function about_run(run, coverage, ran)
  local options = run.options
  local out_of = coverage.left_out > 0 and (", %d that the file does not score"):format(coverage.left_out) or ""
  return ("%s: %d questions of %d deployments, %d scored, %d not%s"):format(run.path, coverage.questions,
    coverage.deployments, ran, coverage.questions - ran, out_of),
    ("Errors in percent, simulated / measured - 1, of the %s over requests. Step model %s, %s, %s.")
      :format(options.statistic, run.steps.name, requests_text(options), units.counted(options.seeds, "seed"))
      .. "\n\"mean\" is over deployments, of the mean |error| of their questions; \"weighted\" gives a deployment the "
      .. "weight of the root of its questions; median and signed (median) are over questions. \"TTFT unsaturated\" is "
      .. "of rows that were warm and not saturated. config none: the settings are not known."
end

local function parts_of(run, answers, of, ran)
  local count, sentence = about_run(run, of.coverage, ran)
  local parts = { count, sentence }
  local function add(part) parts[#parts + 1] = part end
  add { rows = text.group_rows(of), left = 1, record = "Errors by group, in percent" }
  add { title = "Makespan and tokens per second of whole runs", rows = text.whole_rows(of), left = 1,
    record = "Makespan and tokens per second of whole runs, in percent" }
  add("Time rests on " .. errors.evidence(totals.evidence(answers)))
  add { title = "The ten deployments with the largest errors of TPOT", rows = text.worst_rows(answers), left = 1 }
  for _, config in ipairs(core.sorted_keys(of.config)) do
    add { rows = text.worst_rows(answers, config), left = 1, hidden = true,
      record = ("The ten worst by TPOT, config %s"):format(config) }
  end
  if run.intervals and ran > 0 then
    add { title = "Measured values inside the 90 % interval, from the errors of other models (no replicates are "
      .. "simulated)", rows = intervals.rows(of.intervals), left = 1,
      record = "Measured values inside the 90 % interval, in percent" }
  end
  add { title = "Not scored", rows = text.refused_rows(answers) }
  add(errors.titled("Assumed", errors.counted_lines(totals.notes(answers))))
  if run.wide then
    add { title = "Deployments and questions", rows = text.deployment_rows(answers), left = 1 }
    add { rows = text.question_rows(answers), left = 3 }
  end
  return parts
end

--- The pairs of the questions that were asked, with what was simulated of both sides. Without a file of pairs the
--- questions make them.
local function pairs_of(run, answers)
  local by_id, made, out = {}, {}, {}
  for _, answer in ipairs(answers) do
    by_id[answer.question.id] = answer
    if not answer.left_out and #run.pairs == 0 then made[#made + 1] = answer.question end
  end
  for _, pair in ipairs(run.pairs) do
    local baseline, treatment = by_id[pair.baseline], by_id[pair.treatment]
    if baseline and treatment then
      out[#out + 1] = pair_score.pair(pair, pair_score.gain(pair.judge, baseline.of_pair, treatment.of_pair))
    end
  end
  local function e2e(figures, tokens) return { e2e_mean = figures.ttft + (tokens - 1) * figures.tpot } end
  for _, pair in ipairs(pair_rows.made(made)) do
    local sides, simulated = {}, {}
    for i, id in ipairs { pair.baseline, pair.treatment } do
      local answer = by_id[id]
      local found = answer.of_pair
      sides[i] = e2e(answer.question.measured, answer.output_tokens or answer.question.osl)
      simulated[i] = found and e2e({ ttft = found.ttft_mean, tpot = found.tpot_mean }, answer.output_tokens)
    end
    pair.gain = pair_score.gain("e2e", sides[1], sides[2])
    out[#out + 1] = pair_score.pair(pair, pair_score.gain("e2e", simulated[1], simulated[2]))
  end
  return out
end

--- @return table {parts, document, ran, pairs}
function Run:finish(answers)
  local of, ran = totals.document(answers), 0
  if self.intervals then of.intervals = intervals.document(answers) end
  for _, answer in ipairs(answers) do ran = ran + (answer.errors and 1 or 0) end
  return { parts = parts_of(self, answers, of, ran), document = document(self, answers, of), ran = ran,
    pairs = pairs_of(self, answers) }
end

return loops
