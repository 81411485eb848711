-- The range that one or several files have together: what of them is read, intervals, and the part that is simulated.
local aiperf = require "rooflua.ranges.aiperf"
local core = require "rooflua.base.core"
local grafana = require "rooflua.ranges.grafana"
local intervals = require "rooflua.ranges.intervals"
local json = require "rooflua.json"
local native = require "rooflua.native"
local prometheus = require "rooflua.ranges.prometheus"
local series = require "rooflua.ranges.series"

local range = {}
local fail = core.fail

local most_requests = 20000 -- that are simulated

--- Forms of a text: what it is, and how its series are added to `out` and notes to `notes`.
local of_texts = {
  { form = "promtool", what = "Prometheus, promtool query range", tells = prometheus.tells_text,
    add = prometheus.add_text },
  { form = "aiperf_csv", what = "AIPerf's server metrics, CSV", tells = aiperf.tells_csv, add = aiperf.add_csv },
  { form = "grafana", what = "Grafana, CSV of a panel", tells = grafana.tells, add = grafana.add },
}

--- The same of a document; `lines`: all documents of the file are one.
local of_documents = {
  { form = "query_range", what = "Prometheus, query_range", tells = prometheus.tells, add = prometheus.add },
  { form = "aiperf_json", what = "AIPerf's server metrics, JSON", tells = aiperf.tells, add = aiperf.add },
  { form = "aiperf_jsonl", what = "AIPerf's server metrics, JSONL", tells = aiperf.tells_line, lines = true },
}

local function form_of_document(document)
  for _, each in ipairs(of_documents) do
    if each.tells(document) then return each end
  end
end

--- The document of the first line, or of all of a text; nil where it is no JSON.
local function first_document(text)
  local line = text:match "^%s*([^\r\n]*)"
  local ok, value = pcall(json.decode, line)
  if not ok and #text < 67108864 then ok, value = pcall(json.decode, text) end
  if ok and type(value) == "table" and value ~= json.null and not form_of_document(value)
    and type(value[1]) == "table" then
    return value[1]
  end
  return ok and value or nil
end

--- The form of a text {form, what, ...}; nil where it is no range.
function range.form(text)
  if text:find "^[%s\30]*[{%[]" then
    local quick = text:find("\"matrix\"", 1, true) or text:find("\"metric\"", 1, true)
      or text:find("endpoint_", 1, true) or text:find("\"errorType\"", 1, true) or text:find("\"resultType\"", 1, true)
    local document = quick and first_document(text)
    return document and form_of_document(document)
  end
  for _, each in ipairs(of_texts) do
    if each.tells(text) then return each end
  end
end

