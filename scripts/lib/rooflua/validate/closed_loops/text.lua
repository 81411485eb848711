-- The report of measured closed loops: errors by group and by deployment, and what was refused or assumed.
local errors = require "rooflua.validate.errors"
local totals = require "rooflua.validate.closed_loops.totals"

local text = {}

local worst_shown = 10

--- Columns of errors of a group.
local shown = { { "deployments", "deployments", "count" }, { "questions", "tpot.questions", "count" } }
for _, each in ipairs { { "tpot", "TPOT" }, { "e2e", "E2E" }, { "ttft_unsaturated", "TTFT unsaturated" },
  { "ttft", "TTFT" } } do
  local metric = each[1]
  for _, about in ipairs { { each[2] .. ": mean", metric .. ".mean_over_deployments" },
    { "weighted", metric .. ".weighted" }, { "median", metric .. ".median" },
    { "signed", metric .. ".signed_median", "signed" } } do
    shown[#shown + 1] = about
  end
end
shown[#shown + 1] = { "TPOT: exp mean |ln|", "tpot.exp_mean_log" }

local function has_deployments(of) return of.deployments > 0 end

--- Errors by config, class, engine, architecture, speculation, GPU and format.
function text.group_rows(document)
  local kinds = {}
  for i, kind in ipairs { "config", "class", "engine", "architecture", "speculation", "gpu", "format" } do
    kinds[i] = { kind, kind .. " ", kind == "class" and totals.classes or nil }
  end
  return errors.rows({ "group" }, shown, errors.lines(document, kinds, has_deployments))
end

local shown_of_whole = {}
for _, each in ipairs { { "makespan_s", "makespan" }, { "total_tokens_per_s", "tokens/s" } } do
  for _, about in ipairs { { each[2] .. ": mean", each[1] .. ".mean" }, { "median", each[1] .. ".median" },
    { "signed", each[1] .. ".signed_median", "signed" }, { "questions", each[1] .. ".questions", "count" } } do
    shown_of_whole[#shown_of_whole + 1] = about
  end
end

--- Errors of makespan and of tokens per second, where rows have them.
function text.whole_rows(document)
  local function has_one(of) return of.makespan_s or of.total_tokens_per_s end
  if not has_one(document.all) then return {} end
  return errors.rows({ "group" }, shown_of_whole, errors.lines(document, { { "class", "class ", totals.classes },
    { "engine", "engine " }, { "gpu", "gpu " } }, has_one))
end

--- Deployments with their errors, those that were scored, as lines of a table.
local function scored_deployments(answers)
  local out = {}
  for _, each in ipairs(totals.deployments(answers)) do
    local of = totals.of(each.answers)
    if of.deployments > 0 then out[#out + 1] = { each.key, of } end
  end
  return out
end

--- The deployments with the largest errors of TPOT.
---@param config string? only of questions with this config
function text.worst_rows(answers, config)
  if config then
    answers = errors.filtered(answers, function(answer) return answer.question.config == config end)
  end
  return errors.rows({ "deployment" }, shown, errors.worst(scored_deployments(answers),
    function(line) return line[2].tpot.mean end, function(line) return line[1] end, worst_shown))
end

local shown_of_question = { { "deployment", "question.key", "text" }, { "version", "question.version", "text" },
  { "isl", "question.isl", "text" }, { "osl", "question.osl", "text" }, { "clients", "question.clients", "text" },
  { "TPOT", "errors.tpot", "signed" }, { "E2E", "errors.e2e", "signed" }, { "TTFT", "errors.ttft", "signed" },
  { "time rests on", "rests", "text" } }

function text.deployment_rows(answers) return errors.rows({ "deployment" }, shown, scored_deployments(answers)) end

function text.question_rows(answers)
  local list = {}
  for _, answer in ipairs(answers) do
    if answer.errors then
      list[#list + 1] = { answer.question.id, { question = answer.question, errors = answer.errors,
        rests = errors.evidence(answer.evidence) } }
    end
  end
  return errors.rows({ "question" }, shown_of_question, list)
end

--- Questions that were not scored, by reason, with the first of each.
function text.refused_rows(answers)
  local rows = { { "questions", "reason", "first" } }
  local reasons, counts, first = errors.reasons(answers, function(answer) return answer.refused end)
  for _, reason in ipairs(reasons) do
    rows[#rows + 1] = { tostring(counts[reason]), reason, first[reason].problem or first[reason].question.where }
  end
  return rows
end

return text
