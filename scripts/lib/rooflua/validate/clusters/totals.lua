-- Errors of rows and gains of pairs, by kind and by deployment. Rows of quality A and B count; C and D stand beside.
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local metrics = require "rooflua.validate.clusters.metrics"
local score = require "rooflua.validate.clusters.score"
local statistics = require "rooflua.base.statistics"

local totals = {}

--- What a row says and what was simulated of it, as errors and for gains.
--- @param row table of rows.read
--- @param figures table? simulated, by columns; nil: the row did not run
function totals.answer(row, figures, problem)
  local out = { row = row, problem = problem, figures = figures, measured = {}, simulated = {}, errors = {},
    of_gain = {} }
  local list = metrics.arms[row.kind]
  if not list then return out end
  local columns
  out.measured, columns = metrics.measured(row, list)
  out.simulated = metrics.simulated(figures or {}, columns)
  out.errors = score.row(out.simulated, out.measured)
  local gains = metrics.gains[row.kind] or list
  local measured, gain_columns = metrics.measured(row, gains)
  out.of_gain = { measured = measured, simulated = metrics.simulated(figures or {}, gain_columns) }
  return out
end

--- Every pair of a treatment and the reference of its pair: {kind, deployment, counts, pair, arm, gains, error}.
function totals.pairs(answers)
  local references, out = {}, {}
  local function key(row) return table.concat({ row.kind, row.deployment, row.pair }, "\0") end
  for _, answer in ipairs(answers) do
    local row = answer.row
    if row.arm_role == "reference" and row.pair ~= "" then references[key(row)] = references[key(row)] or answer end
  end
  for _, answer in ipairs(answers) do
    local row = answer.row
    local reference = row.arm_role == "treatment" and row.pair ~= "" and references[key(row)]
    if reference then
      local gains = score.gains(row.kind, answer.of_gain, reference.of_gain)
      local values = {}
      for i, each in ipairs(gains) do values[i] = each.error end
      if #gains > 0 then
        out[#out + 1] = { kind = row.kind, deployment = row.deployment, pair = row.pair, arm = row.arm, gains = gains,
          counts = row.counts and reference.row.counts, error = statistics.mean(values), id = row.id }
      end
    end
  end
  return out
end

--- The mean error of a row over its metrics; nil where none of them was measured.
local function mean_of(by_metric)
  local values = {}
  for _, metric in ipairs(core.sorted_keys(by_metric)) do values[#values + 1] = by_metric[metric] end
  return statistics.mean(values)
end

local function arms_of(answers)
  local by_metric, all, out = {}, {}, {}
  for _, answer in ipairs(answers) do
    local deployment = answer.row.deployment
    for metric, e in pairs(answer.errors) do
      by_metric[metric] = by_metric[metric] or {}
      table.insert(by_metric[metric], { deployment = deployment, value = e })
    end
    local mean = mean_of(answer.errors)
    if mean then all[#all + 1] = { deployment = deployment, value = mean } end
  end
  for metric, list in pairs(by_metric) do out[metric] = score.figures(list) end
  return out, #all > 0 and score.figures(all) or nil
end

local function gain_of(list)
  local values, right, large = {}, 0, 0
  for i, pair in ipairs(list) do
    values[i] = { deployment = pair.deployment, value = pair.error }
    for _, gain in ipairs(pair.gains) do
      if gain.is_right ~= nil then
        large, right = large + 1, right + (gain.is_right and 1 or 0)
      end
    end
  end
  return { direction = large > 0 and right / large or nil, error = score.shown((score.over_deployments(values))),
    pairs = #list, compared = large }
end

local function group(answers, pairs_of)
  local ran = 0
  for _, answer in ipairs(answers) do ran = ran + (answer.figures and 1 or 0) end
  local arms, all = arms_of(answers)
  return { arms = arms, all = all, gain = gain_of(pairs_of), rows = #answers, ran = ran }
end

--- {kind = {arms, all, gain, rows, ran, beside = the same of qualities C and D, deployments = {name = the same}}}; a
--- kind without rows is absent.
function totals.document(answers)
  local out, all_pairs = {}, totals.pairs(answers)
  for _, kind in ipairs(metrics.kinds) do
    local own = errors.filtered(answers, function(answer) return answer.row.kind == kind end)
    local own_pairs = errors.filtered(all_pairs, function(pair) return pair.kind == kind end)
    if #own > 0 then
      local function part(counts, deployment)
        return group(errors.filtered(own, function(answer)
          return answer.row.counts == counts and (not deployment or answer.row.deployment == deployment)
        end), errors.filtered(own_pairs, function(pair)
          return pair.counts == counts and (not deployment or pair.deployment == deployment)
        end))
      end
      local of = part(true)
      local beside = part(false)
      of.beside = beside.rows > 0 and beside or nil
      of.deployments = {}
      for _, answer in ipairs(own) do
        local name = answer.row.deployment
        if not of.deployments[name] then
          of.deployments[name] = part(true, name)
          local other = part(false, name)
          if of.deployments[name].rows == 0 then of.deployments[name] = other end
          of.deployments[name].counts = of.deployments[name] ~= other
        end
      end
      out[kind] = of
    end
  end
  return out
end

--- What was assumed: {sentence = for how many rows}.
function totals.notes(answers) return errors.counts(answers, function(answer) return answer.notes end) end

return totals
