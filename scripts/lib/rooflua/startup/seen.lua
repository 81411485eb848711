-- What several files say of one deployment. A log holds before what a server says later of itself; two files that say
-- different things are named both.
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local facts = require "rooflua.startup.facts"
local native = require "rooflua.native"
local reading = require "rooflua.startup.reading"

local seen = {}

local order = { log = 1, server_info = 2, models = 3, metrics = 4, startup_plan = 5, version = 6, manifest = 7 }

local function text_of(value) return type(value) == "number" and native.number_text(value) or tostring(value) end

local function by_rank(ranks)
  local names = core.sorted_keys(ranks)
  local first = names[1]
  local value, from, differs = ranks[first].value, ranks[first], false
  for i = 2, #names do
    local other = ranks[names[i]]
    differs = differs or other.value ~= value
  end
  return value, from, differs, names
end

--- One fact of a record: {value, line, ranks, differs, file}.
local function fact_of(record, name)
  local ranks = record.facts[name]
  local _, from, differs, names = by_rank(ranks)
  local out = { value = from.value, line = from.line, ranks = #names, differs = differs, file = record.file,
    form = record.form }
  for _, rank in ipairs(names) do
    local value = facts.joined(name, out.value, ranks[rank].value)
    if value ~= out.value then out.value, out.line = value, ranks[rank].line end
  end
  return out
end

--- Whether two values are the same at the precision that files print.
local function is_same(one, other)
  if type(one) == "number" and type(other) == "number" then
    return math.abs(one - other) <= 0.02 * math.max(math.abs(one), math.abs(other))
  end
  return tostring(one):lower() == tostring(other):lower()
end

local function place(fact) return fact.line and ("%s:%d"):format(fact.file, fact.line) or fact.file end

local function tell_conflict(told, what, holds, other)
  told[#told + 1] = ("%s: %s says %s, %s says %s; the first holds"):format(what, place(holds), text_of(holds.value),
    place(other), text_of(other.value))
end

local function join_facts(out, record)
  for name in core.sorted_pairs(record.facts) do
    local fact, before = fact_of(record, name), out.facts[name]
    if fact.differs then
      local of = facts.by_name[name].of
      out.told[#out.told + 1] = ("%s: %d ranks differ; %s"):format(facts.by_name[name].what, fact.ranks,
        of == "same" and "the first counts" or ("the %s counts, %s"):format(of, text_of(fact.value)))
    end
    if not before then
      out.facts[name] = fact
    elseif record.form == "log" and facts.by_name[name].of ~= "same" then
      local value, differs = facts.joined(name, before.value, fact.value)
      if value ~= before.value then out.facts[name] = fact end
      if differs then
        out.told[#out.told + 1] = ("%s: %s says %s, %s says %s; the %s counts"):format(facts.by_name[name].what,
          place(before), text_of(before.value), place(fact), text_of(fact.value), facts.by_name[name].of)
      end
    elseif not is_same(before.value, fact.value) then
      tell_conflict(out.told, facts.by_name[name].what, before, fact)
    end
  end
end

local function join_options(out, record)
  for _, each in ipairs(record.named) do
    local name, own = each[1], { value = each[2], line = each.line, file = record.file }
    local before = out.option[name]
    if not before then
      out.option[name] = own
      out.named[#out.named + 1] = each
    elseif not is_same(before.value, own.value) and not is_same(tonumber(before.value), tonumber(own.value)) then
      tell_conflict(out.told, name, before, own)
    end
  end
  for name, each in pairs(record.resolved or {}) do
    out.resolved[name] = out.resolved[name] or { value = each[1], line = each.line, file = record.file }
  end
end

--- Adds what a manifest starts.
local function join_parts(out, record)
  for _, list in ipairs { "parts", "routers", "autoscalers" } do
    for _, each in ipairs(record[list]) do out[list][#out[list] + 1] = each end
  end
  for name, files in pairs(record.config_maps) do out.config_maps[name] = files end
end

--- {engine, facts = {name = {value, line, file, ranks}}, named, option, resolved, warnings, error, told, records}, and
--- of manifests {parts, routers, autoscalers, config_maps}; has_start: a file says what ran.
---@param paths string[]
function seen.of(paths)
  local records = reading.files(paths)
  for i, record in ipairs(records) do record.place = i end
  table.sort(records, function(a, b)
    if order[a.form] ~= order[b.form] then return order[a.form] < order[b.form] end
    return a.place < b.place
  end)
  local out = { facts = {}, named = {}, option = {}, resolved = {}, warnings = {}, told = {}, records = records,
    is_whole = false, parts = {}, routers = {}, autoscalers = {}, config_maps = {} }
  for _, record in ipairs(records) do
    if out.engine and record.form == "version" then record.engine = out.engine end -- a number alone names none
    out.engine = out.engine or record.engine
    out.has_start = out.has_start or record.form ~= "manifest"
    if record.parts then join_parts(out, record) end
    if record.engine and record.engine ~= out.engine then
      core.fail("--from: %s is of %s, and %s of %s: give files of one engine", records[1].file, out.engine.title,
        record.file, record.engine.title)
    end
    join_facts(out, record)
    join_options(out, record)
    out.is_whole = out.is_whole or record.is_whole or false
    out.error = out.error or record.error and core.copy(record.error, { file = record.file }) or nil
    for text, line in core.sorted_pairs(record.warnings) do
      out.warnings[#out.warnings + 1] = { text = text, line = line, file = record.file }
    end
    for _, sentence in ipairs(record.told) do out.told[#out.told + 1] = record.file .. ": " .. sentence end
  end
  if not out.engine then core.fail("--from %s: starts no engine that is known", records[1].file) end
  return out
end

--- The engine and release: {engine, release, note, is_stated} of engines/choice.lua, and a sentence about what is given
--- against it.
---@param given string? "vllm 0.19" of --engine
function seen.chosen(found, given)
  local told, own = nil, found.facts.release
  local stated = given and choice.parse(given) or nil
  if stated and stated.engine ~= found.engine then
    core.fail("--engine %s: %s is of %s", given, found.records[1].file, found.engine.title)
  end
  if own then
    local ok, chosen = pcall(choice.parse, found.engine.name .. " " .. own.value)
    if ok then
      if stated and stated.is_stated and stated.release ~= chosen.release then
        told = ("--engine %s: %s says %s %s, which holds%s"):format(given, place(own), found.engine.name, own.value,
          found.has_start and ": it is what ran" or "")
      end
      return chosen, told
    end
    if not stated then core.fail("%s: %s. Say by whose rules: --engine \"%s %s\"", place(own), tostring(chosen),
      found.engine.name, choice.newest(found.engine.name).release) end
  end
  if stated then return stated end
  return choice.parse(found.engine.name), ("%s: no line names the release: --engine \"%s RELEASE\" says it"):format(
    found.records[1].file, found.engine.name)
end

seen.place, seen.fact_of = place, fact_of

return seen
