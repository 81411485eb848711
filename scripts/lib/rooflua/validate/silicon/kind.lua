-- Measured closed loops as a kind of set (validate/harness.lua), over silicon/command.lua, which has one file open at a
-- time: it is opened again for the run whose turn it is.
local native = require "rooflua.native"
local header = require "rooflua.validate.header"
local rows = require "rooflua.validate.silicon.rows"
local sets = require "rooflua.validate.sets"
local silicon = require "rooflua.validate.silicon.command"
local step_model = require "rooflua.validate.step_model"

local what = "measured closed loops"

local loops = { name = "silicon", what = what, scopes = { silicon = true }, words = { "cookbook", "amd" },
  replaces = { file = "questions.csv", column = "options" }, lists_problems = true,
  columns = { "question", "family", "system", "engine", "format", "mode", "widths_tp_dp_moetp_moeep", "isl", "osl",
    "clients", "ttft_ms", "tpot_ms" } }

function loops.reads(path, columns) return header.tells(path, loops.columns, columns) end

function loops.refusals(options)
  local own = (options.steps[1] or "kernels") == "kernels" and not options.parameters
  return { tables = what .. " use the shipped tables of their GPUs; there is no folder to open",
    steps = step_model.refusal(options.steps, what), page = what .. " have no page; --json has all figures",
    intervals = not own and "intervals of closed loops are those of the step model kernels, without --set of its "
      .. "parameters" or nil }
end

--- Files with the lengths of requests that rows refer to.
function loops.files(path)
  local folder, out = sets.split(path), {}
  for _, row in ipairs((native.csv_read(path, true))) do
    if row.lengths_file then out[#out + 1] = folder .. "/" .. tostring(row.lengths_file) end
  end
  return out
end

local Run = {}
Run.__index = Run

local opened -- the run that silicon/command.lua has open

local function open(run, only)
  silicon.open { folder = run.options.path, only = only, steps = run.options.steps, set = run.options.given,
    intervals = run.options.intervals, wide = run.options.wide == true, tables = "" }
  opened = run
end

function loops.open(options)
  local run = setmetatable({ options = options, ids = {}, names = {}, only = "id or deployment",
    cases_word = "question" }, Run)
  open(run, "")
  for i, question in ipairs(rows.read(options.path)) do
    run.ids[i], run.names[i] = question.id, question.id .. " " .. (question.key or "")
  end
  return run
end

function Run:case(i)
  if opened ~= self then open(self, "") end
  return silicon.case(i)
end

function Run:take(_, found, problem) return { found = found or {}, problem = problem } end

function Run:finish(answers)
  open(self, self.options.only)
  opened = nil -- its questions are now those of --only
  for n, answer in ipairs(answers) do silicon.take(n, answer.found, answer.problem) end
  local done = silicon.finish()
  done.document.schema, done.document.kind = nil, nil
  return done
end

return loops
