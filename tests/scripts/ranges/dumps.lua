-- Dumps of a range whose truth is known: requests with their times become counters, gauges and buckets at each scrape,
-- and those become files of each form. Nothing of the reader is used.
local json = require "rooflua.json"

local dumps = {}

local start = 1767225600 -- 2026-01-01 00:00:00 UTC

dumps.names = {
  vllm = { finished = "vllm:request_success_total", running = "vllm:num_requests_running",
    waiting = "vllm:num_requests_waiting", used = "vllm:kv_cache_usage_perc", prompt = "vllm:prompt_tokens_total",
    output = "vllm:generation_tokens_total", ttft = "vllm:time_to_first_token_seconds",
    tpot = "vllm:request_time_per_output_token_seconds", e2e = "vllm:e2e_request_latency_seconds",
    prompts = "vllm:request_prompt_tokens", outputs = "vllm:request_generation_tokens",
    queries = "vllm:prefix_cache_queries_total", hits = "vllm:prefix_cache_hits_total" },
  sglang = { finished = "sglang:num_requests_total", running = "sglang:num_running_reqs",
    waiting = "sglang:num_queue_reqs", used = "sglang:token_usage", prompt = "sglang:prompt_tokens_total",
    output = "sglang:generation_tokens_total", ttft = "sglang:time_to_first_token_seconds",
    tpot = "sglang:inter_token_latency_seconds", e2e = "sglang:e2e_request_latency_seconds",
    hits = "sglang:cached_tokens_total" },
  trtllm = { finished = "trtllm_request_success_total", running = "trtllm_num_requests_running",
    waiting = "trtllm_num_requests_waiting", used = "trtllm_kv_cache_utilization",
    prompt = "trtllm_prompt_tokens_total", output = "trtllm_generation_tokens_total",
    ttft = "trtllm_time_to_first_token_seconds", tpot = "trtllm_time_per_output_token_seconds",
    e2e = "trtllm_e2e_request_latency_seconds" },
}

local bounds = { ttft = { 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5 }, tpot = { 0.005, 0.01, 0.02, 0.05 },
  e2e = { 0.3, 0.5, 0.8, 1, 1.5, 2, 5, 10 }, prompts = { 100, 200, 500, 1000, 2000 },
  outputs = { 10, 20, 50, 100, 200 } }

--- Requests of a load of two rates: {arrival, first, last, prompt, output}, in a way that is the same in every run.
function dumps.requests(count, seconds)
  local state, out = 7, {}
  local function random()
    state = (state * 1103515245 + 12345) % 2147483648
    return math.floor(state / 65536) / 32768
  end
  for i = 1, count do
    local arrival = seconds * (i <= count / 4 and 0.5 * random() or 0.5 + 0.5 * random())
    local prompt, output = 50 + math.floor(900 * random()), 5 + math.floor(100 * random())
    local first = arrival + 0.02 + 0.3 * random()
    out[i] = { arrival = arrival, scheduled = arrival + 0.01, first = first, last = first + (output - 1) * 0.008,
      prompt = prompt, output = output, hits = math.floor(prompt / 4), reason = i % 9 == 0 and "length" or "stop" }
  end
  return out
end

