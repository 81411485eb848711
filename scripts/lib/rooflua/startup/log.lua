-- A start-up log as what it says: facts by rank, options, warnings, the error that ended it, and which lines were
-- understood.
local core = require "rooflua.base.core"
local facts = require "rooflua.startup.facts"
local json = require "rooflua.json"
local lines = require "rooflua.startup.lines"
local python = require "rooflua.startup.python"
local rows = require "rooflua.startup.rows"
local secrets = require "rooflua.text.secrets"

local log = {}

local most_lines, most_kept, most_for_engine = 400000, 2000, 2000

--- Every line of a text with its number.
local function each_line(text, visit)
  local at, number = 1, 0
  while at <= #text and number < most_lines do
    local stop = text:find("\n", at, true) or #text + 1
    number = number + 1
    if visit(text:sub(at, stop - 1), number) == false then return number end
    at = stop + 1
  end
  return number, at <= #text
end

--- The engine whose own lines a text has, and a second one whose lines stand there as well; nil where it has none. Of a
--- long text the beginning says it.
function log.engine_of(text)
  local found, other
  local engines = rows.engines()
  each_line(text, function(raw, number)
    if found and number > most_for_engine then return false end
    local message = lines.of(raw)
    for _, engine in ipairs(engines) do
      local row = message ~= "" and engine ~= found and rows.find(engine, message)
      if row and row.names then
        if found then
          other = engine
          return false
        end
        found = engine
      end
    end
  end)
  if found then return found, other end
  local counts, best = {}, nil
  each_line(text, function(raw)
    local message = lines.of(raw)
    for i, engine in ipairs(engines) do
      local row = message ~= "" and rows.find(engine, message)
      if row and row.facts[1] then counts[i] = (counts[i] or 0) + 1 end
    end
  end)
  for i in ipairs(engines) do
    if (counts[i] or 0) > (best and counts[best] or 0) then best = i end
  end
  return best and engines[best] or nil
end

local function fresh(engine, file)
  return { form = "log", means = "start-up log of " .. engine.title, engine = engine, file = file, facts = {},
    named = {}, is_named = {}, warnings = {}, told = {}, read = {}, unread = {}, count = 0, understood = 0,
    not_understood = 0, empty = 0, later = 0, begins = 1, begun = {} }
end

--- Begins a start; one of the same place that stands before it in the file is forgotten. Several places (pods,
--- services) start side by side.
local function begin(state, row, place)
  local is_again = state.begun_by ~= nil and (state.begun[place] or place == "")
  state.begun_by, state.begun[place] = row, true
  if not is_again then return end
  state.begins = state.begins + 1
  state.facts, state.named, state.is_named, state.warnings, state.resolved = {}, {}, {}, {}, nil
  state.error, state.ready, state.problem, state.version = nil, nil, nil, nil
end

local function put_fact(state, row, name, value, rank, number)
  local by_rank = state.facts[name] or {}
  state.facts[name] = by_rank
  local before = by_rank[rank]
  if before and row.take == "first" then return end
  if before and row.take == "sum" then value = before.value + value end
  by_rank[rank] = { value = value, line = number }
end

--- The value of an option as a word of a flag.
local function word_of(value)
  if value == json.null then return "null" end
  if type(value) == "table" then return json.encode(value) end
  return type(value) == "number" and json.encode(value) or tostring(value)
end

