-- Which rules of two releases differ in a deployment, and the engine of one release with some rules of the other.
local application = require "rooflua.applied.application"
local catalogue = require "rooflua.engines.catalogue"
local conditions = require "rooflua.engines.conditions"
local core = require "rooflua.base.core"
local implications = require "rooflua.engines.implications"
local release = require "rooflua.engines.release"
local Reader = require "rooflua.scenario.reader"
local spec = require "rooflua.spec"
local values = require "rooflua.engines.values"

local rules = {}

--- What decides the values of an engine in a deployment: {engine, release, resolved, options, row = {name = row}}.
local function decided(chosen, facts, stated)
  local out = { engine = chosen.engine, release = chosen.release, options = chosen.options, row = {},
    resolved = values.of(chosen.engine, chosen.release, facts, stated), stated = stated }
  for _, row in ipairs(chosen.engine.rules) do
    if conditions.hold(row, chosen.release, facts, stated) then
      for name in pairs(row) do
        if not conditions.has(name) then out.row[name] = row end
      end
    end
  end
  for _, row in ipairs(chosen.engine.implies or {}) do
    if conditions.hold(row, chosen.release, facts, stated) then
      for name in pairs(row) do
        if implications.is_value(name) and chosen.options[name] ~= nil then out.row[name] = row end
      end
    end
  end
  return out
end

--- The same of a scenario.
function rules.of_scenario(given, file)
  local chosen, facts, stated = application.implied(Reader.new(file), given)
  return decided(chosen, facts, stated)
end

--- The same of an engine and what is known of a deployment, as engines.of takes it.
function rules.of_facts(chosen, about)
  local facts = values.facts(about)
  if facts.model ~= nil then facts.model = spec.model(facts.model) end
  if facts.hardware ~= nil then facts.hardware = spec.hardware(facts.hardware) end
  return decided(core.copy(chosen, { options = {} }), facts, {})
end

local function is_same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for _, pair in ipairs { { a, b }, { b, a } } do
    for key, value in pairs(pair[1]) do
      if not is_same(value, pair[2][key]) then return false end
    end
  end
  return true
end

--- A value as documents have it: tables in full, nothing that is code.
local function plain(value)
  if type(value) == "function" then return nil end
  if type(value) ~= "table" then return value end
  local out = {}
  for key, each in pairs(value) do out[key] = plain(each) end
  return out
end

--- Whether the row of a name is another one, with another value. A value that follows from others may be the same on
--- both sides and be another one as soon as one of the others is.
local function differs(before, after, name)
  local a, b = before.row[name], after.row[name]
  return not rawequal(a, b) and not is_same(a and a[name], b and b[name])
end

--- What people call a name of a row, what it is, and its unit.
local function about(engine, name)
  local option, setting = engine.option[name], catalogue.setting(name)
  return option and (option.flag or option.name) or name, setting and setting.doc or option and option.doc,
    setting and setting.unit
end

--- Rules that decide another value on the side after, by name: {name, called, before, after, source, source_before,
--- doc, unit}. What a side states itself is none of its rules.
function rules.changed(before, after)
  local names, out = {}, {}
  for _, side in ipairs { before, after } do
    for name in pairs(side.row) do names[name] = true end
  end
  for _, name in ipairs(core.sorted_keys(names)) do
    if differs(before, after, name) then
      local called, doc, unit = about(after.engine.option[name] and after.engine or before.engine, name)
      local a, b = before.row[name], after.row[name]
      out[#out + 1] = { name = name, called = called, doc = doc, unit = unit,
        before = plain(before.resolved.values[name]), after = plain(after.resolved.values[name]),
        source = b and b.source or a.source, source_before = a and a.source or nil }
    end
  end
  return out
end

--- How many rows begin or end to hold between two releases of one engine, whatever the deployment; nil of two engines.
function rules.between(before, after)
  if before.engine ~= after.engine then return nil end
  local count = 0
  for _, list in ipairs { before.engine.rules, before.engine.implies or {} } do
    for _, row in ipairs(list) do
      if release.holds(row, before.release) ~= release.holds(row, after.release) then count = count + 1 end
    end
  end
  return count
end

--- Rows that hold at the release of a side, without bounds of releases: those values that `is_wanted` names.
local function rows_of(out, list, side, is_wanted)
  for _, row in ipairs(list) do
    if release.holds(row, side.release) then
      local own, has_value = {}, false
      for name, value in pairs(row) do
        local is_value = not conditions.has(name) and name ~= "fills"
        if name ~= "since" and name ~= "before" and (not is_value or is_wanted(name)) then
          own[name], has_value = value, has_value or is_value
        end
      end
      if has_value then out[#out + 1] = own end
    end
  end
  return out
end

--- The engine of a side, in which rules of these names are those of another side.
---@param names string[]
function rules.exchanged(side, other, names)
  local is_other = core.set(names)
  local function is_own(name) return not is_other[name] end
  local function is_wanted(name)
    return is_other[name] == true and (side.engine.option[name] ~= nil or catalogue.setting(name) ~= nil)
  end
  local function both(key)
    local out = rows_of({}, side.engine[key] or {}, side, is_own)
    return rows_of(out, other.engine[key] or {}, other, is_wanted)
  end
  return core.copy(side.engine, { rules = both "rules", implies = both "implies" })
end

return rules
