-- The answer of a plan: deployments in order, the winner among those that are sure enough, and why each of the others
-- lost. `found` is what search.run returned.
local confidence = require "rooflua.plan.confidence"
local evaluate = require "rooflua.plan.evaluate"
local fleets = require "rooflua.plan.fleets"
local keep = require "rooflua.plan.keep"
local load = require "rooflua.machine.load"
local money = require "rooflua.plan.money"
local search = require "rooflua.plan.search"
local strict = require "rooflua.plan.strict"
local words = require "rooflua.plan.words"

local answer = {}

local function score_of(item) return money.rounded(item.result.score) end

--- Order of deployments: score, probability, the least that it may be, distance from the limits, fewer GPUs, name.
local function before(a, b)
  local x, y = score_of(a), score_of(b)
  if x ~= y then return x < y end
  for _, key in ipairs { "p", "low" } do
    local p, q = a.sure and a.sure[key] or 0, b.sure and b.sure[key] or 0
    if p ~= q then return p > q end
  end
  if a.result.margin ~= b.result.margin then return a.result.margin < b.result.margin end
  if a.result.gpus ~= b.result.gpus then return a.result.gpus < b.result.gpus end
  return a.candidate.name < b.candidate.name
end

--- Every deployment that a full run found to meet the SLO.
local function verified(found)
  local out = {}
  for _, candidate in ipairs(found.left) do
    local result = candidate.result
    if result and result.score and result.deployment and candidate.ended == "in full" then
      out[#out + 1] = { candidate = candidate, result = result.deployment }
    end
  end
  table.sort(out, before)
  return out
end

--- The same candidate with other replicas or at another multiple of the load; nil where it does not meet the SLO.
local function with(question, item, replicas, scale)
  local candidate = item.candidate
  local result = search.parallel(question, 1, "surer", function()
    return evaluate.run(question, candidate, replicas, { requests = question.requests, seed = question.seed,
      scale = scale, steady = true })
  end, function() return { candidate = keep.candidate(candidate), replicas = replicas, scale = scale } end)[1]
  if not result.meets or strict.problem(question, result) then return nil end
  money.add(question, candidate, result)
  result.needs, result.held = item.result.needs, item.result.held or item.result.scale
  return { candidate = candidate, result = result, added = (item.added or 0) + 1 }
end

--- With one more replica; nil where there are no GPUs.
local function one_more(question, item)
  local replicas = item.result.replicas + 1
  if replicas > item.candidate.most + question.survive then return nil end
  return with(question, item, replicas, 1)
end

local less = 0.93 -- of the load: at the edge, 7 % of load are 15 % of TPOT p99

--- At a lower load, where the largest one is looked for; nil below the load that is asked for.
local function less_load(question, item)
  local scale = item.result.scale * less
  if scale < 1 then return nil end
  return with(question, item, item.result.replicas, scale)
end

local most_added = { replicas = 3, load = 6 } -- steps for the sake of confidence

--- Whether a deployment loses too many requests for reasons that neither replicas nor a lower load change.
local function never_sure(question, sure)
  return sure.lost ~= nil and 1 - sure.lost.never / sure.of < question.confidence
end

--- Adds `sure` to a deployment, or takes one with more replicas (where the largest load is looked for: with less load)
--- until one is sure enough. Returns it, and those that were not sure.
local function until_sure(question, item)
  local unsure = {}
  local seeks_load = question.objective.seeks == "load"
  local surer, most = one_more, most_added.replicas
  if seeks_load then surer, most = less_load, most_added.load end
  while item do
    item.sure = item.sure or confidence.of(question, item.candidate, item.result.replicas, item.result.scale)
    if not item.sure or item.sure.p >= question.confidence then return item, unsure end
    unsure[#unsure + 1] = item
    if (item.added or 0) >= most or never_sure(question, item.sure) then return nil, unsure end
    item = surer(question, item)
  end
  return nil, unsure
end

local most_shapes = 6 -- whose probability is looked at before the planner gives up

--- Whether a deployment may be better than the best: it costs less, or the same where the best can miss.
local function may_beat(item, best)
  local x, y = score_of(item), score_of(best)
  return x < y or x == y and best.sure ~= nil and best.sure.p < 1
end

--- What was learned of shapes: calls of `of` look at the probability of the first deployment of a shape.
--- {found: the one that is sure enough, or nil} by shape, and `unsure`: those that were not.
local function looks(question)
  local out = { by_shape = {}, unsure = {}, count = 0 }
  function out.of(item)
    local shape = words.shape(item.candidate)
    if not out.by_shape[shape] then
      local found, missed = until_sure(question, item)
      for _, each in ipairs(missed) do out.unsure[#out.unsure + 1] = each end
      out.by_shape[shape], out.count = { found = found }, out.count + 1
    end
    return out.by_shape[shape].found
  end
  return out
end

--- The winner: the best of those that are sure enough; nil where none is.
local function choose(list, looked)
  local best
  for _, item in ipairs(list) do
    if looked.count >= most_shapes then break end
    if not looked.by_shape[words.shape(item.candidate)] and not (best and not may_beat(item, best)) then
      local found = looked.of(item)
      if found and (not best or before(found, best)) then best = found end
    end
  end
  return best
end

--- The winner and the runners-up in order: the best of each other family, then of other shapes. Those that are not sure
--- enough come last. One that is not and costs less than the winner is named above it, and is no rank.
local function ranked(question, list, best, looked)
  local sure, others, used = { best }, {}, { [words.shape(best.candidate)] = true }
  local families = { [best.candidate.family] = true }
  local function take(only_new_families)
    for _, item in ipairs(list) do
      local shape = words.shape(item.candidate)
      if #sure + #others < question.ranks and not used[shape]
        and not (only_new_families and families[item.candidate.family]) then
        used[shape] = true
        local found = looked.of(item)
        if found or score_of(item) >= score_of(best) then
          families[item.candidate.family] = true
          table.insert(found and sure or others, found or item)
        end
      end
    end
  end
  take(true)
  take(false)
  table.sort(sure, before)
  table.sort(others, before)
  for _, item in ipairs(others) do
    sure[#sure + 1], item.too_unsure = item, true
  end
  return sure
end

--- Those that are not sure and no ranks: all of them, and those that cost less than the winner.
local function unranked(best, looked, ranks)
  local all, cheaper, told = {}, {}, {}
  for _, item in ipairs(ranks) do told[item] = true end
  for _, item in ipairs(looked.unsure) do
    if not told[item] then all[#all + 1] = item end
  end
  table.sort(all, before)
  for _, item in ipairs(all) do
    if score_of(item) < score_of(best) then cheaper[#cheaper + 1] = item end
  end
  return all, cheaper
end

--- Largest loads of deployments as multiples of the load, and of the first without one replica. There are none where
--- a multiple of the workload is the same workload.
local function add_loads(question, ranks)
  if not load.is_scalable(question) then return end
  local asks, seeks_load = {}, question.objective.seeks == "load"
  for i, item in ipairs(ranks) do
    asks[i] = { candidate = item.candidate, replicas = item.result.replicas, meets = true,
      known = seeks_load and (item.result.held or item.result.scale) or nil }
  end
  local best = ranks[1].result
  if best.replicas > 1 then
    local ask = { candidate = ranks[1].candidate, replicas = best.replicas - 1 }
    if best.missed and best.missed.replicas == ask.replicas then ask.meets = false end
    asks[#asks + 1] = ask
  end
  local most_scale = seeks_load and 2 * asks[1].known or nil
  local found = search.parallel(question, #asks, "largest loads", function(i)
    local ask = asks[i]
    if ask.known then return { scale = ask.known } end
    local scale, _, _, is_more = evaluate.holds_to(question, ask.candidate, ask.replicas, {
      requests = question.requests, seed = question.seed, steady = true, meets = ask.meets, most_scale = most_scale,
      brief = true })
    return { scale = scale, is_more = is_more }
  end, function(i) return { candidate = keep.candidate(asks[i].candidate), replicas = asks[i].replicas } end)
  for i, item in ipairs(ranks) do item.holds_to, item.holds_more = found[i].scale, found[i].is_more end
  if #asks > #ranks then ranks[1].without_one = found[#asks].scale end
end

--- Where a peak multiplies the load: what the deployments cost and draw at the load without it.
local function add_without_peak(question, ranks)
  local peak = question.load.peak
  if peak == 1 or question.objective.seeks == "load" then return end
  local found = search.parallel(question, #ranks, "load without the peak", function(i)
    return evaluate.run(question, ranks[i].candidate, ranks[i].result.replicas, { requests = question.requests,
      seed = question.seed, scale = 1 / peak, brief = true })
  end, function(i)
    return { candidate = keep.candidate(ranks[i].candidate), replicas = ranks[i].result.replicas, scale = 1 / peak }
  end)
  for i, item in ipairs(ranks) do item.without_peak = money.add(question, item.candidate, found[i]) end
end

--- What the figures of an objective are per GPU, and what that is called; the others count GPUs.
local per_gpu = { cost_per_hour = "price", joules_per_token = "power" }

--- Why a deployment costs more than the best, or draws more: factors whose product is the ratio of the figures that the
--- objective compares; nil where it compares something else. Where one of both holds more than was looked for, its
--- capacity is not known.
local function lost_by(question, item, best)
  local figure, all = question.objective.figure, "paid_gpus"
  if not per_gpu[figure] then
    if figure ~= "gpus" then return nil end
    all = "gpus"
  end
  local function per_replica(each) return each.result[all] / each.result.replicas end
  local function of_gpu(each) return per_gpu[figure] and each.result[figure] / each.result[all] or 1 end
  local function capacity(each) return each.holds_to / each.result.replicas end
  local function is_known(each) return (each.holds_to or 0) > 0 and of_gpu(each) > 0 end
  if not (item.result[figure] and best.result[figure]) then return nil end
  if not (is_known(item) and is_known(best)) then return nil end
  local out = { [per_gpu[figure] or "price"] = per_gpu[figure] and of_gpu(item) / of_gpu(best) or nil }
  if item.holds_more or best.holds_more then
    out.all_gpus = item.result[all] / best.result[all]
    return out
  end
  out.gpus, out.capacity = per_replica(item) / per_replica(best), capacity(best) / capacity(item)
  out.rounding = item.holds_to / best.holds_to
  return out
end

--- The price of a GPU at which this deployment scores as the best; nil on the same GPU, and where prices decide
--- nothing.
local function break_even(question, item, best)
  if item.candidate.gpu == best.candidate.gpu or item.result.cost_per_hour <= 0 then return nil end
  local cost = money.cost_of_score(question, item.result, best.result.score)
  return cost and cost / item.result.paid_gpus
end

--- Whether another price of its GPU changes the score of a deployment.
local function prices_decide(question, item)
  local of = money.by_cost(question, item.result)
  return not of or of.slope ~= 0
end

--- Whether the winner stays within the published range of prices: the name of the first that would beat it.
local function price_risk(question, ranks)
  local best = ranks[1]
  local own = question.gpus[best.candidate.gpu].price
  if not own or own.yours or not prices_decide(question, best) then return nil end
  for i = 2, #ranks do
    local other = question.gpus[ranks[i].candidate.gpu].price
    if other and ranks[i].candidate.gpu ~= best.candidate.gpu
      and other.low * ranks[i].result.paid_gpus < own.high * best.result.paid_gpus then
      return question.gpus[ranks[i].candidate.gpu].label
    end
  end
end

--- {ranks = {{candidate, result, sure, holds_to, lost_by, break_even}}, unsure, unranked, audit, parts, price_risk};
--- ranks is empty where no deployment is sure enough. unsure: those that are better than the first, but not sure;
--- unranked: also those that are not better.
function answer.of(question, found)
  local list = verified(found)
  local out = { ranks = {}, unsure = {}, verified = #list }
  if #list == 0 then return out end
  local looked = looks(question)
  local best = choose(list, looked)
  out.unsure = looked.unsure
  if not best then return out end
  local ranks = ranked(question, list, best, looked)
  best = ranks[1]
  add_loads(question, ranks)
  add_without_peak(question, ranks)
  for i = 2, question.objective.seeks == "load" and 0 or #ranks do -- prices decide nothing there
    ranks[i].lost_by, ranks[i].break_even = lost_by(question, ranks[i], best), break_even(question, ranks[i], best)
  end
  for _, item in ipairs(question.says_how_sure and ranks or {}) do
    item.measured = confidence.measured(question, item.candidate, item.result)
  end
  out.ranks, out.price_risk = ranks, price_risk(question, ranks)
  if question.replicates > 0 then
    out.seeds, out.model = confidence.parts(question, best.candidate, best.result.replicas, best.result.scale)
    out.trusted, out.trusted_from = confidence.standing(question, best.candidate)
  end
  out.unranked, out.unsure = unranked(best, looked, ranks)
  if question.day then out.day = fleets.of(question, out) end
  return out
end

--- What is known where Ctrl-C stopped the search: deployments that a full run found to meet the SLO, one of each shape,
--- without probabilities and largest loads.
function answer.partial(question, found)
  local list, seen = verified(found), {}
  local out = { ranks = {}, unsure = {}, verified = #list, stopped = { left = #found.left, in_full = 0 } }
  for _, item in ipairs(list) do
    local shape = words.shape(item.candidate)
    if not seen[shape] and #out.ranks < question.ranks then
      seen[shape], out.ranks[#out.ranks + 1] = true, item
      if #out.ranks > 1 and question.objective.seeks ~= "load" then
        item.break_even = break_even(question, item, out.ranks[1])
      end
    end
  end
  for _, each in ipairs(found.results) do
    if each.requests == question.requests then out.stopped.in_full = out.stopped.in_full + 1 end
  end
  return out
end

--- answer.of, or what is known where Ctrl-C stops the search or what follows it.
function answer.known(question, found)
  if question.stopped then return answer.partial(question, found) end
  local ok, plan = pcall(answer.of, question, found)
  if ok then return plan end
  if not question.stopped then error(plan, 0) end
  return answer.partial(question, found)
end

--- What the audit of a search found: {tried, beaten}; nil where the strategy has none.
function answer.audit(found)
  local tried, best, audited = 0, math.huge, math.huge
  for _, each in ipairs(found.results) do
    if each.purpose == "audit" then
      tried = tried + 1
      audited = math.min(audited, each.score or math.huge)
    elseif each.purpose ~= "second look" and each.score and each.deployment then
      local in_full = each.purpose == "pilot" or each.purpose == "full"
      if in_full then best = math.min(best, each.score) end
    end
  end
  if tried == 0 then return nil end
  return { tried = tried, regret = audited < best }
end

return answer
