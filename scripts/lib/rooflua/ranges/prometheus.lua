-- Answers of Prometheus to a query of a range: /api/v1/query_range as JSON, `promtool query range` as text or JSON.
-- Source: prometheus.io, docs/prometheus/latest/querying/api, range queries; prometheus/common model.SampleStream
--
-- A value is a text, so that NaN and +Inf can stand there; where a series is stale it has no value.
local core = require "rooflua.base.core"
local expressions = require "rooflua.ranges.expressions"
local json = require "rooflua.json"

local prometheus = {}
local fail = core.fail

local most_points = 2e6 -- of a file
local words = { ["+Inf"] = math.huge, ["-Inf"] = -math.huge, Inf = math.huge, NaN = 0 / 0 }

local function number_of(text) return type(text) == "number" and text or words[text] or tonumber(text) end

--- The list of series in a document: an answer of the API, its `data`, or the list alone; nil where it is none.
local function result_of(document)
  if type(document) ~= "table" or document == json.null then return nil end
  local data = type(document.data) == "table" and document.data or document
  if data.resultType ~= nil then return data.result, data.resultType end
  local first = document[1]
  if type(first) == "table" and type(first.metric) == "table" and (first.values or first.histograms) then
    return document, "matrix"
  end
end

--- Whether a document is an answer to a query.
function prometheus.tells(document)
  return result_of(document) ~= nil
    or type(document) == "table" and (document.status == "error" or document.status == "success")
      and (document.errorType ~= nil or document.data ~= nil)
end

local function point_of(where, pair)
  if type(pair) ~= "table" then fail("%s: expected [time, \"value\"], found %s", where, core.describe(pair)) end
  local at, value = pair[1], number_of(pair[2])
  if type(at) ~= "number" or not (at > 0 and at < 1e11) then
    fail("%s[0]: expected seconds since 1970, found %s", where, core.describe(at))
  end
  if not value then fail("%s[1]: expected a number, found %s", where, core.describe(pair[2])) end
  return at, value
end

local function labels_of(where, metric)
  local labels = {}
  for name, value in pairs(metric) do
    if type(value) ~= "string" then fail("%s: %s: expected a text, found %s", where, name, core.describe(value)) end
    labels[name] = value
  end
  local name = labels.__name__
  labels.__name__ = nil
  return name, labels
end

local function add_series(out, file, where, each)
  if type(each) ~= "table" or type(each.metric) ~= "table" then
    fail("%s: expected {metric, values}, found %s", where, core.describe(each))
  end
  local name, labels = labels_of(where .. ".metric", each.metric)
  local series = { file = file, where = where, name = name, labels = labels, form = "raw", times = {}, values = {} }
  if each.values == nil and each.histograms ~= nil then
    series.unread = "a native histogram; query the classic one, X_bucket, X_sum and X_count"
  elseif type(each.values) ~= "table" then
    fail("%s.values: expected a list, found %s", where, core.describe(each.values))
  end
  for i, pair in ipairs(each.values or {}) do
    series.times[i], series.values[i] = point_of(("%s.values[%d]"):format(where, i - 1), pair)
  end
  if not name then
    series.unread = "it has no name: the answer to an expression, which the file does not hold; query the series itself"
  end
  out[#out + 1] = series
  out.points = (out.points or 0) + #series.times
  if out.points > most_points then fail("%s: more than %d values; ask for longer steps", file, most_points) end
end

--- Adds the series of a document to `out`.
---@param where string the file, and the line of the document where there are several
function prometheus.add(out, file, where, document)
  if document.status == "error" then
    fail("%s: Prometheus answered with an error: %s", where, tostring(document.error or document.errorType))
  end
  local result, kind = result_of(document)
  if kind ~= "matrix" then
    fail("%s: resultType: expected \"matrix\", the answer of /api/v1/query_range, found %s", where,
      core.describe(kind))
  end
  if type(result) ~= "table" then fail("%s: result: expected a list, found %s", where, core.describe(result)) end
  for i, each in ipairs(result) do add_series(out, file, ("%s: result[%d]"):format(where, i - 1), each) end
end

-- Text of promtool ------------------------------------------------------------------------------------------------

--- Whether a text is what promtool prints: a series with =>, and values with @[time] below.
function prometheus.tells_text(text)
  local head = ("\n" .. text:sub(1, 65536))
  return head:find "\n[^\n]- =>%s*\n%s*[^%s]+ @%[[%d.]+%]" ~= nil
end

--- The series of such a text, added to `out`.
function prometheus.add_text(out, file, text)
  local series, number = nil, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    line = line:gsub("%s+$", "")
    local head = line:match "^(.*) =>$"
    local value, at = line:match "^%s*(%S+) @%[([%d.]+)%]$"
    if head then
      local own, why = expressions.read(head)
      series = { file = file, where = ("%s:%d"):format(file, number), name = own and own.name,
        labels = own and own.labels or {}, form = "raw", times = {}, values = {},
        unread = not own and (head == "{}" and "it has no name: the answer to an expression; query the series itself"
          or why) or nil }
      out[#out + 1] = series
    elseif value then
      if not series then fail("%s:%d: a value without a series above it: '%s'", file, number, line) end
      local one, second = number_of(value), tonumber(at)
      if not one or not second then fail("%s:%d: expected 'value @[time]', found '%s'", file, number, line) end
      series.times[#series.times + 1], series.values[#series.values + 1] = second, one
    elseif line ~= "" then
      fail("%s:%d: expected 'name{labels} =>' or 'value @[time]', found '%s'", file, number, line:sub(1, 100))
    end
  end
end

return prometheus
