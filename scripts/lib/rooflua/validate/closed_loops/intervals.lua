-- 90 % intervals of simulated TPOT, TTFT and E2E of closed loops, and how many measurements lie inside. They are those
-- of every answer (rooflua/intervals), with one difference: a question takes no points of its own model. Where its kind
-- has no other model, it takes what the kind would have if it had never been measured.
-- They hold for the step model `kernels` with its own parameters, and cost no simulation. Such an interval covers what
-- replicates cannot: kernels that an engine runs and the tables do not have, and wrong labels. It does not cover
-- settings that are not stated.
local kinds = require "rooflua.intervals.kinds"
local making = require "rooflua.intervals.making"
local statistics = require "rooflua.base.statistics"
local widths = require "rooflua.intervals.widths"

local intervals = {}

intervals.metrics = widths.metrics

--- The interval of a question: {tpot = {low, high, high_over_low, inside}, ttft, e2e}. low and high are in the unit of
--- the simulated figure; E2E has none of them. Nothing of what was not measured.
--- @param answer table {question, class, architecture, simulated, errors, evidence}
function intervals.of(answer)
  local question, simulated, out = answer.question, answer.simulated, {}
  local kind = { engine = question.engine, class = answer.class, architecture = answer.architecture or "unknown" }
  local load = kinds.load_of(simulated.queue_mean, simulated.ttft_mean)
  local basis = kinds.basis_of(answer.evidence or {})
  local ends = widths.without(kind, load, basis, making.family_of(question.key))
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

return intervals
