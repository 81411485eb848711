-- How sure a deployment is (stage 5): runs with other seeds, each with one draw of the model's error. Seeds are none
-- that the search has seen, because the best of many looks better than it is.
--
-- Errors of a price are those of `rooflua validate --intervals`: of tables, each row predicted from the others (kept
-- in bench_data/table_errors.csv), a lognormal factor where there is no table, and one factor for all steps. They are
-- drawn per operation and averaged over the time of a mean request into one factor on all steps of a run. Draws come
-- in opposite pairs.
local native = require "rooflua.native"
local answers = require "rooflua.intervals.answers"
local batch = require "rooflua.border.batch"
local bounds = require "rooflua.plan.bounds"
local catalogue = require "rooflua.engines.catalogue"
local deploy = require "rooflua.plan.deploy"
local discrepancy = require "rooflua.intervals.discrepancy"
local evaluate = require "rooflua.plan.evaluate"
local interval = require "rooflua.intervals.table_errors"
local keep = require "rooflua.plan.keep"
local outcomes = require "rooflua.measure.outcomes"
local prices = require "rooflua.machine.prices"
local search = require "rooflua.plan.search"

local confidence = {}

local first_seed = 1000003 -- far from seeds that people give

local errors_by_gpu

--- {op = {region = sorted errors}} of the shipped tables of a GPU, or of the one that lends it tables.
local function regions_of(hardware)
  if not errors_by_gpu then
    errors_by_gpu = {}
    for _, row in ipairs((native.csv_read(native.home .. "/bench_data/table_errors.csv", true))) do
      local of_gpu = errors_by_gpu[row.gpu] or {}
      errors_by_gpu[row.gpu], of_gpu[row.op] = of_gpu, of_gpu[row.op] or {}
      local errors = {}
      for i = 0, 20 do errors[i + 1] = row[("q%02d"):format(i * 5)] end
      of_gpu[row.op][row.region] = errors
    end
  end
  return errors_by_gpu[hardware.name] or errors_by_gpu[hardware.tables_from] or {}
end

--- Seconds of a mean request by operation: {name, kind, evidence, time_s}.
local function operations_of(question, candidate)
  local engine = bounds.engine(question, candidate)
  local drawn = question.drawn
  local prompt = math.max(1, math.floor(math.min(drawn.mean_prompt, candidate.max_num_batched_tokens) + 0.5))
  local decodes = math.max(1, math.min(candidate.max_num_seqs, 32))
  local context = math.floor(drawn.mean_prompt + drawn.mean_output / 2)
  local parts = {
    { prices.price_batch(engine.prepared, engine.steps, batch.new { prefills = { { new_tokens = prompt } } }),
      drawn.mean_prompt / prompt },
    { prices.price_batch(engine.prepared, engine.steps, batch.new { decodes = decodes,
      decode_context_tokens = decodes * context }), drawn.mean_output / decodes },
  }
  local out = {}
  for _, part in ipairs(parts) do
    for _, row in ipairs(part[1].rows) do
      out[#out + 1] = { name = row.name, kind = row.kind, evidence = row.evidence or "assumed",
        time_s = row.time_s * part[2] }
    end
  end
  return out
end

--- The factor on all steps of replicate j.
local function factor_of(operations, draw)
  local sum, total = 0, 0
  for _, each in ipairs(operations) do
    sum = sum + each.time_s * draw.factor(each.name, each.kind, each.evidence)
    total = total + each.time_s
  end
  return (total > 0 and sum / total or 1) * draw.step
end

--- Factors of `count` replicates of a candidate.
function confidence.factors(question, candidate, count)
  local hardware = question.gpus[candidate.gpu].hardware
  local scheduler = deploy.engine(question, candidate).values.scheduler
  local setting = { regions = regions_of(hardware), distances = {}, discrepancy = discrepancy.of {
    engine = { scheduler = scheduler }, hardware = hardware, model = question.model } }
  local operations, out = operations_of(question, candidate), {}
  for j = 1, count do
    local draw, known = interval.replicate(j, setting), {}
    local function once(name, kind, evidence)
      local key = name .. "\0" .. evidence
      known[key] = known[key] or draw.factor(name, kind, evidence)
      return known[key]
    end
    out[j] = factor_of(operations, { factor = once, step = draw.step })
  end
  return out