--- What a server shows at a time, of requests since `since`: {quantity = number or {sum, count, buckets}}.
local function shown(requests, at, since)
  local out = { finished = { stop = 0, length = 0, abort = 0 }, running = 0, waiting = 0, prompt = 0, output = 0,
    queries = 0, hits = 0 }
  for name, list in pairs(bounds) do
    out[name] = { sum = 0, count = 0, buckets = {} }
    for i = 1, #list + 1 do out[name].buckets[i] = 0 end
  end
  local function observe(name, value)
    local own = out[name]
    own.sum, own.count = own.sum + value, own.count + 1
    for i, bound in ipairs(bounds[name]) do
      if value <= bound then own.buckets[i] = own.buckets[i] + 1 end
    end
    own.buckets[#own.buckets] = own.count
  end
  for _, each in ipairs(requests) do
    if each.arrival <= at and each.scheduled > at then out.waiting = out.waiting + 1 end
    if each.scheduled <= at and each.last > at then out.running = out.running + 1 end
    if each.first > since and each.first <= at then
      observe("ttft", each.first - each.arrival)
      out.prompt, out.queries, out.hits = out.prompt + each.prompt, out.queries + each.prompt, out.hits + each.hits
      out.output = out.output + 1
    end
    if each.last > since and each.last <= at then
      out.finished[each.reason] = out.finished[each.reason] + 1
      out.output = out.output + each.output - 1
      observe("e2e", each.last - each.arrival)
      observe("tpot", (each.last - each.first) / (each.output - 1))
      observe("prompts", each.prompt)
      observe("outputs", each.output)
    end
  end
  out.used = (out.running + out.waiting) / 100
  return out
end

--- Scrapes {at, shown} every `step` seconds. `about.restart`: behind this time the server began
--- again with all counters at 0.
function dumps.scrapes(requests, seconds, step, about)
  local out = {}
  for at = 0, seconds, step do
    local restart = about and about.restart and at > about.restart and about.restart or -1
    out[#out + 1] = { at = start + at, shown = shown(requests, at, restart) }
  end
  return out
end

local function bound_text(bound) return bound and ("%g"):format(bound) or "+Inf" end

--- The series {name, labels, points = {{at, value}}} of scrapes.
function dumps.series(scrapes, engine, labels)
  local names, out, known = dumps.names[engine], {}, {}
  local function put(name, more, at, value)
    local own = { model_name = "m", engine = "0", instance = "10.0.0.1:8000" }
    for key, each in pairs(labels or {}) do own[key] = each end
    for key, each in pairs(more or {}) do own[key] = each end
    local id = name .. (more and (more.le or more.finished_reason) or "")
    if not known[id] then
      known[id] = { name = name, labels = own, points = {} }
      out[#out + 1] = known[id]
    end
    table.insert(known[id].points, { at, value })
  end
  for _, scrape in ipairs(scrapes) do
    for _, quantity in ipairs { "finished", "running", "waiting", "used", "prompt", "output", "queries", "hits", "ttft",
      "tpot", "e2e", "prompts", "outputs" } do
      local name, value = names[quantity], scrape.shown[quantity]
      if name and quantity == "finished" and engine ~= "sglang" then
        for _, reason in ipairs { "stop", "length", "abort" } do
          put(name, { finished_reason = reason }, scrape.at, value[reason])
        end
      elseif name and quantity == "finished" then
        put(name, nil, scrape.at, value.stop + value.length + value.abort)
      elseif name and type(value) == "table" then
        put(name .. "_sum", nil, scrape.at, value.sum)
        put(name .. "_count", nil, scrape.at, value.count)
        for i, count in ipairs(value.buckets) do
          put(name .. "_bucket", { le = bound_text(bounds[quantity][i]) }, scrape.at, count)
        end
      elseif name then
        put(name, nil, scrape.at, value)
      end
    end
  end
  return out
end

local function number(value) return ("%.17g"):format(value) end

-- Files ---------------------------------------------------------------------------------------------------------------

local function result_of(list)
  local result = {}
  for i, each in ipairs(list) do
    local metric, values = { __name__ = each.name }, {}
    for key, value in pairs(each.labels) do metric[key] = value end
    for j, point in ipairs(each.points) do values[j] = { point[1], number(point[2]) } end
    result[i] = { metric = metric, values = values }
  end
  return result
end

function dumps.query_range(list)
  return json.encode { status = "success", data = { resultType = "matrix", result = result_of(list) } }
end

function dumps.promtool_json(list) return json.encode(result_of(list)) end

local function label_text(labels)
  local keys, parts = {}, {}
  for key in pairs(labels) do keys[#keys + 1] = key end
  table.sort(keys)
  for i, key in ipairs(keys) do parts[i] = ("%s=%q"):format(key, labels[key]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

function dumps.promtool(list)
  local lines = {}
  for _, each in ipairs(list) do
    lines[#lines + 1] = each.name .. label_text(each.labels) .. " =>"
    for _, point in ipairs(each.points) do
      lines[#lines + 1] = ("%s @[%s]"):format(number(point[2]), number(point[1]))
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function cell(text) return '"' .. text:gsub('"', '""') .. '"' end

local stamps = {
  iso = function(at) return os.date("!%Y-%m-%dT%H:%M:%S.000Z", at) end,
  milliseconds = function(at) return ("%.0f"):format(1000 * at) end,
  ["local"] = function(at) return os.date("!%Y-%m-%d %H:%M:%S", at) end,
}

--- A column a series. `stamp`: "iso", "milliseconds" or "local"; `format(series, value)`: a cell, else the number.
function dumps.grafana(list, stamp, format)
  local head, lines = { '"Time"' }, {}
  for i, each in ipairs(list) do head[i + 1] = cell(each.name .. label_text(each.labels)) end
  lines[1] = table.concat(head, ",")
  for j, point in ipairs(list[1].points) do
    local row = { stamps[stamp](point[1]) }
    for i, each in ipairs(list) do
      local value = each.points[j][2]
      row[i + 1] = format and format(each, value) or number(value)
    end
    lines[#lines + 1] = table.concat(row, ",")
  end
  return table.concat(lines, "\r\n") .. "\r\n"
end

--- A row for each value.
function dumps.grafana_long(list)
  local lines = { "Time,__name__,engine,finished_reason,instance,le,model_name,Value" }
  for j in ipairs(list[1].points) do
    for _, each in ipairs(list) do
      local labels = each.labels
      lines[#lines + 1] = table.concat({ stamps["local"](each.points[j][1]), each.name, labels.engine,
        labels.finished_reason or "", labels.instance, labels.le or "", labels.model_name,
        number(each.points[j][2]) }, ",")
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Entries of AIPerf by name: {labels, value} or {labels, sum, count, buckets}, of a value of each series.
local function entries_of(list, value_of)
  local metrics, known = {}, {}
  for _, each in ipairs(list) do
    local base, part = each.name:match "^(.*)_(%a+)$"
    if part ~= "bucket" and part ~= "sum" and part ~= "count" then
      base, part = each.name:gsub("_total$", ""), nil
    end
    local labels, key = {}, base
    for name, value in pairs(each.labels) do
      if name ~= "le" then labels[name] = value end
    end
    key = key .. label_text(labels)
    if not known[key] then
      known[key] = { labels = labels }
      metrics[base] = metrics[base] or {}
      table.insert(metrics[base], known[key])
    end
    if part == "bucket" then
      known[key].buckets = known[key].buckets or {}
      known[key].buckets[each.labels.le] = value_of(each)
    else
      known[key][part or "value"] = value_of(each)
    end
  end
  return metrics
end

function dumps.aiperf_jsonl(list)
  local lines = {}
  for j, point in ipairs(list[1].points) do
    lines[j] = json.encode { endpoint_url = "http://localhost:8000/metrics", timestamp_ns = point[1] * 1e9,
      endpoint_latency_ns = 1000, metrics = entries_of(list, function(each) return each.points[j][2] end) }
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Statistics, with slices where `every` says how many scrapes each has.
function dumps.aiperf_json(list, every)
  local count, metrics = #list[1].points, {}
  local function between(from, to)
    return entries_of(list, function(each)
      local is_gauge = each.name:find "num_" or each.name:find "usage"
      return is_gauge and each.points[to][2] or each.points[to][2] - each.points[from][2]
    end)
  end
  local function stretch(kind, entry, from, to)
    if kind == "gauge" then return { avg = entry.value } end
    if kind == "counter" then
      return { total = entry.value, rate = entry.value / (list[1].points[to][1] - list[1].points[from][1]) }
    end
    return { sum = entry.sum, count = entry.count }
  end
  for name, entries in pairs(between(1, count)) do
    local kind = entries[1].buckets and "histogram" or (name:find "num_" or name:find "usage") and "gauge" or "counter"
    metrics[name] = { type = kind, series = {} }
    for i, entry in ipairs(entries) do
      local own = { endpoint_url = "http://localhost:8000/metrics", labels = entry.labels, buckets = entry.buckets,
        stats = stretch(kind, entry, 1, count) }
      for from = 1, every and count - every or 0, every or 1 do
        local part = between(from, from + every)[name][i]
        local slice = stretch(kind, part, from, from + every)
        slice.buckets = part.buckets
        slice.start_ns, slice.end_ns = list[1].points[from][1] * 1e9, list[1].points[from + every][1] * 1e9
        own.timeslices = own.timeslices or {}
        table.insert(own.timeslices, slice)
      end
      metrics[name].series[i] = own
    end
  end
  return json.encode { schema_version = "1.0", metrics = metrics, summary = { endpoint_info = { a = 1 },
    start_time = stamps.iso(list[1].points[1][1]), end_time = stamps.iso(list[1].points[count][1]) } }
end

return dumps
