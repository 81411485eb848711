-- Errors of questions by deployment and by group. A deployment's error is the mean over its questions, so that one that
-- was measured often does not outweigh the others.
--
--     error = simulated / measured - 1
--
--     tpot                  time per output token
--     e2e                   TTFT + (mean answer - 1) x TPOT
--     tokens_per_s_per_gpu  clients x mean answer / E2E / GPUs
--     makespan_s            from the first request to the last answer, where a row has it
--     total_tokens_per_s    tokens of prompts and answers over it, where a row has them
--     ttft                  time to the first token
--     ttft_unsaturated      the same where the row says saturated = no and warmup = yes: where clients wait for places,
--                           TTFT is the rest of a cycle, and an error of 1 % in the bottleneck moves it by many. Of a
--                           row that says neither and has a median, the median, if no simulated client waits
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local intervals = require "rooflua.validate.closed_loops.intervals"
local statistics = require "rooflua.base.statistics"

local totals = {}

totals.metrics = { "tpot", "e2e", "tokens_per_s_per_gpu", "ttft", "ttft_unsaturated" }
--- Metrics of a whole run, of which few files have any.
totals.whole = { "makespan_s", "total_tokens_per_s" }
totals.classes = { "dense", "moe-tp", "tep", "dpa", "pd" }

--- Groups of questions: the member of the document, and what a question says of it if it was scored.
totals.kinds = {
  { "class", function(answer) return answer.class end },
  { "engine", function(answer) return answer.question.engine end },
  { "architecture", function(answer) return answer.architecture end },
  { "speculation", function(answer)
    local said = answer.question.speculation
    return said ~= "" and said or answer.drafts and "mtp" or "none"
  end },
  { "config", function(answer) return answer.question.config end },
  { "gpu", function(answer) return answer.question.system end },
  { "format", function(answer) return answer.question.format end },
}
for _, kind in ipairs(totals.kinds) do
  local name_of = kind[2]
  kind[2] = function(answer) return answer.errors and name_of(answer) end
end

--- The errors of a question, by metric.
--- @param simulated table {ttft, tpot} in seconds
--- @param output_tokens number mean length of an answer, the same on both sides
function totals.errors(question, simulated, output_tokens)
  local measured = question.measured
  local function e2e(of) return of.ttft + (output_tokens - 1) * of.tpot end
  local out = { ttft = simulated.ttft / measured.ttft - 1 }
  if measured.tpot then
    out.tpot, out.e2e = simulated.tpot / measured.tpot - 1, e2e(simulated) / e2e(measured) - 1
    out.tokens_per_s_per_gpu = e2e(measured) / e2e(simulated) - 1
  end
  for _, metric in ipairs(totals.whole) do
    if measured[metric] and simulated[metric] then out[metric] = simulated[metric] / measured[metric] - 1 end
  end
  local median = question.measured.ttft_p50
  if simulated.waits or question.saturated == "yes" then return out end
  if question.saturated == "no" and question.warmup == "yes" then out.ttft_unsaturated = out.ttft end
  if question.warmup == "" and median then out.ttft_unsaturated = simulated.ttft_p50 / median - 1 end
  return out
end

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
    local error = answer.errors and answer.errors[metric]
    if error then
      signed[#signed + 1] = error
      absolute[#absolute + 1] = math.abs(error)
    end
  end
  return signed, absolute
end

--- The mean of the deployments' errors, each with the weight of the root of its questions.
local function weighted_mean(means, counts)
  local sum, all = 0, 0
  for i, mean in ipairs(means) do
    local weight = math.sqrt(counts[i])
    sum, all = sum + weight * mean, all + weight
  end
  return all > 0 and sum / all or nil
end

local function exp_mean_log(signed)
  if #signed == 0 then return nil end
  local sum = 0
  for _, error in ipairs(signed) do sum = sum + math.abs(math.log(1 + error)) end
  return math.exp(sum / #signed) - 1
end

local function figures(deployments, answers, metric)
  local signed, absolute = errors_of(answers, metric)
  local means, counts = {}, {}
  for _, deployment in ipairs(deployments) do
    local _, own = errors_of(deployment.answers, metric)
    if #own > 0 then means[#means + 1], counts[#counts + 1] = statistics.mean(own), #own end
  end
  return { mean_over_deployments = statistics.mean(means), weighted = weighted_mean(means, counts),
    mean = statistics.mean(absolute), median = statistics.median(absolute), signed_median = statistics.median(signed),
    exp_mean_log = exp_mean_log(signed), questions = #absolute }, #means
end

--- {tpot, e2e, tokens_per_s_per_gpu, ttft, ttft_unsaturated, deployments, intervals where they were asked for} of a
--- list of answers. Means are missing where no question was scored.
function totals.of(answers)
  local out, deployments = {}, totals.deployments(answers)
  for _, metric in ipairs(totals.metrics) do
    local count
    out[metric], count = figures(deployments, answers, metric)
    if metric == "tpot" then out.deployments = count end
  end
  for _, metric in ipairs(totals.whole) do
    local of = figures(deployments, answers, metric)
    if of.questions > 0 then out[metric] = of end
  end
  out.intervals = intervals.coverage(answers)
  return out
end

--- Rows that the file itself does not score are no questions.
local function coverage(answers)
  local count, scored, reached, refused, left_out = 0, 0, 0, {}, 0
  local deployments = 0
  for _, answer in ipairs(answers) do
    if answer.left_out then
      left_out = left_out + 1
    else
      count = count + 1
      scored = scored + (answer.errors and 1 or 0)
      if not answer.errors then refused[answer.refused] = (refused[answer.refused] or 0) + 1 end
    end
  end
  for _, deployment in ipairs(totals.deployments(answers)) do
    local any, asked = false, false
    for _, answer in ipairs(deployment.answers) do
      any, asked = any or answer.errors ~= nil, asked or not answer.left_out
    end
    deployments, reached = deployments + (asked and 1 or 0), reached + (any and 1 or 0)
  end
  return { questions_frac = count > 0 and scored / count or 0,
    deployments_frac = deployments > 0 and reached / deployments or 0, questions = count, deployments = deployments,
    left_out = left_out, refused = refused }
end

--- The figures of a file: {all, coverage, class, engine, architecture, speculation, config, gpu, format}.
--- @param answers table list of {question, class, architecture, errors by metric or nil, refused = reason, left_out}
function totals.document(answers)
  local out = errors.document(answers, totals.kinds, totals.of)
  out.coverage = coverage(answers)
  for _, class in ipairs(totals.classes) do out.class[class] = out.class[class] or totals.of {} end
  return out
end

--- What was assumed or is not modelled: {sentence = for how many questions}.
function totals.notes(answers) return errors.counts(answers, function(answer) return answer.notes end) end

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
