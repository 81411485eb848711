-- The deployments that a plan's page tells of, and what the page's script reads of them to compute everything again
-- that a price touches (engine/measure/html/plan.js).
local against_load = require "rooflua.plan.against_load"
local candidates = require "rooflua.plan.candidates"
local json = require "rooflua.json"
local money = require "rooflua.plan.money"
local standing = require "rooflua.plan.standing"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local items = {}

local most_unsure = 3
local rounded = money.rounded

--- "4 x H100 (1 replica x tp 4)".
function items.title(question, item)
  return words.gpus(question, item.candidate, item.result, candidates.widths_text(item.candidate))
end

--- "4 x H100 (1 replica x tp 4), vllm, 64 seats, budget 2048".
function items.where(question, item)
  return items.title(question, item) .. ", " .. words.settings(item.candidate)
end

--- The ranks, then deployments that are not sure enough, which may be better at another price. Without ranks, those
--- that were not sure.
function items.list(done)
  local out, first = {}, done.plan.ranks[1]
  for i, item in ipairs(done.plan.ranks) do
    item.first, out[i] = first, { item = item, rank = i }
  end
  for i, item in ipairs(done.plan.unranked or done.plan.unsure) do
    if i <= most_unsure then
      local is_better = first ~= nil and rounded(item.result.score) < rounded(first.result.score)
      out[#out + 1] = { item = item, is_better = is_better }
    end
  end
  return out
end

--- The ranks of a list; all of it where there are none.
function items.ranks(list)
  local out = {}
  for _, each in ipairs(list) do
    if each.rank or not list[1].rank then out[#out + 1] = each end
  end
  return out
end

--- Short names that tell the deployments apart whatever their number of GPUs: "H100, tp 4".
function items.names(question, list)
  local out, count = {}, {}
  for i, each in ipairs(list) do
    local candidate = each.item.candidate
    out[i] = ("%s, %s%s"):format(question.gpus[candidate.gpu].label, candidates.widths_text(candidate),
      candidate.encoders and ", " .. words.encoders(candidate) or "")
    count[out[i]] = (count[out[i]] or 0) + 1
  end
  for i, each in ipairs(list) do
    if count[out[i]] > 1 then out[i] = out[i] .. ", " .. words.settings(each.item.candidate) end
  end
  for i, name in ipairs(out) do
    local same = 0
    for k = 1, i - 1 do same = same + (out[k]:gsub(" %(%d+%)$", "") == name and 1 or 0) end
    if same > 0 then out[i] = ("%s (%d)"):format(name, same + 1) end
  end
  return out
end

--- {load, tokens_per_s} of the loads at which the cost of a token is shown.
local function outputs_of(question, item)
  local out, usual = json.array {}, item.without_peak
  local function add(result)
    if not result.per_million then return end
    out[#out + 1] = { load = usual and words.load(question, result.scale) or "",
      tokens_per_s = result.output_tokens_per_s }
  end
  add(item.result)
  if usual then add(usual) end
  return out
end

--- What decides between deployments of one score, as answer.lua compares them.
local function tie_of(item)
  local sure = item.sure or { p = 0, low = 0 }
  return { p = sure.p, low = sure.low, margin = item.result.margin, gpus = item.result.gpus,
    name = item.candidate.name }
end

--- One deployment for the script. `told` has the facts that no price touches, `asked` whether it is sure enough.
local function item_of(question, each, told)
  local item, result = each.item, each.item.result
  return { gpu = item.candidate.gpu - 1, paid = result.paid_gpus, gpus = result.gpus, replicas = result.replicas,
    where = items.where(question, item), score = result.score, form = money.by_cost(question, result),
    figure = (standing.key(question) or "cost_per_hour") ~= "cost_per_hour" and standing.figure(question, item) or nil,
    outputs = outputs_of(question, item), tie = tie_of(item), is_sure = each.rank ~= nil and not item.too_unsure,
    is_rank = each.rank ~= nil,
    has_sure = item.sure ~= nil, holds_to = item.holds_to, holds_more = item.holds_more,
    met = words.sure(item.sure), lost = each.rank and each.rank > 1 and standing.lost(question, item) or nil,
    told = told }
end

local function gpus_of(question)
  local out = json.array {}
  for i, gpu in ipairs(question.gpus) do
    out[i] = { label = gpu.label, price = gpu.price and gpu.price.typical or nil }
  end
  return out
end

--- What every candidate that has a deployment costs: {index, gpu, paid}.
local function candidates_of(done)
  local out = json.array {}
  for _, each in ipairs(done.found.candidates) do
    local deployment = each.result and each.result.deployment
    if deployment then out[#out + 1] = { index = each.index, gpu = each.gpu - 1, paid = deployment.paid_gpus } end
  end
  return out
end

--- Points of the curves of the ranks: {x, gpus, per_dollar}: dollars per million output tokens at one dollar per GPU
--- and hour; nil where there are none.
function items.curves(question, curve)
  local out = json.array {}
  for rank, points in ipairs(curve and curve.ranks or {}) do
    out[rank] = json.array {}
    for _, point in ipairs(points) do
      table.insert(out[rank], { x = against_load.value(question, point.scale), gpus = point.gpus,
        per_dollar = point.output_tokens_per_s > 0 and point.paid_gpus / 3600 / point.output_tokens_per_s * 1e6 or 0 })
    end
  end
  return out
end

--- What the script reads: {model, asked, figure, better, gpus, words, items, names, curves, chart, candidates}.
---@param told table[] facts of each deployment
---@param names string[] of the curves
---@param chart string the title of the chart of costs
function items.data(done, list, told, names, curves, chart)
  local question, key = done.question, standing.key(done.question)
  local out = { model = question.model.name, figure = key,
    asked = units.percent(question.confidence, 0), better = standing.better(question), gpus = gpus_of(question),
    words = key and words.figures[key].same and { same = words.figures[key].same, more = words.figures[key].more }
      or { same = "scores the same", more = "has a worse score" },
    items = json.array {}, names = json.array(names), curves = curves, chart = chart, candidates = candidates_of(done) }
  for i, each in ipairs(list) do out.items[i] = item_of(question, each, told[i]) end
  return out
end

return items
