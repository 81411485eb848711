-- The verdict of a plan's page: what to run and what it costs in one sentence, how sure that is, what it rests on and
-- what would change it. engine/measure/html/plan.js says the same where a price changes.
local basis = require "rooflua.plan.basis"
local confidence = require "rooflua.plan.confidence"
local items = require "rooflua.plan.page.items"
local json = require "rooflua.json"
local money = require "rooflua.plan.money"
local standing = require "rooflua.plan.standing"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local verdict = {}

local most_others = 3

--- "$2.22 per 1M output tokens"; where the load has a peak also at the load without it. nil where no price is known.
function verdict.per_million(question, item)
  local own, usual = item.result.per_million, item.without_peak
  if not own or not question.gpus[item.candidate.gpu].price then return nil end
  local text = words.dollars(own.output)
  if usual and usual.per_million then
    text = ("%s at %s, %s at %s"):format(text, words.load(question, item.result.scale),
      words.dollars(usual.per_million.output), words.load(question, usual.scale))
  end
  return text
end

local function amounts(question, item)
  local parts = {}
  if standing.key(question) ~= "cost_per_hour" and standing.key(question) then
    parts[1] = standing.figure(question, item)
  end
  if question.gpus[item.candidate.gpu].price then
    parts[#parts + 1] = words.dollars(item.result.cost_per_hour) .. " per hour"
  end
  local million = verdict.per_million(question, item)
  if million then parts[#parts + 1] = million .. " per 1M output tokens" end
  return table.concat(parts, "; ")
end

--- The sentence that a page begins with.
function verdict.lead(done)
  local question, plan = done.question, done.plan
  local first = plan.ranks[1]
  if not first then
    if plan.stopped then return "The search was interrupted before a deployment was found that meets this." end
    return plan.verified > 0 and "No deployment is sure enough." or "No deployment meets this."
  end
  local text = ("Run %s on %s: %s."):format(question.model.name, items.where(question, first),
    amounts(question, first))
  if plan.stopped then text = "So far, because the search was interrupted: " .. text end
  return text
end

local function sure_lines(done, item, is_first)
  local plan, out = done.plan, { words.sure(item.sure) }
  if item.sure then
    out[1] = ("%s. %s is asked."):format(out[1], units.percent(done.question.confidence, 0))
  end
  if is_first and plan.seeds then
    out[2] = ("Seeds alone: %s; errors of the model alone: %s."):format(units.percent(plan.seeds, 0),
      units.percent(plan.model, 0))
  end
  if item.sure then
    local is_tested, from = confidence.standing(done.question, item.candidate)
    out[#out + 1] = (is_tested and "The errors that replicates draw were tested on %s."
      or "The errors that replicates draw are a belief here, taken from %s."):format(from)
  end
  return out
end

local function limit_lines(question, item)
  local out = {}
  for i, each in ipairs(standing.metric_list(question, item)) do
    local bound = question.bounds[i]
    local limit = bound.max and "at most " .. words.value(bound.metric, bound.max)
      or "at least " .. words.value(bound.metric, bound.min)
    out[i] = ("%s %s%s; allowed is %s"):format(each.name, each.value, each.range and (" (%s)"):format(each.range) or "",
      limit)
  end
  return out
end

--- Share of the time that measured rows give or stand on both sides of.
function verdict.on_rows(result)
  local evidence = result.evidence or {}
  return (evidence.measured or 0) + (evidence.interpolated or 0)
end

local function rests_lines(item)
  local out = { ("%s of its time stands on measured rows (%s)."):format(units.percent(verdict.on_rows(item.result)),
    basis.evidence(item.result)) }
  local measured = item.measured
  if measured then
    out[2] = measured.about .. (measured.points and measured.points > 0 and "; " .. units.counted(measured.points,
      "measured point") or "") .. "."
  end
  return out
end

local function holds_lines(question, item)
  local held = item.holds_to and words.held(question, item)
  local out = { held and (item.holds_more and "M" .. held:sub(2) or "Up to " .. held) .. " in one run."
    or "Not known: a multiple of this load is the same load." }
  if item.without_one then
    out[#out + 1] = ("Without one replica up to %s."):format(words.load(question, item.without_one))
  end
  return out
end

--- The facts of a deployment that no price touches: lines by the key of their place on the page.
function verdict.told(done, item, is_first)
  return { sure = json.array(sure_lines(done, item, is_first)), limits = json.array(limit_lines(done.question, item)),
    rests = json.array(rests_lines(item)), holds = json.array(holds_lines(done.question, item)) }
end

--- The price of the first one's GPU up to which it stays first; nil where no other GPU is there.
local function stays_to(question, list, first)
  local least
  for _, each in ipairs(list) do
    local item = each.item
    if each.rank and not item.too_unsure and item.candidate.gpu ~= first.candidate.gpu then
      local cost = money.cost_of_score(question, first.result, item.result.score)
      if cost and (not least or cost < least) then least = cost end
    end
  end
  return least and least / first.result.paid_gpus
end

--- What would change the verdict: prices, and deployments that are better and not sure enough.
function verdict.changes(done, list)
  local question, out, first = done.question, {}, done.plan.ranks[1]
  if not first then return out end
  local function gpu_of(item) return question.gpus[item.candidate.gpu] end
  local of = money.by_cost(question, first.result)
  if of and of.slope == 0 then
    out[1] = ("No price changes the order: the objective is %s."):format(question.objective.name)
  end
  local to = stays_to(question, list, first)
  if to then
    out[1] = ("%s stays first up to %s per GPU and hour (now %s)."):format(gpu_of(first).label, words.dollars(to),
      words.dollars(gpu_of(first).price.typical))
  end
  local told = 0
  for _, each in ipairs(list) do
    local item = each.item
    if each.rank and each.rank > 1 and not item.too_unsure and item.break_even and told < most_others then
      told = told + 1
      out[#out + 1] = ("%s wins below %s per %s and hour (now %s)."):format(items.where(question, item),
        words.dollars(item.break_even), gpu_of(item).label, words.dollars(gpu_of(item).price.typical))
    end
  end
  for _, each in ipairs(list) do
    if each.is_better then
      out[#out + 1] = ("%s is %s and not sure enough: %s, %s."):format(items.where(question, each.item),
        standing.better(question), standing.figure(question, each.item), words.sure(each.item.sure))
    end
  end
  if #out == 0 then out[1] = "No price on this page: no deployment on another GPU is known that meets this." end
  return out
end

return verdict
