-- What AIPerf scraped of servers during a run: server_metrics_export.jsonl (each scrape), .json (statistics, by slices
-- of time where --slice-duration asks for them) and .csv (statistics).
-- Source: github.com/ai-dynamo/aiperf, docs/server-metrics/server-metrics.md, server-metrics-json-schema.md
--
-- Names lack `_total`. Scrapes have counters since the start of the server, slices and statistics what they grew by.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local native = require "rooflua.native"
local stamps = require "rooflua.ranges.stamps"

local aiperf = {}
local fail = core.fail

local function is_object(value) return type(value) == "table" and value ~= json.null end

--- Whether a document is a scrape, a line of the JSONL.
function aiperf.tells_line(document)
  return is_object(document) and document.timestamp_ns ~= nil and is_object(document.metrics)
    and document.endpoint_url ~= nil
end

--- Whether a document is the JSON with statistics.
function aiperf.tells(document)
  return is_object(document) and is_object(document.summary) and document.summary.endpoint_info ~= nil
    and is_object(document.metrics)
end

local function labels_of(where, entry, endpoint)
  local labels = {}
  if entry.labels ~= nil and entry.labels ~= json.null then
    if type(entry.labels) ~= "table" then
      fail("%s.labels: expected an object, found %s", where, core.describe(entry.labels))
    end
    for name, value in pairs(entry.labels) do labels[name] = tostring(value) end
  end
  labels.endpoint_url = labels.endpoint_url or tostring(entry.endpoint_url or endpoint or "")
  return labels
end