end

--- What measured deployments of its kind say of a deployment (intervals/answers.lua). Replicates draw errors of prices;
--- this is the error of whole deployments.
--- @param result table of evaluate.run: evidence, passes
function confidence.measured(question, candidate, result)
  return answers.of_deployment(bounds.engine(question, candidate).prepared, catalogue.of(candidate.engine).name,
    candidate.split ~= nil, result.evidence, result.passes)
end

--- Whether intervals were tested for such a deployment: "trusted", or why they are a belief.
function confidence.standing(question, candidate)
  local hardware = question.gpus[candidate.gpu].hardware
  local term = discrepancy.of { engine = { scheduler = deploy.engine(question, candidate).values.scheduler },
    hardware = hardware, model = question.model }
  return not term.borrowed, term.from
end

-- The beta distribution, for Jeffreys' interval ---------------------------------------------------------------

local function log_gamma(x)
  local shift = 0
  while x < 8 do shift, x = shift - math.log(x), x + 1 end -- Stirling's series from 8 on
  local inverse = 1 / (x * x)
  return shift + (x - 0.5) * math.log(x) - x + 0.91893853320467274
    + (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x
end

--- The share of Beta(a, b) below x, by Simpson's rule over the angle t with x = sin(t)^2, which has no singularity for
--- a, b >= 1/2.
local function beta_below(x, a, b)
  local upper, n = math.asin(math.sqrt(x)), 400
  local log_norm = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + math.log(2)
  local function density(t)
    local s, c = math.sin(t), math.cos(t)
    if s <= 0 then return a > 0.5 and 0 or math.exp(log_norm) end
    if c <= 0 then return b > 0.5 and 0 or math.exp(log_norm) end
    return math.exp(log_norm + (2 * a - 1) * math.log(s) + (2 * b - 1) * math.log(c))
  end
  local sum = density(0) + density(upper)
  for i = 1, n - 1 do sum = sum + density(upper * i / n) * (i % 2 == 1 and 4 or 2) end
  return math.min(1, sum * upper / n / 3)
end

local function beta_quantile(q, a, b)
  local low, high = 0, 1
  for _ = 1, 50 do
    local middle = (low + high) / 2
    if beta_below(middle, a, b) < q then low = middle else high = middle end
  end
  return (low + high) / 2
end

--- Jeffreys' 90 % interval of a probability that was met in k of n.
function confidence.jeffreys(k, n)
  local low = k == 0 and 0 or beta_quantile(0.05, k + 0.5, n - k + 0.5)
  local high = k == n and 1 or beta_quantile(0.95, k + 0.5, n - k + 0.5)
  return low, high
end

-- Replicates ---------------------------------------------------------------------------------------------------

local per_piece = 5 -- runs of one piece of work

--- Runs of a deployment, one per {seed, factor}.
---@param scale number? multiple of the load
local function runs_of(question, candidate, replicas, draws, title, scale)
  local pieces = math.ceil(#draws / per_piece)
  local documents, out = search.parallel(question, pieces, title, function(piece)
    local own = {}
    for i = (piece - 1) * per_piece + 1, math.min(#draws, piece * per_piece) do
      own[#own + 1] = evaluate.run(question, candidate, replicas, { requests = question.requests,
        seed = draws[i].seed, factor = draws[i].factor, scale = scale, steady = true,
        brief = true })
    end
    return { own = own }
  end, function(piece)
    local own = { unpack(draws, (piece - 1) * per_piece + 1, math.min(#draws, piece * per_piece)) }
    return { candidate = keep.candidate(candidate), replicas = replicas, draws = own, scale = scale }
  end), {}
  for _, document in ipairs(documents) do
    for _, each in ipairs(document.own) do out[#out + 1] = each end
  end
  return out
end

local function met_of(list)
  local met = 0
  for _, each in ipairs(list) do met = met + (each.meets and 1 or 0) end
  return met
end

local whatever_replicas = { "exceeds_kv_cache", "exceeds_max_model_len" } -- outcomes that more replicas do not avoid

--- What replicates lost, by outcome; nil where all of them completed every request.
local function lost_of(list)
  local each_lost = {}
  for i, each in ipairs(list) do each_lost[i] = each.lost end
  local out = outcomes.together(each_lost, #list)
  if not out then return nil end
  out.never = 0
  for i = 1, #list do
    local by = each_lost[i] and each_lost[i].by or {}
    for _, name in ipairs(whatever_replicas) do
      if by[name] then
        out.never = out.never + 1
        break
      end
    end
  end
  return out
end

--- In how many replicates each limit was missed, by metric; "steady": the queue grows. nil where all were met.
local function missed_of(list)
  local out
  for _, each in ipairs(list) do
    for _, metric in ipairs(each.missed or {}) do
      out = out or {}
      out[metric] = (out[metric] or 0) + 1
    end
  end
  return out
end

--- Half of the replicates, and the others unless these tell already on which side of the confidence it is.
local function in_halves(question, candidate, replicas, draws, scale)
  local half, rest = {}, {}
  for i, each in ipairs(draws) do table.insert(i <= math.ceil(#draws / 4) * 2 and half or rest, each) end
  local list = runs_of(question, candidate, replicas, half, "replicates", scale)
  local low, high = confidence.jeffreys(met_of(list), #list)
  if question.confidence > 0 and (low > question.confidence or high < question.confidence) then return list end
  for _, each in ipairs(runs_of(question, candidate, replicas, rest, "replicates", scale)) do list[#list + 1] = each end
  return list
end

--- {met, of, p, low, high, metrics = {name = {low, high}}, missed, lost} of a deployment at a multiple of the load.
--- missed: how many replicates missed each limit, by metric ("steady": their queue grows). lost:
--- {runs, by, never}, where replicates missed because they did not complete all requests: by outcome, and how many of
--- them lost requests that no other number of replicas would complete.
function confidence.of(question, candidate, replicas, scale)
  local count, draws = question.replicates, {}
  if count == 0 then return nil end
  local factors = confidence.factors(question, candidate, count)
  for j = 1, count do draws[j] = { seed = first_seed + j, factor = factors[j] } end
  local list = in_halves(question, candidate, replicas, draws, scale)
  local met = met_of(list)
  count = #list
  local low, high = confidence.jeffreys(met, count)
  local out = { met = met, of = count, p = met / count, low = low, high = high, metrics = {} }
  for _, bound in ipairs(question.bounds) do
    local values = {}
    for _, each in ipairs(list) do values[#values + 1] = each.metrics[bound.metric] end
    if #values > 0 then
      out.metrics[bound.metric] = { low = interval.end_of(values, 0.05), high = interval.end_of(values, 0.95) }
    end
  end
  out.missed, out.lost = missed_of(list), lost_of(list)
  return out
end

--- The probability from seeds alone and from errors of the model alone, of half as many runs each.
function confidence.parts(question, candidate, replicas, scale)
  local count = math.floor(question.replicates / 2)
  if count == 0 then return nil end
  local factors, seeds, model = confidence.factors(question, candidate, count), {}, {}
  for j = 1, count do
    seeds[j] = { seed = first_seed + j, factor = 1 }
    model[j] = { seed = first_seed, factor = factors[j] }
  end
  return met_of(runs_of(question, candidate, replicas, seeds, "seeds", scale)) / count,
    met_of(runs_of(question, candidate, replicas, model, "model errors", scale)) / count
end

return confidence
