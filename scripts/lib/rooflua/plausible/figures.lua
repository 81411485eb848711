-- Figures of a measured run and of its simulation: what was measured, simulated, the interval, and how far a
-- simulation is from all that was measured.
local core = require "rooflua.base.core"
local metrics = require "rooflua.measure.metrics"
local statistics = require "rooflua.base.statistics"

local figures = {}

--- The figures of the report: {name, metric of a summary, title}.
figures.shown = { { "ttft", "ttft_s_mean", "TTFT" }, { "tpot", "tpot_s_mean", "TPOT" }, { "e2e", "e2e_s_mean", "E2E" },
  { "tokens", "output_tokens_per_s", "tokens/s" } }

local unknown_frac = 0.5 -- of an answer without a known interval
local rounding = 1e-9

local function quantiles(out, name, list)
  if #list == 0 then return end
  table.sort(list)
  out[name .. "_s_mean"] = statistics.mean(list)
  out[name .. "_s_p50"] = statistics.of_sorted(list, 0.5)
  out[name .. "_s_p99"] = statistics.of_sorted(list, 0.99)
end

--- Output tokens per second of requests whose arrivals and times are known.
local function speed_of(requests)
  local first, last, tokens = math.huge, 0, 0
  for _, each in ipairs(requests) do
    if not (each.arrival_s and each.e2e_s) then return nil end
    first, last = math.min(first, each.arrival_s), math.max(last, each.arrival_s + each.e2e_s)
    tokens = tokens + each.output_tokens
  end
  return last > first and tokens / (last - first) or nil
end

--- Metrics of a measured run (formats/measured_runs.lua) under the names of summaries.
function figures.measured(run)
  local out = core.copy(run.metrics)
  if not run.mean_lengths then
    local ttft, tpot, e2e = {}, {}, {}
    for _, each in ipairs(run.requests) do
      if each.ttft_s then ttft[#ttft + 1] = each.ttft_s end
      if each.e2e_s then e2e[#e2e + 1] = each.e2e_s end
      if each.ttft_s and each.e2e_s and each.output_tokens > 1 then
        tpot[#tpot + 1] = (each.e2e_s - each.ttft_s) / (each.output_tokens - 1)
      end
    end
    quantiles(out, "ttft", ttft)
    quantiles(out, "tpot", tpot)
    quantiles(out, "e2e", e2e)
  end
  out.output_tokens_per_s = run.output_tokens_per_s or speed_of(run.requests)
  if not out.e2e_s_mean and run.mean_lengths and out.ttft_s_mean and out.tpot_s_mean then
    out.e2e_s_mean = out.ttft_s_mean + (run.requests[1].output_tokens - 1) * out.tpot_s_mean
  end
  return out
end

--- Metrics of a simulated run. Where its clock ran slower, times are longer by the same factor.
function figures.simulated(row, slower)
  local out, factor = {}, slower or 1
  for _, name in ipairs { "ttft", "tpot", "e2e" } do
    for _, of in ipairs { "mean", "p50", "p99" } do
      local metric = ("%s_s_%s"):format(name, of)
      local value = metrics.value(row, metric)
      out[metric] = value and value * factor
    end
  end
  local speed = metrics.value(row, "output_tokens_per_s")
  out.output_tokens_per_s = speed and speed / factor
  return out
end

--- How long a run lasts beside one whose requests take `ratio` times as long: a closed loop stretches, of an open one
--- only what follows the last arrival does.
local function lasts(ratio, is_closed, e2e_s, duration_s)
  if is_closed or not duration_s then return ratio end
  return 1 + (ratio - 1) * math.min(1, e2e_s / duration_s)
end

local of_90 = 1.645 -- standard deviations

--- The interval of tokens/s, from that of E2E and, of arrivals that are drawn, from their number.
local function speed_interval(value, e2e, load, duration_s)
  local drawn = load.is_closed and 0 or of_90 / math.sqrt(math.max(1, load.count))
  local low = value / lasts(e2e.high / e2e.value, load.is_closed, e2e.value, duration_s) / (1 + drawn)
  local high = value / lasts(e2e.low / e2e.value, load.is_closed, e2e.value, duration_s) * (1 + drawn)
  return math.min(low, high), math.max(low, high)
end

local function is_inside(value, low, high) return value >= low * (1 - rounding) and value <= high * (1 + rounding) end

--- {name, metric, title, measured, simulated, low, high, inside, is_assumed} of each figure that the result has.
---@param measured table of figures.measured
---@param simulated table of figures.simulated
---@param row table the simulated run {summary, intervals}
---@param load table {is_closed, count: of the fewer requests}
function figures.compare(measured, simulated, row, load)
  local out, intervals = {}, row.intervals or {}
  for _, each in ipairs(figures.shown) do
    local name, metric = each[1], each[2]
    local value, of = measured[metric], simulated[metric]
    if value and value > 0 and of and of > 0 then
      local low, high = of * (1 - unknown_frac), of / (1 - unknown_frac)
      local own, is_assumed = intervals[name .. "_s"], true
      if own then
        low, high, is_assumed = own.low, own.high, nil
      elseif name == "tokens" and intervals.e2e_s then
        low, high = speed_interval(of, intervals.e2e_s, load, row.summary.duration_s)
        is_assumed = nil
      end
      out[#out + 1] = { name = name, metric = metric, title = each[3], measured = value, simulated = of, low = low,
        high = high, is_assumed = is_assumed,
        inside = is_inside(value, low, high) }
    end
  end
  return out
end

--- Figures whose intervals hold for runs with other seeds as well: those of the first run.
---@param list table[] of figures.compare, for each seed
function figures.joined(list)
  local out = list[1]
  for i, each in ipairs(out) do
    for seed = 2, #list do
      local other = list[seed][i]
      each.low, each.high = math.min(each.low, other.low), math.max(each.high, other.high)
    end
    each.inside = is_inside(each.measured, each.low, each.high)
  end
  return out
end

--- How far a simulation is from what was measured: the root of the mean square of the logarithms of all ratios; nil
--- where nothing is compared.
function figures.distance(measured, simulated)
  local sum, count = 0, 0
  for _, metric in ipairs(core.sorted_keys(measured)) do
    local value, of = measured[metric], simulated[metric]
    if value and value > 0 and of and of > 0 then
      local apart = math.log(of / value)
      sum, count = sum + apart * apart, count + 1
    end
  end
  return count > 0 and math.sqrt(sum / count) or nil
end

return figures
