-- The error of the model itself, beyond the errors of its tables: one factor on every step of a run.
--
--     mean over models of residual^2 / (tables^2 + discrepancy^2) = 1          (0 where tables explain it all)
--     factor = exp(discrepancy * t),   t of Student's distribution, with as many degrees of freedom as models
--
-- residual: root mean square of log(simulated / measured) over the runs of a model. It is taken of the mean step or
-- TPOT, in a closed loop of the mean E2E, whose division into TTFT and TPOT depends on which requests share a step.
-- tables: the root mean square that errors of tables alone explain. Every model has the same weight, and runs of the
-- same model never enter the factor of a case. A kind of machine on which fewer than three other models were measured
-- takes the residuals of another kind. That is an assumption; `validate --intervals` says where it was made.
-- Source of the equation: Paule and Mandel, "Consensus values and weighting factors", J. Res. NBS 87(5), 1982.
local core = require "rooflua.base.core"
local random = require "rooflua.random"

local discrepancy = {}

discrepancy.fewest_models = 3
discrepancy.lender = "vllm_v1 on h100-sxm"

--- Runs, residual and tables by kind of machine and model. Source: the last rows of the report of `rooflua validate
--- ../shared/data/truth --steps kernels --intervals 60 --set interval.discrepancy=false --set
--- interval.settings=false`, with tables of aiconfigurator. tests/fidelity compares the residuals with the runs.
discrepancy.known = {
  ["vllm_v1 on h100-sxm"] = {
    ["codellama-34b"] = { runs = 5, residual = 0.0264, tables = 0.0322 },
    ["llama-2-70b"] = { runs = 4, residual = 0.0160, tables = 0.0302 },
    ["llama-2-7b"] = { runs = 3, residual = 0.0818, tables = 0.0689 },
    ["llama-3.1-70b"] = { runs = 2, residual = 0.0431, tables = 0.0311 },
    ["llama-3.1-8b"] = { runs = 6, residual = 0.0470, tables = 0.0362 },
    ["mistral-nemo"] = { runs = 2, residual = 0.0466, tables = 0.0343 },
    ["mixtral-8x7b"] = { runs = 1, residual = 0.0419, tables = 0.0462 },
    ["qwen3-32b"] = { runs = 30, residual = 0.0596, tables = 0.0294 },
    ["yi-34b"] = { runs = 2, residual = 0.0333, tables = 0.0303 },
  },
}

--- The kind of machine of a run, such as "vllm_v1 on h100-sxm". Runs of one kind are evidence for each other.
function discrepancy.kind_of(about)
  return about.engine.scheduler .. " on " .. about.hardware.name
end

local function square(x) return x * x end

--- The square of the discrepancy that makes the residuals as large as expected, by bisection.
local function between_models(rows)
  local function excess(between)
    local sum = 0
    for _, row in ipairs(rows) do sum = sum + square(row.residual) / (square(row.tables) + between) end
    return sum - #rows
  end
  local low, high = 0, 0
  for _, row in ipairs(rows) do high = math.max(high, square(row.residual)) end
  if #rows == 0 or high == 0 or excess(0) <= 0 then return 0 end
  for _ = 1, 60 do
    local middle = (low + high) / 2
    if excess(middle) > 0 then low = middle else high = middle end
  end
  return (low + high) / 2
end

local function scale_of(entry, model)
  local rows = {}
  for _, name in ipairs(core.sorted_keys(entry)) do
    if name ~= model then rows[#rows + 1] = entry[name] end
  end
  return math.sqrt(between_models(rows)), #rows
end

--- The term of a run: {scale, models, from = kind, borrowed}.
--- @param about table {engine, hardware, model}
--- @param known table? discrepancy.known
function discrepancy.of(about, known)
  known = known or discrepancy.known
  local kind, model = discrepancy.kind_of(about), about.model.name
  local scale, models = scale_of(known[kind] or {}, model)
  local borrowed = models < discrepancy.fewest_models
  if borrowed then scale, models = scale_of(known[discrepancy.lender], model) end
  return { scale = scale, models = models, from = borrowed and discrepancy.lender or kind, borrowed = borrowed }
end

--- A draw of Student's t: a normal draw over the root mean square of others.
local function student(stream, freedom)
  local numerator, sum = stream:normal(0, 1), 0
  for _ = 1, freedom do sum = sum + square(stream:normal(0, 1)) end
  return numerator / math.sqrt(sum / freedom)
end

--- The factor of a replicate: the same for every step of every run with this term.
--- @param pair integer number of the pair of replicates
--- @param mirrored boolean for the second of the pair, whose draws mirror those of the first
function discrepancy.factor(term, pair, mirrored)
  if term.scale == 0 then return 1 end
  local t = student(random.streams(pair):stream "interval discrepancy", term.models)
  return math.exp(term.scale * (mirrored and -t or t))
end

--- The metric that stands for the error of steps.
function discrepancy.metric_of(errors, in_closed_loop)
  return errors.step_time and "step_time" or in_closed_loop and "e2e_mean" or "tpot_mean"
end

--- Residuals of runs, as rows of `known`: {kind = {model = {runs, residual, tables}}}.
--- @param results table of {about, in_closed_loop, found = {errors, intervals}}
function discrepancy.seen(results)
  local out = {}
  for _, each in ipairs(results) do
    local metric = discrepancy.metric_of(each.found.errors, each.in_closed_loop)
    local error, one = each.found.errors[metric], each.found.intervals[metric]
    if error and one and one.deviation then
      local kind, model = discrepancy.kind_of(each.about), each.about.model.name
      out[kind] = out[kind] or {}
      local row = out[kind][model] or { runs = 0, residual = 0, tables = 0 }
      out[kind][model] = row
      row.runs = row.runs + 1
      row.residual = row.residual + square(math.log(1 + error))
      row.tables = row.tables + square(one.deviation)
    end
  end
  for _, models in pairs(out) do
    for _, row in pairs(models) do
      row.residual, row.tables = math.sqrt(row.residual / row.runs), math.sqrt(row.tables / row.runs)
    end
  end
  return out
end

return discrepancy