--- A key that tells series apart.
local function key_of(name, labels)
  local parts = { name }
  for label, value in core.sorted_pairs(labels) do parts[#parts + 1] = label .. "=" .. value end
  return table.concat(parts, "\0")
end

--- The series of that name and labels in `out`, made where it is new.
local function series_of(out, known, file, where, name, labels, form)
  local key = key_of(name, labels)
  local series = known[key]
  if not series then
    series = { file = file, where = where, name = name, labels = labels, form = form, times = {}, values = {},
      starts = form == "increments" and {} or nil }
    known[key], out[#out + 1] = series, series
  end
  return series
end

local function needed_number(where, value)
  if type(value) ~= "number" then fail("%s: expected a number, found %s", where, core.describe(value)) end
  return value
end

local most_ns = 1e19

--- Seconds of a stamp in nanoseconds since 1970.
local function second_of(where, stamp)
  local value = needed_number(where, stamp)
  if not (value > 0 and value < most_ns) then fail("%s: expected nanoseconds since 1970, found %g", where, value) end
  return value / 1e9
end

local function put(series, at, value, start)
  local i = #series.times + 1
  series.times[i], series.values[i] = at, value
  if start then series.starts[i] = start end
end

--- Calls put_part(name, labels, value) for sum, count and each bucket of a histogram.
local function histogram(where, name, labels, entry, put_part)
  put_part(name .. "_sum", labels, needed_number(where .. ".sum", entry.sum))
  put_part(name .. "_count", labels, needed_number(where .. ".count", entry.count))
  if not is_object(entry.buckets) then return end
  for bound, count in core.sorted_pairs(entry.buckets) do
    put_part(name .. "_bucket", core.copy(labels, { le = tostring(bound) }),
      needed_number(("%s.buckets.%s"):format(where, bound), count))
  end
end

-- Scrapes ---------------------------------------------------------------------------------------------------------

local function add_scrape(out, known, file, line)
  local document, where = line.document, line.where
  local at = second_of(where .. ": timestamp_ns", document.timestamp_ns)
  for name, list in core.sorted_pairs(document.metrics) do
    if not is_object(list) then fail("%s: metrics.%s: expected a list, found %s", where, name, core.describe(list)) end
    for i, entry in ipairs(list) do
      local place = ("%s: metrics.%s[%d]"):format(where, name, i - 1)
      if not is_object(entry) then fail("%s: expected an object, found %s", place, core.describe(entry)) end
      local labels = labels_of(place, entry, document.endpoint_url)
      if entry.buckets ~= nil or entry.sum ~= nil then
        histogram(place, name, labels, entry, function(part, own, value)
          put(series_of(out, known, file, place, part, own, "raw"), at, value)
        end)
      else
        put(series_of(out, known, file, place, name, labels, "raw"), at, needed_number(place .. ".value", entry.value))
      end
    end
  end
end

--- Adds the series of all lines of the JSONL to `out`.
---@param lines table list of {where, document}
function aiperf.add_lines(out, file, lines)
  local known = {}
  for _, line in ipairs(lines) do
    if not aiperf.tells_line(line.document) then
      fail("%s: expected a scrape with endpoint_url, timestamp_ns and metrics", line.where)
    end
    add_scrape(out, known, file, line)
  end
end

-- Statistics ------------------------------------------------------------------------------------------------------

local gauges = { gauge = true, unknown = true }

--- One stretch of time of a series: a slice, or the statistics of all of it.
local function add_stretch(add, kind, name, labels, stretch, where)
  if gauges[kind] then
    if stretch.avg ~= nil then add(name, labels, needed_number(where .. ".avg", stretch.avg), "raw") end
  elseif kind == "counter" then
    add(name, labels, needed_number(where .. ".total", stretch.total), "increments")
  elseif kind == "histogram" then
    if stretch.sum == nil and stretch.count == 0 then stretch = core.copy(stretch, { sum = 0 }) end
    histogram(where, name, labels, stretch, function(part, own, value) add(part, own, value, "increments") end)
  end
end

local function span_of(where, summary)
  local first, last = stamps.read(summary.start_time), stamps.read(summary.end_time)
  if not first or not last or last <= first then
    fail("%s: summary.start_time, summary.end_time: expected two times, one after the other", where)
  end
  return first, last
end

local function add_series(out, known, file, where, name, metric, entry, first, last)
  local labels, kind = labels_of(where, entry), metric.type
  local slices = is_object(entry.timeslices) and entry.timeslices or {}
  local function adds(start, stop)
    return function(part, own, value, form)
      local series = series_of(out, known, file, where, part, own, form)
      series.is_mean = form == "raw" -- of a gauge, over the stretch
      put(series, stop, value, form == "increments" and start or nil)
    end
  end
  for i, slice in ipairs(slices) do
    local place = ("%s.timeslices[%d]"):format(where, i - 1)
    if not is_object(slice) then fail("%s: expected an object, found %s", place, core.describe(slice)) end
    local start, stop = second_of(place .. ".start_ns", slice.start_ns), second_of(place .. ".end_ns", slice.end_ns)
    if stop <= start then fail("%s: end_ns: expected more than start_ns", place) end
    add_stretch(adds(start, stop), kind, name, labels, slice, place)
  end
  if #slices == 0 then
    local stats = is_object(entry.stats) and core.copy(entry.stats, { buckets = entry.buckets }) or nil
    if not stats then fail("%s.stats: is missing", where) end
    add_stretch(adds(first, last), kind, name, labels, stats, where .. ".stats")
  end
end

--- Adds the series of the JSON to `out`.
function aiperf.add(out, file, where, document)
  local known, first, last = {}, span_of(where, document.summary)
  for name, metric in core.sorted_pairs(document.metrics) do
    if not is_object(metric) or not is_object(metric.series) then
      fail("%s: metrics.%s.series: expected a list", where, name)
    end
    for i, entry in ipairs(metric.series) do
      local place = ("%s: metrics.%s.series[%d]"):format(where, name, i - 1)
      if not is_object(entry) then fail("%s: expected an object, found %s", place, core.describe(entry)) end
      add_series(out, known, file, place, name, metric, entry, first, last)
    end
  end
end

-- The CSV -----------------------------------------------------------------------------------------------------------

local columns = core.set { "Endpoint", "Type", "Metric", "Unit", "Description", "buckets", "line" }
local statistics = core.set { "total", "rate", "count", "sum", "avg", "min", "max", "std" }

--- Whether a text is the CSV: sections with a header of their own, and empty lines between them.
function aiperf.tells_csv(text)
  local head = ("\n" .. text:sub(1, 4096)):gsub("\r", "")
  return head:find "\n# AIPerf Server Metrics Export" ~= nil or head:find "\nEndpoint,Type,Metric,Unit," ~= nil
end

--- The seconds that statistics are of: a total, and what it is in a second.
local function seconds_of(rows)
  for _, row in ipairs(rows) do
    local all, rate = row.total or row.count, row.rate or row.count_rate
    if type(all) == "number" and type(rate) == "number" and rate > 0 then return all / rate end
  end
end

local function add_row(out, file, row, first, last)
  local where, labels, buckets = ("%s:%d"):format(file, row.line), { endpoint_url = row.Endpoint }, {}
  for name, value in pairs(row) do
    if not (columns[name] or statistics[name] or name:find "_rate$" or name:find "^rate_" or name:find "^p%d") then
      labels[name] = tostring(value)
    end
  end
  for bound, count in (row.buckets or ""):gmatch "([^;=]+)=([%d.]+)" do buckets[bound] = tonumber(count) end
  local stretch = core.copy(row, { buckets = next(buckets) and buckets or nil, le = nil })
  add_stretch(function(part, own, value, form)
    put(series_of(out, {}, file, where, part, own, form), last, value, form == "increments" and first or nil)
  end, row.Type, tostring(row.Metric), labels, stretch, where)
end

--- Adds the series of the CSV to `out`: one stretch of time, whose date the file does not say.
function aiperf.add_csv(out, file, text)
  local rows, number = {}, 0
  text = text:gsub("\r", "")
  for section in (text .. "\n\n"):gmatch "(.-\n)\n" do
    local kept = ("\n" .. section):gsub("\n#[^\n]*", "\n"):sub(2) -- the lines keep their numbers
    if kept:find "^%s*Endpoint,Type," then
      for _, row in ipairs((native.csv_read(file, false, nil, kept))) do
        row.line = row.line + number
        rows[#rows + 1] = row
      end
    end
    number = number + select(2, section:gsub("\n", "\n")) + 1
  end
  local duration_s = seconds_of(rows)
  if not duration_s then fail("%s: no data: no counter has a total and a rate above 0", file) end
  for _, row in ipairs(rows) do add_row(out, file, row, 0, duration_s) end
end

return aiperf
