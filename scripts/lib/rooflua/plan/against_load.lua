-- What each deployment of an answer would be at other loads: the fewest replicas that one run finds, the GPUs that they
-- take, and what a token costs there. Only a page asks for it.
local evaluate = require "rooflua.plan.evaluate"
local keep = require "rooflua.plan.keep"
local load = require "rooflua.machine.load"
local money = require "rooflua.plan.money"
local search = require "rooflua.plan.search"

local against_load = {}

local multiples = { 0.25, 0.5, 0.75, 1, 1.5, 2, 3 } -- of the load of the answer

--- The multiples of the question's load at which deployments are looked at. Where the largest load is looked for, all
--- GPUs are taken, so none is above it.
local function scales_of(question, plan)
  local out, base = {}, plan.ranks[1].result.scale
  for _, multiple in ipairs(multiples) do
    if multiple <= 1 or question.objective.seeks ~= "load" then out[#out + 1] = base * multiple end
  end
  return out
end

--- The load at a multiple: requests per second, clients, or the multiple itself of a recorded load.
function against_load.value(question, scale)
  local asked = question.load
  local value = (asked.value or 1) * asked.peak * scale
  return asked.kind == "clients" and math.max(1, math.floor(value + 0.5)) or value
end

--- What a point of a rank is asked with. Replicas that are there for confidence or to be spared are added to what one
--- run needs.
local function ask_of(question, rank, item, scale)
  local candidate, result = item.candidate, item.result
  local needs = result.needs or result.replicas
  local extra = result.replicas - needs
  local held = item.holds_to and item.holds_to > 0 and item.holds_to or result.scale
  local least, most = needs, candidate.most + question.survive - extra
  if scale < result.scale then least, most = 1, needs end
  return { rank = rank, candidate = candidate, scale = scale, least = least, most = math.max(least, most),
    guess = math.ceil(scale / held * result.replicas - 1e-9), extra = extra }
end

--- What one run finds for an ask: {replicas, metrics}; without replicas where the GPUs do not suffice. It has no
--- prices, so that a file of results serves for others.
local function found_of(question, ask)
  local found = evaluate.fewest(question, ask.candidate, ask, { requests = question.requests, seed = question.seed,
    steady = true, brief = true, scale = ask.scale })
  if not found.replicas then return {} end
  local metrics = found.best.metrics
  return { replicas = found.replicas, metrics = { requests_per_s = metrics.requests_per_s,
    output_tokens_per_s = metrics.output_tokens_per_s } }
end

--- A point: {scale, replicas, gpus, paid_gpus, output_tokens_per_s}.
local function point_of(question, candidate, run)
  local out = money.least(question, candidate, run.replicas)
  out.scale, out.output_tokens_per_s = run.scale, money.output_tokens_per_s(question, run)
  return out
end

--- Whether a point is that of the answer, which did run.
local function is_own(item, scale) return math.abs(scale / item.result.scale - 1) < 1e-9 end

--- The asks of all ranks, each load of a rank once.
local function asks_of(question, plan)
  local asks = {}
  for rank, item in ipairs(plan.ranks) do
    local seen = { [against_load.value(question, item.result.scale)] = true }
    for _, scale in ipairs(scales_of(question, plan)) do
      local value = against_load.value(question, scale)
      if not is_own(item, scale) and not seen[value] then
        seen[value], asks[#asks + 1] = true, ask_of(question, rank, item, scale)
      end
    end
  end
  return asks
end

--- {ranks = {{point}}} of an answer, points in order of their load: {scale, replicas, gpus, paid_gpus,
--- output_tokens_per_s}. {problem} where there is nothing to draw.
function against_load.of(question, plan)
  if #plan.ranks == 0 then return { problem = "no deployment serves the load" } end
  if plan.stopped then return { problem = "the search was stopped" } end
  if not load.is_scalable(question) then return { problem = "a multiple of this workload is the same workload" } end
  local asks, ranks = asks_of(question, plan), {}
  local ok, found = pcall(search.parallel, question, #asks, "other loads",
    function(i) return found_of(question, asks[i]) end,
    function(i)
      local ask = asks[i]
      return { candidate = keep.candidate(ask.candidate), scale = ask.scale, least = ask.least, most = ask.most,
        guess = ask.guess }
    end)
  if not ok then
    if question.stopped then return { problem = "it was interrupted" } end
    error(found, 0)
  end
  for i, item in ipairs(plan.ranks) do ranks[i] = { point_of(question, item.candidate, item.result) } end
  for i, ask in ipairs(asks) do
    local run = found[i]
    if run.replicas then
      run.replicas, run.scale = run.replicas + ask.extra, ask.scale
      table.insert(ranks[ask.rank], point_of(question, ask.candidate, run))
    end
  end
  for _, points in ipairs(ranks) do table.sort(points, function(a, b) return a.scale < b.scale end) end
  return { ranks = ranks }
end

return against_load
