-- What Grafana exports of a panel (Inspect, Data, Download CSV): a column of times and one for each series, or a row
-- for each value with its labels beside it.
-- Source: grafana.com, docs/grafana/latest/panels-visualizations/panel-inspector; grafana-data/src/valueFormats
--
-- With "Formatted data" cells have units, and counters are rounded.
local core = require "rooflua.base.core"
local expressions = require "rooflua.ranges.expressions"
local names = require "rooflua.ranges.names"
local native = require "rooflua.native"
local stamps = require "rooflua.ranges.stamps"

local grafana = {}
local fail = core.fail

local time_names = core.set { "time", "timestamp", "date", "@timestamp", "ts" }
local series_names = core.set { "series", "metric", "field", "__name__", "name" }
local missing = core.set { "", "null", "undefined", "nan", "-", "no data", "n/a" }

--- What units mean: the factor of a cell, and whether it is rounded to three digits by a count's letter.
local units = { ns = 1e-9, ["µs"] = 1e-6, ["μs"] = 1e-6, us = 1e-6, ms = 1e-3, s = 1, sec = 1, secs = 1, min = 60,
  mins = 60, hour = 3600, hours = 3600, day = 86400, days = 86400, week = 604800, weeks = 604800, ["%"] = 0.01 }
local letters = { K = 1e3, k = 1e3, Mil = 1e6, M = 1e6, Bil = 1e9, B = 1e9, G = 1e9, Tri = 1e12, T = 1e12 }
--- What follows a count and leaves it what it is.
local things = core.set { "req/s", "reqps", "reqs/s", "rps", "tok/s", "tokens/s", "ops/s", "c/s", "cps", "r/s", "/s",
  "req", "reqs", "requests", "tok", "tokens", "ops" }

--- Digits without the commas between thousands; nil where commas stand elsewhere.
local function without_commas(digits)
  if not digits:find "," then return digits end
  local count = 0
  for group in (digits:match "^[+-]?([%d,]+)" .. ","):gmatch "([^,]*)," do
    count = count + 1
    if count > 1 and #group ~= 3 or #group > 3 or group == "" then return nil end
  end
  return (digits:gsub(",", ""))
end

--- The number of a cell, and whether it is rounded; nil where it is none.
local function number_of(cell)
  if type(cell) == "number" then return cell, false end
  local digits, rest = cell:match "^%s*([+-]?[%d.][%d,]*%.?%d*)%s*(.-)%s*$"
  if not digits then return cell:find "^%+?Inf" and math.huge or nil, false end
  local value = tonumber(without_commas(digits))
  if not value then return nil end
  if rest == "" or things[rest] then return value, false end
  if units[rest] then return value * units[rest], false end
  local letter, thing = rest:match "^(%a+)%s*(.*)$"
  if letter and letters[letter] and (thing == "" or things[thing]) then return value * letters[letter], true end
  return nil
end

--- Without what "Download for Excel" puts in front.
local function without_mark(text) return (text:gsub("^\239\187\191", ""):gsub("^sep=[,;]\r?\n", "")) end

