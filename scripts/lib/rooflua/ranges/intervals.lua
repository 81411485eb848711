-- What happened in each interval of a range: requests, tokens, lengths, hits, what was running, and times with
-- quantiles between the bounds of buckets, as Prometheus' histogram_quantile interpolates them.
local core = require "rooflua.base.core"
local grid = require "rooflua.ranges.grid"
local series = require "rooflua.ranges.series"

local intervals = {}

local most = 240 -- intervals; more are joined
local failures = core.set { "abort", "error" }
local order = { "finished", "requests", "e2e_s", "prompt_tokens", "output_tokens", "prompt_length", "output_length",
  "ttft_s", "tpot_s", "itl_s", "prefix_queries", "prefix_hits", "queue_s", "aborted", "preemptions" }
local latencies = { "ttft_s", "tpot_s", "itl_s", "e2e_s", "queue_s" }
local quantiles = { 0.5, 0.9, 0.99 }

--- What each quantity grew by in each interval: {value, sum, count, buckets = {bound = count}, failed}.
local function sums_of(times, items)
  local out = {}
  for i = 1, #times - 1 do out[i] = {} end
  for _, item in ipairs(items) do
    for i, stop in ipairs(item.ends) do
      local place = grid.place(times, series.milliseconds(stop))
      if place then
        local of = out[place][item.quantity] or {}
        out[place][item.quantity] = of
        if item.bound then
          of.buckets = of.buckets or {}
          of.buckets[item.bound] = (of.buckets[item.bound] or 0) + item.values[i]
        else
          local part = item.part or "value"
          of[part] = (of[part] or 0) + item.values[i]
          if failures[item.reason or ""] then of.failed = (of.failed or 0) + item.values[i] end
        end
      end
    end
  end
  return out
end

--- The sums of several intervals as one.
function intervals.together(list)
  local out = {}
  for _, sums in ipairs(list) do
    for quantity, of in pairs(sums) do
      local own = out[quantity] or {}
      out[quantity] = own
      for _, part in ipairs { "value", "sum", "count", "failed" } do
        if of[part] then own[part] = (own[part] or 0) + of[part] end
      end
      for bound, count in pairs(of.buckets or {}) do
        own.buckets = own.buckets or {}
        own.buckets[bound] = (own.buckets[bound] or 0) + count
      end
    end
  end
  return out
end

