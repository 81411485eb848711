-- 90 % intervals of simulated TPOT, TTFT and E2E of closed loops, and how many measurements lie inside. They are those
-- of every answer (rooflua/intervals), with one difference: a question takes no points of its own model. Where its kind
-- has no other model, it takes what the kind would have if it had never been measured.
-- They hold for the step model `kernels` with its own parameters, and cost no simulation. Such an interval covers what
-- replicates cannot: kernels that an engine runs and the tables do not have, and wrong labels. It does not cover
-- settings that are not stated.
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local kinds = require "rooflua.intervals.kinds"
local making = require "rooflua.intervals.making"
local statistics = require "rooflua.base.statistics"
local widths = require "rooflua.intervals.widths"

local intervals = {}

intervals.metrics = widths.metrics

--- The load of a question, "saturated" or "unsaturated"; nil where it did not run.
function intervals.load(answer)
  local simulated = answer.simulated
  return simulated and kinds.load_of(simulated.queue_mean, simulated.ttft_mean)
end

--- The interval of a question: {tpot = {low, high, high_over_low, inside}, ttft, e2e}. low and high are in the unit of
--- the simulated figure; E2E has none of them. Nothing of what was not measured.
--- @param answer table {question, class, architecture, simulated, errors, evidence}
function intervals.of(answer)
  local question, simulated, out = answer.question, answer.simulated, {}
  local kind = { engine = question.engine, class = answer.class, architecture = answer.architecture or "unknown" }
  local load = intervals.load(answer)
  local basis = kinds.basis_of(answer.evidence or {})
  local ends = widths.without(kind, load, basis, making.family_of(question.key))
  if kinds.is_transient(simulated.e2e_mean, simulated.makespan_s, question.clients) then
    ends = widths.of_transient(ends)
  end
  for _, metric in ipairs(intervals.metrics) do
    local value, low, high = simulated[metric .. "_mean"], ends[metric][1], ends[metric][2]
    local off = answer.errors[metric] and -math.log(1 + answer.errors[metric]) -- of measured / simulated
    out[metric] = off and { low = value and value * math.exp(low), high = value and value * math.exp(high),
      high_over_low = math.exp(high - low), inside = off >= low and off <= high }
  end
  return out
end

--- Share of questions whose measurement is inside, and the median of high / low, of a list of answers.
function intervals.coverage(answers)
  local out = {}
  for _, metric in ipairs(intervals.metrics) do
    local inside, ratios = 0, {}
    for _, answer in ipairs(answers) do
      local one = answer.intervals and answer.intervals[metric]
      if one then
        inside = inside + (one.inside and 1 or 0)
        ratios[#ratios + 1] = one.high_over_low
      end
    end
    if #ratios == 0 then return nil end
    out[metric] = { questions = #ratios, inside_frac = inside / #ratios, high_over_low = statistics.median(ratios) }
  end
  return out
end

local groups = { { "engine", function(answer) return answer.question.engine end, "engine " },
  { "gpu", function(answer) return answer.question.system end, "gpu " }, { "load", intervals.load, "load " },
  { "class", function(answer) return answer.class end, "class " } }

--- {tpot, ttft, e2e} each {coverage, rows, high_over_low}, and the same by engine, gpu, load and class.
function intervals.document(answers)
  answers = errors.filtered(answers, function(answer) return answer.intervals end)
  local of = errors.document(answers, groups, function(list)
    local out = {}
    for metric, each in pairs(intervals.coverage(list) or {}) do
      out[metric] = { coverage = each.inside_frac, rows = each.questions, high_over_low = each.high_over_low }
    end
    return out
  end)
  local out = core.copy(of, of.all)
  out.all = nil
  return out
end

local shown = { { "questions", "tpot.rows", "count" } }
for _, each in ipairs { { "tpot", "TPOT" }, { "ttft", "TTFT" }, { "e2e", "E2E" } } do
  table.insert(shown, { each[2] .. ": inside", each[1] .. ".coverage" })
  table.insert(shown, { "high / low", each[1] .. ".high_over_low", "%.2f" })
end

--- A line for all of a document's questions and for each group.
function intervals.rows(document)
  local by = {}
  for i, kind in ipairs(groups) do by[i] = { kind[1], kind[3] } end
  return errors.rows({ "group" }, shown, errors.lines(core.copy(document, { all = document }), by))
end

return intervals