--- What an options' line states. Values of secrets are not kept.
local function put_option(state, name, value, number)
  if value == json.null then return end
  if secrets.is_named(name) then value = secrets.mask end
  local text = word_of(value)
  if state.is_named[name] then return end
  state.is_named[name] = true
  state.named[#state.named + 1] = { name, text, line = number }
end

local readers = {}

function readers.options(state, _, text, number)
  local ok, value = pcall(python.value, text)
  if not ok or type(value) ~= "table" then
    state.problem = ("line %d: the options are not read: %s"):format(number,
      ok and "no {...}" or tostring(value):gsub("^[^%s:]+:%d+: ", ""))
    return
  end
  for name, each in core.sorted_pairs(value) do put_option(state, name, each, number) end
end

function readers.all(state, _, text, number)
  local list, problem = python.fields(text)
  for _, each in ipairs(list) do put_option(state, each[1], each[2], number) end
  state.is_whole = true
  if problem then
    state.problem = ("line %d: of the options %d are read: %s"):format(number, #list, problem)
  end
end

--- The last part of "torch.bfloat16".
local function plain(value) return type(value) == "string" and value:gsub("^torch%.", "") or value end

function readers.resolved(state, row, text, number)
  local list, problem = python.fields(text)
  for _, each in ipairs(list) do
    local name = row.resolved[each[1]]
    if name and each[2] ~= json.null and each[2] ~= "auto" then
      state.resolved = state.resolved or {}
      state.resolved[name] = { plain(each[2]), line = number }
    end
  end
  if problem and #list == 0 then
    state.problem = ("line %d: the configuration is not read: %s"):format(number, problem)
  end
end

--- Values by fact of a row's captures.
local function values_of(state, row, captures, number)
  local out = {}
  for i, name in ipairs(row.facts) do
    local value = name and captures[i] and facts.value(name, captures[i])
    if value ~= nil and value ~= false then
      out[name] = row.adds == name and out[name] and out[name] + value or value
    elseif name and captures[i] then
      state.told[#state.told + 1] = ("line %d: %s: no value that can be"):format(number, facts.by_name[name].what)
    end
  end
  return out
end

--- What a row takes from its captures.
local function apply(state, row, captures, rank, number)
  for name, value in core.sorted_pairs(values_of(state, row, captures, number)) do
    put_fact(state, row, name, value, rank, number)
  end
  if row.reads then readers[row.reads](state, row, captures[#captures], number) end
  if row.reads_next then state.awaits = row end
  if row.warns then state.warnings[row.warns] = state.warnings[row.warns] or number end
  if row.fails and not state.error then state.error = { kind = row.fails, line = number } end
end

--- An error that no row names: "ValueError: ...".
local function unnamed_error(message)
  local name, text = message:match "^([%w_.]+Error): (.+)$"
  if not name then name, text = message:match "^([%w_.]*Exception): (.+)$" end
  return name and name .. ": " .. text or nil
end

local function keep(list, count, entry)
  if count <= most_kept then list[#list + 1] = entry end
end

local function read_line(state, raw, number)
  state.count = number
  if #raw > lines.most_bytes then
    state.not_understood = state.not_understood + 1
    state.told[#state.told + 1] = ("line %d is longer than %d bytes and is not read"):format(number, lines.most_bytes)
    return
  end
  if state.ready and raw ~= "" and not rows.may_end(state.engine, raw) then
    state.later = state.later + 1
    return
  end
  local message, rank, place = lines.of(raw)
  if message == "" then
    state.empty = state.empty + 1
    return
  end
  if state.awaits then
    local row = state.awaits
    state.awaits = nil
    readers[row.reads_next](state, row, message, number)
    state.understood = state.understood + 1
    return
  end
  local row, captures, is_foreign = rows.find(state.engine, message, state.version)
  if row and row.starts and (not state.begun_by or state.begun_by == row or state.ready) then
    begin(state, row, place or "")
  end
  if state.ready and not (row and (row.starts or row.fails)) then
    state.later = state.later + 1
    return
  end
  if not row then
    local problem = unnamed_error(message)
    if problem and not state.error then
      state.error = { kind = "other", line = number, text = secrets.masked(problem, 400), later = state.ready }
    end
    state.not_understood = state.not_understood + 1
    keep(state.unread, state.not_understood, { line = number, text = secrets.masked(message, 200) })
    return
  end
  state.understood = state.understood + 1
  apply(state, row, captures, rank, number)
  if row.fails and state.error and state.error.line == number then
    state.error.text, state.error.later = secrets.masked(message, 400), state.ready
  end
  if row.ready then state.ready = number end
  local known = state.facts.release
  if known and not state.version then
    for _, each in pairs(known) do state.version = state.parse(each.value) end
  end
  keep(state.read, state.understood, { line = number, means = row.means, text = secrets.masked(message, 200),
    foreign = is_foreign or nil })
end

--- What a log says: {form, engine, file, facts = {name = {rank = {value, line}}}, named, resolved, warnings, error,
--- ready, told, read, unread, count, understood, not_understood, empty, later}.
---@param parse fun(text: string): string? the release of a text, as rules know it
function log.read(file, text, engine, parse)
  local state = fresh(engine, file)
  state.parse = parse
  local _, is_longer = each_line(text, function(raw, number) read_line(state, raw, number) end)
  if is_longer then
    state.told[#state.told + 1] = ("lines behind the %dth are not read"):format(most_lines)
  end
  if state.begins > 1 then
    state.told[#state.told + 1] = ("%d starts stand one behind the other; the last one counts"):format(state.begins)
  end
  if state.problem then state.told[#state.told + 1] = state.problem end
  return state
end

return log
