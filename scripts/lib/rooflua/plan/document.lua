-- A plan as a document: {schema = "rooflua.plan/1", question, searched, ranks, unsure, candidates, prices, notes}.
local axes = require "rooflua.plan.axes"
local basis = require "rooflua.plan.basis"
local energy = require "rooflua.plan.energy"
local fleets = require "rooflua.plan.fleets"
local json = require "rooflua.json"
local money = require "rooflua.plan.money"
local words = require "rooflua.plan.words"

local document = {}

local array = json.array

--- The settings of a candidate, as its generator gave them, without tables that may hold policies.
function document.set(question, candidate)
  local out = { gpu = question.gpus[candidate.gpu].name }
  for _, axis in ipairs(axes.of_candidates()) do
    if axis.type ~= "table" then out[axis.name] = candidate[axis.name] end
  end
  return out
end

local function metrics_of(item)
  local out = {}
  for name, value in pairs(item.result.metrics) do
    local range = item.sure and item.sure.metrics[name] or {}
    out[name] = { value = value, low = range.low, high = range.high }
  end
  return out
end

local function slo_of(question, item, plan, rank)
  local sure = item.sure
  if not sure then return { met = 1, of = 1 } end
  return { met = sure.met, of = sure.of, p = sure.p, low = sure.low, high = sure.high,
    enough = sure.p >= question.confidence,
    seeds = rank == 1 and plan.seeds or nil, model = rank == 1 and plan.model or nil,
    missed = sure.missed, not_completed = sure.lost and { replicates = sure.lost.runs, by = sure.lost.by } or nil }
end

--- The bounds of joules per token; nil where the power policy says none.
local function joules_of(result)
  return result.joules_low and { low = result.joules_low, high = result.joules_high } or nil
end

--- Costs at the load without its peak; nil where there is none.
local function without_peak_of(question, item)
  local usual = item.without_peak
  if not usual then return nil end
  return { load = (question.load.value or 1) * question.load.peak * usual.scale, per_million = usual.per_million,
    joules_per_token = usual.joules_per_token, joules = joules_of(usual) }
end

--- A deployment of the answer.
local function rank_of(question, plan, item, rank)
  local result, load = item.result, question.load
  local function at(scale) return scale and (load.value or 1) * load.peak * scale or nil end
  return { rank = rank, name = item.candidate.name, candidate = item.candidate.index,
    gpus = { total = result.gpus, paid = result.paid_gpus, replicas = result.replicas,
      per_replica = result.gpus / result.replicas },
    set = document.set(question, item.candidate), objective = result.score, cost_per_hour = result.cost_per_hour,
    per_million = result.per_million, joules_per_token = result.joules_per_token, power = result.power_bound,
    joules = joules_of(result),
    power_from = result.joules_per_token and energy.basis(question, question.gpus[item.candidate.gpu]) or nil,
    load = { asked = at(1), served = result.scale ~= 1 and at(result.scale) or nil, holds_to = at(item.holds_to),
      holds_more = item.holds_more,
      without_one = at(item.without_one) },
    metrics = metrics_of(item), slo = slo_of(question, item, plan, rank), evidence = result.evidence,
    measured = item.measured,
    binds = result.binds,
    noted_frac = result.noted_frac, notes = array(basis.notes(question, item.candidate, result)),
    without_peak = without_peak_of(question, item), lost_by = item.lost_by, break_even = item.break_even }
end

local function candidates_of(question, found)
  local out = array {}
  for _, each in ipairs(found.candidates) do
    local result = each.result or {}
    out[#out + 1] = { index = each.index, name = each.name, ended = each.ended, problem = each.problem,
      replicas = result.replicas, objective = result.score, requests = result.requests, floor = each.floor,
      not_completed = result.best and result.best.lost and result.best.lost.by or nil,
      rate_bound_per_s = each.bound and each.bound.rate_per_s or nil, gpu = question.gpus[each.gpu].label }
  end
  return out
end

local function gpus_of(question)
  local out = array {}
  for i, each in ipairs(question.gpus) do
    local price = each.price
    out[i] = { name = each.name, label = each.label, most = each.has_most and each.most or nil,
      per_node = each.per_node, price_per_hour = price and price.typical or nil, yours = price and price.yours or false,
      low = price and price.low or nil, high = price and price.high or nil, date = price and price.date or nil,
      sources = price and price.sources and array(price.sources) or nil }
  end
  return out
end

local function slo_list(bounds)
  local out = array {}
  for i, each in ipairs(bounds) do out[i] = { metric = each.metric, min = each.min, max = each.max } end
  return out
end

--- The document of a plan.
function document.of(question, found, plan)
  local ranks, unsure, unfit, rungs = array {}, array {}, array {}, array {}
  for i, item in ipairs(plan.ranks) do ranks[i] = rank_of(question, plan, item, i) end
  for i, item in ipairs(plan.unsure) do unsure[i] = rank_of(question, plan, item, 0) end
  for i, each in ipairs(found.unfit) do
    unfit[i] = { reason = each.reason, count = each.count, example = each.example }
  end
  for i, each in ipairs(found.rungs) do
    rungs[i] = { name = each.name, requests = each.requests, candidates = each.candidates, runs = each.runs }
  end
  local by_bound, same = 0, 0
  for _, each in ipairs(found.candidates) do
    by_bound, same = by_bound + (each.ended == "by bound" and 1 or 0), same + (each.ended == "the same" and 1 or 0)
  end
  local drawn, origin = question.drawn, money.origin(question)
  return { schema = "rooflua.plan/1",
    question = { model = question.model.name, asked = words.asked(question), load = question.load,
      slo = slo_list(question.bounds), confidence = question.confidence, survive = question.survive,
      buy = question.buy, seed = question.seed, requests = question.requests, objective = question.objective.name,
      strategy = question.strategy.name, candidates = question.candidates.name, power = question.power.name,
      workload = { name = question.workload.name, mean_prompt = drawn.mean_prompt, mean_output = drawn.mean_output,
        longest = drawn.longest } },
    searched = { candidates = #found.candidates, unfit = unfit, by_bound = by_bound, same = same, rungs = rungs,
      audit = plan.audit, not_tried = array(found.not_tried), bounds_off = array(found.bounds_off),
      complete = plan.stopped == nil },
    ranks = ranks, unsure = unsure, candidates = candidates_of(question, found),
    prices = { gpus = gpus_of(question), yours = origin.yours, date = origin.date ~= "" and origin.date or nil },
    strict = plan.strict and { percent = plan.strict.percent, excluded = plan.strict.excluded,
      candidate = plan.strict.best and plan.strict.best.index or nil, problem = plan.strict.problem } or nil,
    intervals = plan.trusted ~= nil and { tested = plan.trusted, from = plan.trusted_from } or nil,
    day = plan.day and fleets.document(question, plan.day) or nil,
    notes = array(basis.sentences(question, found, plan)) }
end

return document
