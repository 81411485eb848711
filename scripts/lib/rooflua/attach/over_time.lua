-- A range and simulations of its load, interval by interval: rates, what runs and waits, KV use, times of requests.
local core = require "rooflua.base.core"
local intervals = require "rooflua.ranges.intervals"
local json = require "rooflua.json"
local single = require "rooflua.runs.single"
local statistics = require "rooflua.base.statistics"

local over_time = {}

--- The series of a document: name, title and unit of an axis, and what an interval of a range has of it.
over_time.shown = {
  { "arrivals_per_s", "Requests that come", "requests/s", function(each) return each.rate_per_s end },
  { "output_tokens_per_s", "Throughput", "tokens/s", function(each) return each.output_tokens_per_s end },
  { "running", "Running", "requests", function(each) return each.running end },
  { "waiting", "Queue", "requests", function(each) return each.waiting end },
  { "kv_used_frac", "KV use", "1", function(each) return each.kv_used_frac end },
  { "ttft_s_mean", "TTFT, mean", "s", function(each) return each.ttft_s and each.ttft_s.mean end },
  { "ttft_s_p90", "TTFT, p90", "s", function(each) return each.ttft_s and each.ttft_s.p90 end },
  { "tpot_s_mean", "TPOT, mean", "s", function(each) return each.tpot_s and each.tpot_s.mean end },
  { "e2e_s_mean", "E2E, mean", "s", function(each) return each.e2e_s and each.e2e_s.mean end },
  { "hit_frac", "Prefix hits", "1", function(each) return each.hit_frac end },
}

--- {name = list}, where a list has null for an interval without a value; names without any are left out.
local function listed(parts, value_of)
  local out = {}
  for _, about in ipairs(over_time.shown) do
    local list, has = json.array {}, false
    for i, each in ipairs(parts) do
      local value = value_of(each, about, i)
      list[i] = value ~= nil and value or json.null
      has = has or value ~= nil
    end
    out[about[1]] = has and list or nil
  end
  return out
end

--- What the range saw: {start_s since 1970, ends_s from its beginning on, and a list by name}.
function over_time.seen(of)
  local out = listed(of.intervals, function(each, about) return about[4](each) end)
  out.start_s, out.ends_s = of.start_s, json.array {}
  for i, each in ipairs(of.intervals) do out.ends_s[i] = each.stop_s - of.start_s end
  return out
end

--- The interval of a time from the beginning on; nil behind the last.
local function place(ends, at)
  local low, high = 1, #ends
  if at > ends[high] then return nil end
  while low < high do
    local middle = math.floor((low + high) / 2)
    if ends[middle] < at then low = middle + 1 else high = middle end
  end
  return low
end

--- Means over the intervals of a series in bins that begin at `first_s`.
local function means(ends, values, bin_s, first_s)
  local out, begin_s = {}, 0
  for i, end_s in ipairs(ends) do
    local from, to = math.floor((begin_s - first_s) / bin_s) + 1, math.ceil((end_s - first_s) / bin_s)
    local sum, count = 0, 0
    for j = math.max(1, from), math.min(#values, to) do sum, count = sum + values[j], count + 1 end
    out[i] = count > 0 and sum / count or 0
    begin_s = end_s
  end
  return out
end

--- A quantile of values as a range has it: between the bounds of its buckets, where it has some.
local function quantile(values, q, buckets)
  table.sort(values)
  if not buckets then return statistics.of_sorted(values, q) end
  local counts, below = {}, 0
  for _, bound in ipairs(core.sorted_keys(buckets)) do
    while values[below + 1] and values[below + 1] <= bound do below = below + 1 end
    counts[bound] = below
  end
  counts[math.huge] = #values
  return intervals.quantile(counts, q)
end

local function add(lists, name, at, value)
  if not at then return end
  lists[name] = lists[name] or {}
  lists[name][at] = lists[name][at] or {}
  table.insert(lists[name][at], value)
end

--- The same of a simulation of the range's load.
---@param given table the scenario
---@param of table the range
---@param seen table of over_time.seen
function over_time.simulated(reader, given, of, seen)
  local metrics = core.copy(given.metrics and core.plain(given.metrics), { requests = true })
  local run = single.run("serve", reader, core.copy(given, { metrics = metrics }), { sketch = true })
  local ends, lists, timeline = seen.ends_s, {}, json.decode(run.sketch).timeline
  local first_s = run.requests[1] and run.requests[1].arrival_s or 0
  for _, each in ipairs(run.requests) do
    add(lists, "came", place(ends, each.arrival_s), 1)
    if each.ttft_s then
      local tpot_s = each.output_tokens > 1 and (each.e2e_s - each.ttft_s) / (each.output_tokens - 1) or nil
      local done = place(ends, each.arrival_s + each.e2e_s)
      add(lists, "ttft_s", place(ends, each.arrival_s + each.ttft_s), each.ttft_s)
      add(lists, "e2e_s", done, each.e2e_s)
      if tpot_s then add(lists, "tpot_s", done, tpot_s) end
    end
  end
  local of_bins = {}
  for _, name in ipairs { "running", "waiting", "kv_used_frac", "output_tokens_per_s" } do
    of_bins[name] = means(ends, timeline[name], timeline.bin_s, first_s)
  end
  local begin_s = 0
  local out = listed(ends, function(end_s, about, i)
    if i == 1 then begin_s = 0 end
    local name, seconds = about[1], end_s - begin_s
    begin_s = end_s
    if name == "arrivals_per_s" then return #((lists.came or {})[i] or {}) / seconds end
    if of_bins[name] then return of_bins[name][i] end
    local latency, what = name:match "^(%w+_s)_(%w+)$"
    local values = (lists[latency] or {})[i]
    if not values then return nil end
    if what == "mean" then return statistics.mean(values) end
    return quantile(values, 0.9, of.sums[latency] and of.sums[latency].buckets)
  end)
  out.start_s, out.ends_s = seen.start_s, ends
  return out
end

return over_time
