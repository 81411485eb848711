-- 90 % intervals of simulated TPOT and TTFT of closed loops: where a measurement lies, from the errors that other
-- deployments had.
--
--     low, high = simulated * exp(q05), simulated * exp(q95)      q: quantiles of log(measured / simulated)
--
-- The quantiles are over questions of the same class (dense, moe-tp, tep, dpa, pd), of other models than the one asked
-- about. A question of a deployment with n questions weighs 1 / sqrt(n): between "every question" and "every
-- deployment". Where other models have fewer than 40 questions in a class, the class as a whole takes their place; a
-- class that has fewer in all, or is of one model, takes those of all classes. The questions are those whose settings
-- are stated (config exact or mixed): others show what nobody knows, and not how far the simulation is off. Quantiles
-- are in residuals.lua, and the figures that they were made of are not. They hold for the step model `kernels` with its
-- own parameters, and cost no simulation.
-- Such an interval covers what replicates cannot: kernels that an engine runs and the tables do not have, and wrong
-- labels. It does not cover settings that nobody stated.
local core = require "rooflua.base.core"
local statistics = require "rooflua.base.statistics"
local residuals = require "rooflua.validate.closed_loops.residuals"

local intervals = {}

intervals.low, intervals.high, intervals.fewest, intervals.fewest_models = 0.05, 0.95, 40, 2

local metrics = { "tpot", "ttft" }
local simulated = { tpot = "tpot_mean", ttft = "ttft_mean" }

--- The model of a deployment's key.
local function family_of(key) return key:match "^[^|]+" end

--- The quantiles of a class without a model: {tpot = {low, high}, ttft = {low, high}}.
function intervals.quantiles(class, family)
  local of = residuals[class] or residuals.all
  return of.without[family] or of
end

--- The class of one engine that serves a model, as of a question: dense, moe-tp, tep or dpa.
--- @param widths table? {dp, ep} of a case
function intervals.class_of(model, widths)
  widths = widths or {}
  if (widths.dp or 1) > 1 then return "dpa" end
  if not model.moe then return "dense" end
  return (widths.ep or 1) > 1 and "tep" or "moe-tp"
end

--- The interval of a question: {tpot = {low, high, inside}, ttft = ...}, in the unit of the simulated figures.
--- @param answer table {question, class, simulated}
function intervals.of(answer)
  local quantiles, out = intervals.quantiles(answer.class, family_of(answer.question.key)), {}
  for _, metric in ipairs(metrics) do
    local value, measured = answer.simulated[simulated[metric]], answer.question.measured[metric]
    local range = quantiles[metric]
    local low, high = value * math.exp(range[1]), value * math.exp(range[2])
    out[metric] = { low = low, high = high, inside = measured >= low and measured <= high }
  end
  return out
end

--- Share of questions whose measurement is inside, and the median of high / low, of a list of answers.
function intervals.coverage(answers)
  local out = {}
  for _, metric in ipairs(metrics) do
    local inside, widths = 0, {}
    for _, answer in ipairs(answers) do
      local one = answer.intervals and answer.intervals[metric]
      if one then
        inside = inside + (one.inside and 1 or 0)
        widths[#widths + 1] = one.high / one.low
      end
    end
    if #widths == 0 then return nil end
    out[metric] = { questions = #widths, inside_frac = inside / #widths, high_over_low = statistics.median(widths) }
  end
  return out
end

-- Making closed_loops/residuals.lua -----------------------------------------------------------------------------------

--- The value below which a share of the weights lies.
local function weighted_quantile(list, share)
  table.sort(list, function(a, b) return a[1] < b[1] end)
  local all, sum = 0, 0
  for _, each in ipairs(list) do all = all + each[2] end
  for _, each in ipairs(list) do
    sum = sum + each[2]
    if sum >= share * all then return each[1] end
  end
end

--- Quantiles of questions without a family; nil where too few are left.
local function quantiles_of(list, weights, without)
  local out = {}
  for _, metric in ipairs(metrics) do
    local values = {}
    for _, each in ipairs(list) do
      if each.family ~= without then
        values[#values + 1] = { each[metric], weights[each.deployment] }
      end
    end
    if #values < intervals.fewest then return nil end
    out[metric] = { weighted_quantile(values, intervals.low), weighted_quantile(values, intervals.high) }
  end
  return out
end

--- How many models a list of questions is about.
local function models_of(list)
  local count, seen = 0, {}
  for _, each in ipairs(list) do
    count, seen[each.family] = count + (seen[each.family] and 0 or 1), true
  end
  return count
end

local is_stated = { exact = true, mixed = true }

--- The content of residuals.lua from the questions of a document (`rooflua validate FILE.csv --wide --json F`): those
--- whose settings are stated.
--- @param questions table of the document
--- @return table {class = {tpot = {low, high}, ttft, questions, without = {family = {tpot, ttft}}}}
function intervals.residuals_of(questions)
  local classes, counts, weights = { all = {} }, {}, {}
  for _, each in ipairs(questions) do
    if each.simulated and is_stated[each.config] then
      local one = { family = family_of(each.deployment), deployment = each.deployment }
      for _, metric in ipairs(metrics) do
        one[metric] = math.log(each.measured[metric] / each.simulated[simulated[metric]])
      end
      counts[each.deployment] = (counts[each.deployment] or 0) + 1
      classes[each.class] = classes[each.class] or {}
      table.insert(classes[each.class], one)
      table.insert(classes.all, one)
    end
  end
  for deployment, count in pairs(counts) do weights[deployment] = count ^ -0.5 end
  local out = {}
  for name, list in pairs(classes) do
    local is_wide = name == "all" or models_of(list) >= intervals.fewest_models
    local class = is_wide and quantiles_of(list, weights)
    if class then
      class.questions, class.without = #list, {}
      for _, each in ipairs(list) do
        local family = each.family
        class.without[family] = class.without[family] or quantiles_of(list, weights, family)
      end
      out[name] = class
    end
  end
  return out
end

--- That content as text.
function intervals.text_of(found)
  local lines = {
    "-- Quantiles of log(measured / simulated), 5 and 95 %, by class; `without`: of other models than the one named.",
    "-- Made by tests/fidelity/closed_loop_intervals.lua from measured closed loops whose settings are stated;",
    "-- closed_loops/intervals.lua says how.",
    "return {",
  }
  local function range(one) return ("{ %.3f, %.3f }"):format(one[1], one[2]) end
  local function both(one) return ("tpot = %s, ttft = %s"):format(range(one.tpot), range(one.ttft)) end
  for _, name in ipairs(core.sorted_keys(found)) do
    local class = found[name]
    lines[#lines + 1] = ("  [%q] = {\n    questions = %d, %s,"):format(name, class.questions, both(class))
    lines[#lines + 1] = "    without = {"
    for _, family in ipairs(core.sorted_keys(class.without)) do
      lines[#lines + 1] = ("      [%q] = { %s },"):format(family, both(class.without[family]))
    end
    lines[#lines + 1] = "    },\n  },"
  end
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

return intervals