--- Adds the documents of a file. A list of answers is several of them.
local function add_documents(out, path, text)
  local lines = {}
  local function add(where, document)
    local form = form_of_document(document)
    if form and form.lines then
      lines[#lines + 1] = { where = where, document = document }
    elseif form then
      form.add(out, path, where, document)
    elseif type(document) == "table" and document ~= json.null and type(document[1]) == "table" then
      for i, each in ipairs(document) do add(("%s: [%d]"):format(where, i - 1), each) end
    else
      fail("%s: expected an answer of Prometheus to a query of a range, or server metrics of AIPerf, found %s", where,
        core.describe(document))
    end
  end
  local documents = native.json_documents(text, path)
  for _, each in ipairs(documents) do
    add(#documents > 1 and ("%s:%d"):format(path, each.line) or path, each.value)
  end
  if #lines > 0 then aiperf.add_lines(out, path, lines) end
end

--- Without intervals in which nothing happened at both ends.
local function without_idle(list)
  local first, last = 1, #list
  local function is_idle(each)
    return each.arrivals == 0 and (each.requests or 0) == 0 and (each.output_tokens_per_s or 0) == 0
  end
  while first < last and is_idle(list[first]) do first = first + 1 end
  while last > first and is_idle(list[last]) do last = last - 1 end
  local out = {}
  for i = first, last do out[#out + 1] = list[i] end
  return out, first > 1
end

--- The part with the most requests, of at most `most_requests`: its first and last interval.
local function busiest(list)
  local first, sum, best, best_first, best_last = 1, 0, -1, 1, 1
  for _, each in ipairs(list) do sum = sum + each.arrivals end
  if sum <= most_requests then return 1, #list end
  sum = 0
  for last = 1, #list do
    sum = sum + list[last].arrivals
    while sum > most_requests and first < last do
      sum, first = sum - list[first].arrivals, first + 1
    end
    if sum > best then best, best_first, best_last = sum, first, last end
  end
  return best_first, best_last
end

--- Where the series of a quantity come from: "vllm:request_success_total (load.json: result[0], and 3 more)".
local function sources_of(found, kept)
  local out, counts = {}, {}
  local function add(items)
    for _, item in ipairs(items) do
      local name, quantity = item.name:gsub("_bucket$", ""):gsub("_sum$", ""):gsub("_count$", ""), item.quantity
      if not out[quantity] then out[quantity] = { name = name, where = item.where } end
      counts[quantity] = (counts[quantity] or 0) + 1
    end
  end
  add(kept)
  add(found.gauges)
  add(found.quantiles)
  local texts = {}
  for quantity, of in pairs(out) do
    local more = counts[quantity] - 1
    texts[quantity] = ("%s (%s%s)"):format(of.name, of.where, more > 0 and (", and %d more"):format(more) or "")
  end
  return texts
end

--- {intervals, sums, figures, start_s, stop_s, notes, unread, sources, count, failed, arrivals_known, files}.
---@param files {path: string, text: string}[]
function range.of(files)
  local list, notes, paths = {}, {}, {}
  for i, each in ipairs(files) do
    paths[i] = each.path
    if each.text:find "^[%s\30]*[{%[]" then
      add_documents(list, each.path, each.text)
    else
      range.form(each.text).add(list, each.path, each.text, notes)
    end
  end
  local found = series.of(list)
  local all, known, before, kept = intervals.of(found)
  local name = core.join(paths, ", ")
  if #all == 0 then
    local first = found.unread[1]
    fail("%s: no data: no counter of an engine has two values%s", name,
      first and (" (%s: %s: %s)"):format(first.where, tostring(first.name), first.why) or "")
  end
  if not intervals.ended(intervals.together { all[1].sums, all[#all].sums }) then
    fail("%s: no series says how many requests ended: query vllm:request_success_total, sglang:num_requests_total or "
      .. "the counts of e2e_request_latency_seconds", name)
  end
  local is_later
  all, is_later = without_idle(all)
  local first, last = busiest(all)
  local part, sums, arrivals = {}, {}, 0
  for i = first, last do
    part[#part + 1], sums[#sums + 1], arrivals = all[i], all[i].sums, arrivals + all[i].arrivals
  end
  local together = intervals.together(sums)
  local ended, failed = intervals.ended(together)
  local start_s, stop_s = part[1].start_s, part[#part].stop_s
  for _, note in ipairs(found.told) do notes[#notes + 1] = note end
  if #part < #all then
    notes[#notes + 1] = ("of %d intervals the %d with the most requests are simulated"):format(#all, #part)
  end
  if not known then
    notes[#notes + 1] = "how many requests came is not known, only how many ended: running and waiting requests are "
      .. "not known at all times"
  elseif first == 1 and not is_later and before > 0 then
    notes[#notes + 1] = ("%g requests were in the server when the range begins; the simulation begins without"):format(
      before)
  end
  if found.engines > 1 then
    notes[#notes + 1] = ("the series are of %d engines together"):format(found.engines)
  end
  if #found.unread > 0 then
    notes[#notes + 1] = ("%d series are not read; the first: %s: %s"):format(#found.unread,
      found.unread[1].name or found.unread[1].where, found.unread[1].why)
  end
  return { intervals = part, sums = together, figures = intervals.figures(together, stop_s - start_s),
    start_s = start_s, stop_s = stop_s, notes = notes, unread = found.unread, read = list, kept = kept,
    sources = sources_of(found, kept), count = ended - failed, failed = failed, arrivals = arrivals,
    engines = found.engines, model = found.model, engine = found.engine, paths = paths, name = name,
    has_dates = start_s > 1e8 }
end

return range