local function header_of(text)
  local line = without_mark(text):match "^([^\r\n]*)"
  if line:find "^#" then return nil end
  local rest, list = line, {}
  while rest do -- the names as far as they tell the form; csv_read reads them all
    local name, behind = rest:match '^"([^"]*)"(.*)$'
    if not name then name, behind = rest:match "^([^,]*)(.*)$" end
    list[#list + 1] = name:lower()
    rest = behind:match "^,(.*)$"
  end
  return list
end

--- Whether a text is such an export: one of its first columns is a time, and series of an engine stand in it.
function grafana.tells(text)
  local header = header_of(text)
  if not header or #header < 2 then return false end
  local is_timed = time_names[header[1]] or series_names[header[1]] and time_names[header[2]]
  return is_timed and names.stand_in(text:sub(1, 65536)) or false
end

local function time_of(path, row, column)
  local at, is_local = stamps.read(row[column])
  if at then return at, is_local end
  return fail("%s:%d: column '%s': expected seconds or milliseconds since 1970, ISO 8601 or YYYY-MM-DD HH:MM:SS, "
    .. "found %s", path, row.line, column, row[column] == nil and "nothing" or core.describe(row[column]))
end

local function add_value(path, series, row, column, at)
  local cell = row[column]
  if cell == nil or type(cell) == "string" and missing[cell:lower()] then return end
  local value, is_rounded = number_of(cell)
  if not value then
    fail("%s:%d: column '%s': expected a number, with a unit of time, %% or K, Mil, Bil where it has one; found %s",
      path, row.line, column, core.describe(cell))
  end
  series.rounded = series.rounded or is_rounded
  series.times[#series.times + 1], series.values[#series.values + 1] = at, value
end

local function fresh(path, where, own, why, labels)
  return { file = path, where = where, name = own and own.name, labels = core.copy(own and own.labels or {}, labels),
    form = own and own.form or "raw", window_s = own and own.window_s, q = own and own.q, unread = why, times = {},
    values = {} }
end

local function read_wide(out, path, rows, header, time)
  local list = {}
  for _, column in ipairs(header) do
    if column ~= time then
      local own, why = expressions.read(column)
      local where = ("%s: column '%s'"):format(path, column)
      if not own and not column:find "%(" then
        why = "it is no name of a series; set the legend of the query to 'Verbose'"
      end
      list[column] = fresh(path, where, own, why)
      out[#out + 1] = list[column]
    end
  end
  local is_local
  for _, row in ipairs(rows) do
    local at, own = time_of(path, row, time)
    is_local = is_local or own
    for column, series in core.sorted_pairs(list) do
      if not series.unread then add_value(path, series, row, column, at) end
    end
  end
  return is_local
end

--- Columns of values: "Value", "Value #A"; nil where the file has a column for each series.
local function value_columns(header)
  local out = {}
  for _, column in ipairs(header) do
    if column:lower() == "value" or column:find "^Value #" then out[#out + 1] = column end
  end
  return #out > 0 and out or nil
end

local function read_long(out, path, rows, header, time, values)
  local known, is_local, others = {}, nil, {}
  local skipped = core.set(values)
  for _, column in ipairs(header) do
    if column ~= time and not skipped[column] then others[#others + 1] = column end
  end
  for _, row in ipairs(rows) do
    local at, own_local = time_of(path, row, time)
    is_local = is_local or own_local
    local labels, named, parts = {}, nil, {}
    for _, column in ipairs(others) do
      local cell = row[column]
      if cell ~= nil and series_names[column:lower()] and not named then
        named = tostring(cell)
      elseif cell ~= nil then
        labels[column] = tostring(cell)
      end
      parts[#parts + 1] = tostring(cell or "")
    end
    for _, column in ipairs(values) do
      local key = table.concat(parts, "\0") .. "\0" .. column
      if not known[key] then
        local own, why
        if named then own, why = expressions.read(named) end
        if not named then why = "no column names it (__name__, Series or Metric)" end
        known[key] = fresh(path, ("%s:%d"):format(path, row.line), own, why, labels)
        out[#out + 1] = known[key]
      end
      if not known[key].unread then add_value(path, known[key], row, column, at) end
    end
  end
  return is_local
end

--- Adds the series of a file to `out`, and notes to `notes`.
function grafana.add(out, path, text, notes)
  text = without_mark(text)
  local rows, header = native.csv_read(path, false, nil, text)
  local seen, time = {}, nil
  for _, column in ipairs(header) do
    if seen[column] then fail("%s:1: column '%s' occurs twice", path, column) end
    seen[column] = true
    if time_names[column:lower()] then time = time or column end
  end
  if not time then fail("%s:1: has no column of times (Time, timestamp)", path) end
  if #rows == 0 then fail("%s: no data: it has no rows", path) end
  local values = value_columns(header)
  local is_local
  if values then
    is_local = read_long(out, path, rows, header, time, values)
  else
    is_local = read_wide(out, path, rows, header, time)
  end
  if is_local then notes[#notes + 1] = path .. ": its times have no zone, and are taken as UTC" end
  if not text:find "\n%s*$" then
    notes[#notes + 1] = path .. ": its last line has no end: the file may be cut off"
  end
end

return grafana
