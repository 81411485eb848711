-- Questions to a database of which one or two numbers change, asked together: one leaf call answers all of
-- them, and finds again what it was asked before. What does not change is checked when they are prepared.
-- Answers are structs with a field per question, written in place: a trace reads them as it reads memory.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local border = require "rooflua.border.abi"

local ffi, abi = border.ffi, border.functions
local context = abi.context
local fail, type = core.fail, type
local numbers = ffi.typeof "double *"

local prepared = {}

-- object -> {mfu, latency_s, evidence, names, known: name -> its place, queries, firsts, seconds, database, lookup,
-- evidence_names}
local owned = setmetatable({}, { __mode = "k" })
local methods = {}
local estimate = ffi.new "rooflua_estimate"

local function own_of(object, what)
  local own = owned[object]
  if own == nil then fail("%s: expected prepared questions (db:prepare), found %s", what, core.describe(object)) end
  return own
end

--- Answers one after the other: a user's lookup runs outside of leaf calls, and what a question fails with is
--- raised when its answer is read.
local function ask_each(own, first, second)
  local values, latencies, problems, failed = {}, {}, {}, false
  for i, name in ipairs(own.names) do
    local query = own.queries[i]
    if own.firsts[i] ~= "" then query[own.firsts[i]] = first end
    if own.seconds[i] ~= "" then query[own.seconds[i]] = second end
    local ok, problem = pcall(own.lookup, own.database, query, estimate, "db:lookup")
    if ok then
      values[name], latencies[name], own.evidence[i - 1] = estimate.mfu, estimate.latency_s, estimate.evidence
    else
      problems[name], failed = problem, true
    end
  end
  if failed then
    local meta = { __index = function(_, name) error(problems[name] or "no question of this name", 0) end }
    return setmetatable(values, meta), setmetatable(latencies, meta)
  end
  return values, latencies
end

function methods.ask(object, first, second)
  local own = own_of(object, "prepared:ask")
  if type(first) ~= "number" then core.number(first, "prepared:ask: first") end
  if type(second) ~= "number" then core.number(second, "prepared:ask: second") end
  local values, latencies = own.mfu, own.latency_s
  if abi.prepared(context, object, first, second, ffi.cast(numbers, values), ffi.cast(numbers, latencies),
                  own.evidence) ~= 0 then
    values, latencies = ask_each(own, first, second)
  end
  return values, latencies
end

function methods.evidence(object, name)
  local own = own_of(object, "prepared:evidence")
  local place = own.known[name]
  if not place then fail("prepared:evidence: %s", core.unknown_name("question", name, own.names)) end
  return own.evidence_names[own.evidence[place]]
end

local function adopt(object)
  core.define_class(object, "rooflua.Prepared", function(_, key)
    local method = methods[key]
    if method then return method end
    return fail("Prepared: %s", core.unknown_name("field", key, core.sorted_keys(methods)))
  end, function(self) return ("Prepared %s"):format(core.join(owned[self].names, ", ")) end)
  return object
end

--- Numbers by these names, in this order: one type for the same names, because types are never given back.
local types = {}
local function answers_of(names)
  for _, name in ipairs(names) do
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
      fail("db:prepare: expected a name of letters, digits and _, found %s", core.describe(name))
    end
  end
  local fields = core.join(names, ", ")
  types[fields] = types[fields] or ffi.typeof("struct { const double " .. fields .. "; }")
  return types[fields]
end

--- Copies a question; the texts "first" and "second" say where these numbers go.
local function copy(query, name)
  local kept, place = {}, { first = "", second = "" }
  for key, value in pairs(core.table(query, "db:prepare: " .. name)) do
    if place[value] and key ~= "op" then
      if place[value] ~= "" then fail("db:prepare: %s: %s is %s and %s", name, value, place[value], tostring(key)) end
      place[value], value = key, 1
    end
    kept[key] = value
  end
  return kept, place
end

--- @param questions table<string, table> by name
--- @param mfu table the module rooflua.mfu, which requires this one
function prepared.new(database, questions, mfu)
  local names = core.sorted_keys(core.table(questions, "db:prepare"))
  if #names == 0 then fail "db:prepare: expected questions by name, found none" end
  local new, records = answers_of(names), ffi.new("rooflua_query[?]", #names)
  local own = {
    mfu = new(), latency_s = new(), evidence = ffi.new("double[?]", #names), database = database, names = names,
    known = {}, queries = {}, firsts = {}, seconds = {}, lookup = mfu.ask.lookup, evidence_names = mfu.evidence_names,
  }
  for i, name in ipairs(names) do
    local query, place = copy(questions[name], name)
    mfu.fill(query, records[i - 1], "db:prepare: " .. name)
    own.queries[i], own.firsts[i], own.seconds[i], own.known[name] = query, place.first, place.second, i - 1
  end
  local object = native.prepare(database, records, own.firsts, own.seconds)
  owned[object] = own
  return adopt(object)
end

return prepared
