-- What a deployment costs and draws: dollars per hour and per million tokens, joules per token, and the score.
local deploy = require "rooflua.plan.deploy"
local energy = require "rooflua.plan.energy"

local money = {}

--- Output and all tokens per second at the rate of a result.
local function tokens_per_s(question, result)
  local drawn, rate = question.drawn, result.rate_per_s
  if not rate then return nil end
  return rate * drawn.mean_output, rate * (drawn.mean_output + drawn.mean_prompt)
end

--- Requests per second of a run: of a rate what is offered, else what the run gave.
local function rate_of(question, result)
  local load = question.load
  return load.kind == "rate" and load.value * load.peak * result.scale or result.metrics.requests_per_s
end

--- Output tokens per second at the load of a run.
function money.output_tokens_per_s(question, run)
  local rate = rate_of(question, run)
  return rate and rate * question.drawn.mean_output or run.metrics.output_tokens_per_s or 0
end

--- Dollars per hour of one GPU; 0 where none is given, which the report tells.
function money.price(question, candidate)
  local price = question.gpus[candidate.gpu].price
  return price and price.typical or 0
end

--- {gpus, paid_gpus, cost_per_hour} of so many replicas.
function money.least(question, candidate, replicas)
  local gpus = deploy.gpus(question, candidate, replicas)
  local paid = deploy.paid_gpus(question, candidate, gpus)
  return { gpus = gpus, paid_gpus = paid, cost_per_hour = paid * money.price(question, candidate),
    replicas = replicas }
end

--- A score without the digits that rounding leaves: 3 x 0.1 and 0.3 are one score.
function money.rounded(score) return tonumber(("%.12g"):format(score)) or score end

--- The score of a deployment, as it is or with another cost per hour.
---@param cost number?
local function score_at(question, result, cost)
  return question.objective:score(setmetatable({}, { __index = function(_, key)
    local value = result[key]
    if key == "cost_per_hour" and cost then return cost end
    if value == nil and key == "joules_per_token" then return math.huge end
    return value
  end }))
end

--- Adds to the result of a run: rate_per_s, gpus, cost_per_hour, per_million, joules_per_token with its
--- bounds, score.
function money.add(question, candidate, result)
  result.rate_per_s = rate_of(question, result)
  for key, value in pairs(money.least(question, candidate, result.replicas)) do result[key] = value end
  local output, all = tokens_per_s(question, result)
  result.output_tokens_per_s = output or result.metrics.output_tokens_per_s or 0
  if output and output > 0 then
    result.per_million = { output = result.cost_per_hour / 3600 / output * 1e6,
      all = result.cost_per_hour / 3600 / all * 1e6 }
  end
  if output and output > 0 then energy.add(question, candidate, result, output) end
  result.score = score_at(question, result)
  return result
end

local alike = 1e-9 -- relative difference of two slopes that are the same

--- How the score of a deployment follows from what it costs per hour: {form = "linear", at, slope} is at + slope c,
--- {form = "log", at, slope} is at + slope ln c. The slope is 0 where prices decide nothing. nil where it is neither.
function money.by_cost(question, result)
  local cost = result.cost_per_hour > 0 and result.cost_per_hour or 1
  local at_1, at_2, at_4 = score_at(question, result, cost), score_at(question, result, 2 * cost),
    score_at(question, result, 4 * cost)
  local first, second = at_2 - at_1, at_4 - at_2
  local function is_same(a, b) return math.abs(a - b) <= alike * math.max(math.abs(a), math.abs(b), 1e-300) end
  if first == 0 and second == 0 then return { form = "linear", at = at_1, slope = 0 } end
  if is_same(second, 2 * first) then return { form = "linear", at = at_1 - first, slope = first / cost } end
  if is_same(second, first) then
    local slope = first / math.log(2)
    return { form = "log", at = at_1 - slope * math.log(cost), slope = slope }
  end
end

--- The cost per hour at which a deployment has that score; nil where prices do not decide it.
function money.cost_of_score(question, result, score)
  local of = money.by_cost(question, result)
  if not of or of.slope <= 0 then return nil end
  local cost = (score - of.at) / of.slope
  if of.form == "log" then cost = math.exp(cost) end
  return cost > 0 and cost < math.huge and cost or nil
end

--- Whether the order of prices is certain: every GPU's price is the user's.
function money.origin(question)
  local yours, listed, none, newest = true, false, {}, ""
  for _, gpu in ipairs(question.gpus) do
    if not gpu.price then
      none[#none + 1] = gpu.label
      yours = false
    elseif not gpu.price.yours then
      yours, listed = false, true
      newest = gpu.price.date > newest and gpu.price.date or newest
    end
  end
  return { yours = yours, listed = listed, none = none, date = newest }
end

return money