--- A quantile of cumulative buckets; nil of none, or above the last bound.
function intervals.quantile(buckets, q)
  local bounds = core.sorted_keys(buckets)
  local all = buckets[math.huge] or buckets[bounds[#bounds]]
  if not all or all <= 0 then return nil end
  local rank, low, below = q * all, 0, 0
  for _, bound in ipairs(bounds) do
    local count = buckets[bound]
    if count >= rank and count > below then
      if bound == math.huge then return nil end
      return low + (bound - low) * (rank - below) / (count - below)
    end
    low, below = bound, math.max(below, count)
  end
end

local function mean_of(of) return of and of.count and of.count > 0 and of.sum and of.sum / of.count or nil end

local function latency_of(of)
  if not of then return nil end
  local out = { mean = mean_of(of) }
  for _, q in ipairs(quantiles) do
    out[("p%g"):format(100 * q)] = of.buckets and intervals.quantile(of.buckets, q) or nil
  end
  return next(out) and out or nil
end

--- How many requests ended, and how many of them failed; nil where no series says it.
function intervals.ended(sums)
  local finished, requests = sums.finished, sums.requests
  if finished and finished.value then return finished.value, finished.failed or 0 end
  if requests and requests.value then return requests.value, sums.aborted and sums.aborted.value or 0 end
  for _, name in ipairs { "e2e_s", "prompt_length", "output_length" } do
    if sums[name] and sums[name].count then return sums[name].count, 0 end
  end
end

local function per_request(histogram, tokens, count)
  return mean_of(histogram) or tokens and tokens.value and count and count > 0 and tokens.value / count or nil
end

--- Figures of what grew in so many seconds.
function intervals.figures(sums, seconds)
  local ended, failed = intervals.ended(sums)
  local output = sums.output_tokens and sums.output_tokens.value or sums.output_length and sums.output_length.sum
  local prompt = sums.prompt_tokens and sums.prompt_tokens.value or sums.prompt_length and sums.prompt_length.sum
  local hits = sums.prefix_hits and sums.prefix_hits.value
  local asked = sums.prefix_queries and sums.prefix_queries.value or hits and prompt
  local out = { requests = ended, failed = failed, requests_per_s = ended and ended / seconds,
    prompt_tokens = per_request(sums.prompt_length, sums.prompt_tokens, ended),
    output_tokens = per_request(sums.output_length, sums.output_tokens, ended),
    output_tokens_per_s = output and output / seconds, prompt_tokens_per_s = prompt and prompt / seconds,
    hit_frac = hits and asked and asked > 0 and math.min(1, hits / asked) or nil,
    preemptions = sums.preemptions and sums.preemptions.value }
  for _, name in ipairs(latencies) do out[name] = latency_of(sums[name]) end
  out.tpot_s = out.tpot_s or out.itl_s
  return out
end

-- Gauges ------------------------------------------------------------------------------------------------------------

local summed = core.set { "running", "waiting", "used_tokens", "total_tokens" }

--- Means of a gauge over the intervals, and its values at their ends; of several engines the sum, of shares the mean.
local function gauge_of(times, gauges, quantity)
  local means, at, engines = {}, {}, 0
  for _, gauge in ipairs(gauges) do
    if gauge.quantity == quantity then
      engines = engines + 1
      local counts, sums, own_at = {}, {}, {}
      for i, second in ipairs(gauge.times) do
        local stamp = series.milliseconds(second)
        local place = grid.place(times, stamp)
        if place then counts[place], sums[place] = (counts[place] or 0) + 1, (sums[place] or 0) + gauge.values[i] end
        if not gauge.is_mean then own_at[stamp] = gauge.values[i] end
      end
      for i, stamp in ipairs(times) do
        if counts[i] then means[i] = (means[i] or 0) + sums[i] / counts[i] end
        local value = own_at[stamp]
        at[i] = value and at[i] ~= false and (at[i] or 0) + value or false
      end
    end
  end
  if engines == 0 then return {}, {} end
  local by = summed[quantity] and 1 or engines
  for i, value in pairs(means) do means[i] = value / by end
  return means, at
end

--- Requests that came: those that ended, and how many more are in the server than before.
local function add_arrivals(list, running, waiting)
  local owed, exact = 0, true
  for i, each in ipairs(list) do
    local ended = each.requests or 0
    local before = running[i] and waiting[i] and running[i] + waiting[i]
    local after = running[i + 1] and waiting[i + 1] and running[i + 1] + waiting[i + 1]
    exact = exact and before and after
    local came = ended + (before and after and after - before or 0) + owed
    owed = math.min(0, came)
    each.arrivals = math.max(0, came)
    each.rate_per_s = each.arrivals / (each.stop_s - each.start_s)
  end
  return exact and true or false
end

--- What others computed of buckets, where the range has none itself.
local function add_quantiles(list, times, found)
  for _, each in ipairs(found) do
    local name = ("p%g"):format(100 * each.q)
    for i, second in ipairs(each.times) do
      local place = grid.place(times, series.milliseconds(second))
      local own = place and list[place]
      if own then
        own[each.quantity] = own[each.quantity] or {}
        own[each.quantity][name] = own[each.quantity][name] or each.values[i]
      end
    end
  end
end

local function thinned(times)
  local every = math.ceil((#times - 1) / most)
  if every <= 1 then return times, 1 end
  local out = {}
  for i = 1, #times, every do out[#out + 1] = times[i] end
  if out[#out] ~= times[#times] then out[#out + 1] = times[#times] end
  return out, every
end

--- Intervals {start_s, stop_s, sums, figures ..., arrivals, rate_per_s, running, waiting, kv_used_frac}, whether
--- arrivals are known and not only ends, and how many requests were in the server when the range begins.
---@param found table of series.lua; what is left out goes to its `unread`
function intervals.of(found)
  local by_quantity = {}
  for _, item in ipairs(found.increments) do
    by_quantity[item.quantity] = by_quantity[item.quantity] or {}
    table.insert(by_quantity[item.quantity], item)
  end
  local times, kept = grid.of(by_quantity, order, found.unread)
  if #times < 2 then return {} end
  local fewer, every = thinned(times)
  if every > 1 then
    found.told[#found.told + 1] = ("%d intervals are joined to %d"):format(#times - 1, #fewer - 1)
  end
  local list = {}
  for i, sums in ipairs(sums_of(fewer, kept)) do
    list[i] = intervals.figures(sums, (fewer[i + 1] - fewer[i]) / 1000)
    list[i].start_s, list[i].stop_s, list[i].sums = fewer[i] / 1000, fewer[i + 1] / 1000, sums
  end
  local running, running_at = gauge_of(fewer, found.gauges, "running")
  local waiting, waiting_at = gauge_of(fewer, found.gauges, "waiting")
  local used = gauge_of(fewer, found.gauges, "kv_used_frac")
  for i, each in ipairs(list) do
    each.running, each.waiting, each.kv_used_frac = running[i], waiting[i], used[i]
  end
  add_quantiles(list, fewer, found.quantiles)
  local exact = add_arrivals(list, running_at, waiting_at)
  local before = running_at[1] and waiting_at[1] and running_at[1] + waiting_at[1] or nil
  return list, exact, before, kept
end

return intervals
