-- What an answer has beside the metrics of a page: throughput of one GPU, cost, whether an engine would start, where
-- the time went; and how metrics changed over several seeds.
local capacity = require "rooflua.serving.capacity"
local capacity_text = require "rooflua.serving.capacity_text"
local application = require "rooflua.applied.application"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local levers = require "rooflua.intervals.levers"
local metrics = require "rooflua.measure.metrics"
local opening = require "rooflua.runs.opening"
local paired = require "rooflua.explore.paired"
local prices = require "rooflua.tables.prices"
local gpus_of = require("rooflua.explore.runs").gpus_of

local figures = {}

--- A variant with what its engine gives to its keys; the scenario alone where it cannot be asked.
function figures.in_force(opened, number)
  local given = opening.variant(opened, number)
  local ok, applied = pcall(application.of, opened.reader, given, opened.kind == "serve")
  return ok and applied.given or given
end

--- Dollars of an hour of a GPU, and why; nil where it has no price, or where replicas have GPUs of their own.
local function price_of(given)
  local replicas = type(given.replicas) == "table" and core.plain(given.replicas) or {}
  for _, each in ipairs(replicas) do
    if each.hardware then return nil end
  end
  local name = type(given.hardware) == "string" and given.hardware or given.hardware and given.hardware.name
  local found = name and prices.of(name)
  if not found then return nil end
  return found.typical, ("at $%.2f per hour of %s: the median of examples up to %s (bench_data/prices.toml)"):format(
    found.typical, name, found.date)
end

--- Dollars per million output tokens of a run. Pools that come and go have counted the hours of their GPUs.
local function cost_of(given, document)
  local price, why = price_of(given)
  local summary = document.summary
  if not price or type(summary.output_tokens_per_s) ~= "number" or summary.output_tokens_per_s <= 0 then return nil end
  local dollars = 0
  for _, pool in ipairs(summary.pools or {}) do dollars = dollars + (pool.dollars or 0) end
  if dollars > 0 then return dollars / summary.output_tokens * 1e6, why end
  return gpus_of(given) * price / 3600 / summary.output_tokens_per_s * 1e6, why
end

--- A column of an answer (engine/lab/columns.h).
local function column(name, label, unit, better, help, values)
  local out = { name = name, label = label, unit = unit, group = name, better = better, help = help, shown = true,
    values = json.array(values), texts = json.array {}, intervals = json.array {} }
  for i, value in ipairs(values) do
    out.texts[i] = value == json.null and "-" or ("%.4g"):format(value)
    out.intervals[i] = json.null
  end
  return out
end

--- The throughput of one GPU, where a run has several.
local function columns_of_a_gpu(givens, documents, out)
  for _, metric in ipairs(metrics.declared.derived) do
    local values, any = {}, false
    for i, document in ipairs(documents) do
      local run = { summary = document.summary, gpus = gpus_of(givens[i]) }
      local value = metric.divisor == "gpus" and metrics.value(run, metric.name)
      any = any or value and run.gpus > 1
      values[i] = value or json.null
    end
    if any and metric.unit == "tokens/s" then
      out[#out + 1] = column(metric.name, metric.unit .. " per GPU", metric.unit, metric.better, metric.help, values)
    end
  end
end

--- "TTFT: prefill 73 %, budget 24 %" of the parts of a latency; nil where there are none.
local function parts_text(name, parts)
  local list, sum = {}, 0
  for part, value in core.sorted_pairs(type(parts) == "table" and parts or {}) do
    list[#list + 1], sum = { part = part, value = value }, sum + value
  end
  if sum <= 0 then return nil end
  table.sort(list, function(a, b) return a.value > b.value or a.value == b.value and a.part < b.part end)
  local words = {}
  for i = 1, math.min(#list, 4) do
    if list[i].value >= 0.005 * sum then
      words[#words + 1] = ("%s %.0f %%"):format(list[i].part, 100 * list[i].value / sum)
    end
  end
  return ("%s: %s"):format(name, table.concat(words, ", "))
end

--- Whether an engine would start, and the KV cache that it would have; nil where nobody can say.
local function start_text(opened, given)
  local about = {}
  for _, key in ipairs(capacity.keys) do about[key] = given[key] end
  local ok, found = pcall(capacity.of, about, opened.reader)
  if not ok then return nil end
  local engine = ("%s %s"):format(found.facts.engine.name, found.facts.release)
  if not found.starts then return ("%s would not start: %s"):format(engine, found.reason) end
  return ("%s would start. %s"):format(engine, capacity_text.line(found))
end

--- {columns, facts}: columns for every document, lines of the first.
---@param documents table of the variants that are known
---@param numbers integer[] which variants they are
function figures.of(opened, documents, numbers)
  local givens, costs, why, columns, facts = {}, {}, nil, json.array {}, json.array {}
  for i, number in ipairs(numbers) do
    givens[i] = figures.in_force(opened, number)
    local cost, reason = cost_of(givens[i], documents[i])
    costs[i], why = cost or json.null, reason or why
  end
  columns_of_a_gpu(givens, documents, columns)
  if why then
    columns[#columns + 1] = column("dollars_per_million_output_tokens", "$ per 1M output", "", "less",
      "dollars per million output tokens, " .. why, costs)
  end
  if #documents == 1 then
    local summary = documents[1].summary
    if summary.completed == 0 then facts[1] = "no request was completed" end
    facts[#facts + 1] = start_text(opened, opening.variant(opened, numbers[1]))
    facts[#facts + 1] = parts_text("TTFT", summary.ttft_parts_s)
    facts[#facts + 1] = parts_text("E2E of the slowest 1 %", summary.e2e_parts_slowest_1pct_s)
  end
  return { columns = columns, facts = facts }
end

--- Relative changes of columns over the seeds: {name, mean, low, high, none} of each, the interval of 95 %. `none`: it
--- is noise, as `explore/differences.lua` has it.
---@param runs table list of {before = columns, after = columns}, one for each seed
function figures.changes(runs)
  local out = json.array {}
  local function value_of(columns, name)
    for _, each in ipairs(columns) do
      if each.name == name then return type(each.values[1]) == "number" and each.values[1] or nil end
    end
  end
  for _, each in ipairs(runs[1].after) do
    local list = {}
    for _, run in ipairs(runs) do
      local before, after = value_of(run.before, each.name), value_of(run.after, each.name)
      if before and after and before > 0 then list[#list + 1] = after / before - 1 end
    end
    if #list == #runs then
      local mean, low, high = paired.interval(list, 0.95, "t")
      out[#out + 1] = { name = each.name, mean = mean, low = low, high = high,
        none = math.abs(mean) <= levers.flat_frac or low <= 0 and high >= 0 }
    end
  end
  return out
end

return figures
