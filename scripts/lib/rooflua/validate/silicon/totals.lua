-- Errors of questions by deployment and by group. A deployment's error is the mean over its questions, so that one that
-- was measured often does not outweigh the others.
--
--     error = simulated / measured - 1     of TPOT and of TTFT
local core = require "rooflua.base.core"
local intervals = require "rooflua.validate.silicon.intervals"
local statistics = require "rooflua.base.statistics"

local totals = {}

totals.metrics = { "tpot", "ttft" }
totals.classes = { "dense", "moe-tp", "tep", "dpa", "pd" }

--- Groups of questions besides `class`: the member of the document, and the field of a question.
local kinds = { { "engine", "engine" }, { "gpu", "system" }, { "format", "format" } }

--- The questions of each deployment, in the order of their first question.
--- @return table list of {key, answers}
function totals.deployments(answers)
  local out, by_key = {}, {}
  for _, answer in ipairs(answers) do
    local key = answer.question.key
    if key and not by_key[key] then
      by_key[key] = { key = key, answers = {} }
      out[#out + 1] = by_key[key]
    end
    if key then table.insert(by_key[key].answers, answer) end
  end
  return out
end

local function errors_of(answers, metric)
  local signed, absolute = {}, {}
  for _, answer in ipairs(answers) do
    if answer.errors then
      signed[#signed + 1] = answer.errors[metric]
      absolute[#absolute + 1] = math.abs(answer.errors[metric])
    end
  end
  return signed, absolute
end

local function figures(answers, metric)
  local signed, absolute = errors_of(answers, metric)
  local of_deployments = {}
  for _, deployment in ipairs(totals.deployments(answers)) do
    local _, own = errors_of(deployment.answers, metric)
    if #own > 0 then of_deployments[#of_deployments + 1] = statistics.mean(own) end
  end
  return { mean_over_deployments = statistics.mean(of_deployments), mean = statistics.mean(absolute),
    median = statistics.median(absolute), signed_median = statistics.median(signed), questions = #absolute },
    #of_deployments
end

--- {tpot, ttft, deployments, intervals where they were asked for} of a list of answers. Means are missing where no
--- question was scored.
function totals.of(answers)
  local out = {}
  for _, metric in ipairs(totals.metrics) do out[metric], out.deployments = figures(answers, metric) end
  out.intervals = intervals.coverage(answers)
  return out
end

local function groups_of(answers, name_of)
  local members, out = {}, {}
  for _, answer in ipairs(answers) do
    local name = answer.errors and name_of(answer)
    if name then
      members[name] = members[name] or {}
      table.insert(members[name], answer)
    end
  end
  for name, list in pairs(members) do out[name] = totals.of(list) end
  return out
end

local function coverage(answers)
  local scored, deployments, reached, refused = 0, totals.deployments(answers), 0, {}
  for _, answer in ipairs(answers) do
    if answer.errors then
      scored = scored + 1
    else
      refused[answer.refused] = (refused[answer.refused] or 0) + 1
    end
  end
  for _, deployment in ipairs(deployments) do
    local any = false
    for _, answer in ipairs(deployment.answers) do any = any or answer.errors ~= nil end
    reached = reached + (any and 1 or 0)
  end
  return { questions_frac = scored / #answers, deployments_frac = #deployments > 0 and reached / #deployments or 0,
    questions = #answers, deployments = #deployments, refused = refused }
end

--- The document's member `silicon`.
--- @param answers table list of {question, class, errors = {tpot, ttft} or nil, refused = reason}
function totals.document(answers)
  local out = { all = totals.of(answers), coverage = coverage(answers) }
  out.class = groups_of(answers, function(answer) return answer.class end)
  for _, class in ipairs(totals.classes) do out.class[class] = out.class[class] or totals.of {} end
  for _, kind in ipairs(kinds) do
    out[kind[1]] = groups_of(answers, function(answer) return answer.question[kind[2]] end)
  end
  return out
end

--- Share of the simulated time by evidence, every question the same weight.
function totals.evidence(answers)
  local out, count = {}, 0
  for _, answer in ipairs(answers) do
    if answer.evidence then
      count = count + 1
      for name, share in pairs(answer.evidence) do out[name] = (out[name] or 0) + share end
    end
  end
  for _, name in ipairs(core.sorted_keys(out)) do out[name] = out[name] / count end
  return out
end

return totals
