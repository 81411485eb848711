-- How a deployment of an answer stands beside the first, in words: the figure that the objective compares, the costs,
-- the metrics of the SLO, and why it lost.
local core = require "rooflua.base.core"
local energy = require "rooflua.plan.energy"
local money = require "rooflua.plan.money"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local standing = {}

--- The name of the figure that an objective compares; nil where it compares a score of its own.
function standing.key(question)
  local objective = question.objective
  return objective.figure or objective.seeks == "load" and "rate_per_s" or nil
end

--- What is shown of a deployment of an objective with a score of its own.
local function shown_key(question) return standing.key(question) or "cost_per_hour" end

local function value_of(result, key)
  if key == "output_tokens_per_s_per_gpu" then return result.output_tokens_per_s / result.gpus end
  return result[key]
end

--- "$12.00/h", "at most 1.87 J/token", "74.59/s": what the objective compares.
function standing.figure(question, item)
  local key = shown_key(question)
  local value = value_of(item.result, key)
  if not value then return "-" end
  local text = words.figures[key].text(value)
  if key ~= "joules_per_token" then return text end
  return (item.result.power_bound and item.result.power_bound .. " " or "") .. text .. energy.range(item.result)
end

--- How far a deployment is from the first in what the objective compares: "+6.7 %", "score +0.12"; nil where that is
--- not known.
function standing.difference(question, item, first)
  local key = standing.key(question)
  if not key then
    local more = item.result.score - first.result.score
    return ("score %s%s"):format(more < 0 and "-" or "+", units.significant(math.abs(more), 3))
  end
  local own, other = value_of(item.result, key), value_of(first.result, key)
  if not (own and other and other > 0) then return nil end
  return ("%+.1f %%"):format(100 * (own / other - 1))
end

--- What a deployment is ranked by, and how far it is from the first: "$16.00/h   +6.7 %".
function standing.text(question, item, rank)
  local text = standing.figure(question, item)
  local difference = rank > 1 and standing.difference(question, item, item.first)
  return difference and text .. "   " .. difference or text
end

--- "cheaper": what a deployment is that is better by the objective.
function standing.better(question)
  local key = standing.key(question)
  return key and words.figures[key].less or "better"
end

--- {name, value, range} of every metric of the SLO, as text: "TTFT p99", "212 ms", "140 ms to 310 ms".
function standing.metric_list(question, item)
  local out = {}
  for i, bound in ipairs(question.bounds) do
    local name = bound.metric
    local range = item.sure and item.sure.metrics[name]
    out[i] = { name = words.metric(name), value = words.value(name, item.result.metrics[name]),
      range = range and ("%s to %s"):format(words.value(name, range.low), words.value(name, range.high)) or nil }
  end
  return out
end

--- "TTFT p99 212 ms (140 ms to 310 ms)" for every metric of the SLO.
function standing.metrics(question, item)
  local parts = {}
  for i, each in ipairs(standing.metric_list(question, item)) do
    parts[i] = ("%s %s%s"):format(each.name, each.value, each.range and (" (%s)"):format(each.range) or "")
  end
  return table.concat(parts, "   ")
end

--- Dollars per token and energy, at the load and where it has a peak at the load without it.
function standing.costs(question, item)
  local parts, result = {}, item.result
  if shown_key(question) ~= "cost_per_hour" then parts[1] = words.dollars(result.cost_per_hour) .. "/h" end
  local usual = item.without_peak
  --- A figure at the load of the rank; with a peak also at the load without it.
  local function at_loads(of, before, behind)
    local own, other = of(result), usual and of(usual)
    if not own then return end
    local part = before .. own .. behind
    if usual then
      part = ("%s at %s"):format(part, words.load(question, result.scale))
      if other then part = ("%s, %s at %s"):format(part, other, words.load(question, usual.scale)) end
    end
    parts[#parts + 1] = part
  end
  at_loads(function(each) return each.per_million and words.dollars(each.per_million.output) end, "",
    " per 1M output tokens")
  at_loads(energy.text, (result.power_bound or "") .. " ", " J/token")
  local idle = result.paid_gpus - result.gpus
  if idle > 0 and result.joules_per_token then
    parts[#parts] = ("%s, with %s"):format(parts[#parts], units.counted(idle, "idle GPU"))
  end
  return table.concat(parts, "   ")
end

local term_words = { gpus = "GPUs per replica", all_gpus = "number of GPUs", power = "power per GPU" }

--- What decides between deployments of one score, in the order in which ranks are compared.
local function same_score_text(question, item, first)
  local key = standing.key(question)
  local same = key and words.figures[key].same or "scores the same"
  local a, b = item.sure, first.sure
  if a and b and (a.p < b.p or a.p == b.p and a.low < b.low) then return same .. "; less sure" end
  if item.result.margin > first.result.margin then return same .. "; closer to the limits" end
  return item.result.gpus > first.result.gpus and same .. "; more GPUs" or same
end

--- "lost by price (x 1.33), capacity x 0.85": the largest factor first; what is more where no factors are known.
local function factors_text(question, item)
  local parts, terms = {}, item.lost_by
  if terms then
    local names = core.sorted_keys(terms)
    table.sort(names, function(a, b)
      if terms[a] ~= terms[b] then return terms[a] > terms[b] end
      return a < b
    end)
    for i, name in ipairs(names) do
      if math.abs(terms[name] - 1) > 0.005 then
        parts[#parts + 1] = (i == 1 and "lost by %s (x %.2f)" or "%s x %.2f"):format(term_words[name] or name,
          terms[name])
      end
    end
  end
  if #parts > 0 then return table.concat(parts, ", ") end
  local key = standing.key(question)
  return key and words.figures[key].more or "has a worse score"
end

--- Why a deployment is not the first.
---@param item table with `first`
function standing.lost(question, item)
  local first = item.first
  if question.objective.seeks == "load" then
    return ("%s/s per GPU, and the first %s/s"):format(
      units.significant(item.result.rate_per_s / item.result.gpus, 3),
      units.significant(first.result.rate_per_s / first.result.gpus, 3))
  end
  if money.rounded(item.result.score) == money.rounded(first.result.score) then
    return same_score_text(question, item, first)
  end
  local out = factors_text(question, item)
  if item.break_even and item.result.score > first.result.score then
    out = ("%s. Wins below %s per %s and hour"):format(out, words.dollars(item.break_even),
      question.gpus[item.candidate.gpu].label)
  end
  return out
end

return standing
