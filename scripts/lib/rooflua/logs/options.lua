-- The options of an engine as its log prints them: those that the deployment names, and its whole configuration.
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local python = require "rooflua.logs.python"
local release = require "rooflua.engines.release"
local template = require "rooflua.logs.template"

local options = {}

--- A value of an option as Python holds it: of a number with a fraction a float.
local function held(option, value)
  return option.type == "number" and type(value) == "number" and python.as_float(value) or value
end

--- Drafts and adapters stand elsewhere in a scenario; in a log they are options.
local function with_parts(engine, facts, stated, given)
  local out, row = core.copy(stated), engine.speculation and engine.speculation[facts.drafter or ""]
  if facts.drafts and row then
    for name, value in pairs(row.options(facts.drafts)) do
      local option = engine.option[name]
      if option and not option.variable and out[name] == nil then out[name] = value end
    end
  end
  local adapters = given.adapters ~= nil and core.plain(given.adapters) or nil
  for _, option in ipairs(adapters and engine.options or {}) do
    if option.adapters and type(adapters[option.name]) == "number" then out[option.name] = adapters[option.name] end
  end
  if adapters and engine.option.enable_lora then out.enable_lora = true end
  return out
end

--- {name, value} of options that the deployment names and whose values are no defaults, in the engine's order.
--- @param listed table {of_server = names in front of the model's, order = "name name ...", defaults = {name = value}}
local function named(engine, stated, listed, all)
  local whole, out, place = {}, {}, {}
  for name, value in core.sorted_pairs(stated) do
    local option = engine.option[name]
    if not option.variable and value ~= listed.defaults[name] and value ~= all["default_" .. name] then
      local first, rest = name:match "^([^.]+)%.?(.*)$"
      if rest == "" then
        whole[first] = held(option, value)
      else
        if type(whole[first]) ~= "table" then whole[first] = {} end
        whole[first][rest] = held(option, value)
      end
    end
  end
  local count = 0
  for name in listed.order:gmatch "%S+" do
    count = count + 1
    place[name] = count
  end
  for name, value in core.sorted_pairs(whole) do out[#out + 1] = { name, value } end
  table.sort(out, function(a, b)
    local x, y = place[a[1]] or math.huge, place[b[1]] or math.huge
    if x ~= y then return x < y end
    return a[1] < b[1]
  end)
  return out
end

--- Rows {name, text} as "name=text", those with a dot in their names in a class: kv_cache_config=KvCacheConfig(a=1).
local function joined(fields, between)
  local out, members, place = {}, {}, {}
  for _, field in ipairs(fields) do
    local first, rest = field[1]:match "^([^.]+)%.?(.*)$"
    if rest == "" then
      out[#out + 1] = first .. "=" .. field[2]
    else
      if not members[first] then
        members[first] = {}
        out[#out + 1] = ""
        place[first] = #out
      end
      table.insert(members[first], rest .. "=" .. field[2])
    end
  end
  for first, list in pairs(members) do
    out[place[first]] = ("%s=%s(%s)"):format(first, python.class(first), table.concat(list, ", "))
  end
  return table.concat(out, between)
end

--- A value in a configuration, with or without quotes around texts.
local function shown(listed, option, value)
  return listed.bare and type(value) == "string" and value or python.repr(held(option, value))
end

--- The configuration: rows {name, text, since, before, when} of the release, and named options that no row has. A row
--- without figures is what holds where the option is not named.
--- @param listed table {between, bare, adds, rows}
local function configuration(engine, version, listed, stated, all)
  local fields, has = {}, {}
  for _, row in ipairs(listed.rows) do
    if release.holds(row, version) and template.holds(row.when, all) then
      local own = not row[2]:find("{", 1, true) and stated[row[1]]
      fields[#fields + 1] = { row[1], own ~= nil and own ~= false and shown(listed, engine.option[row[1]], own)
        or template.fill(row[2], all) }
    end
    has[row[1]] = true
  end
  for name, value in core.sorted_pairs(listed.adds and stated or {}) do
    local option = engine.option[name]
    if not has[name] and not option.variable and not option.file and release.holds(option, version) then
      fields[#fields + 1] = { name, shown(listed, option, value) }
    end
  end
  return joined(fields, listed.between)
end

--- Adds the texts of options to the figures: args, namespace and config.
--- @param stated table of figures.stated
function options.add(all, found, given, stated)
  local facts = found.facts
  local engine, words = facts.engine, catalogue.said(facts.engine, "log")
  local whole = with_parts(engine, facts.resolved.facts, stated, given)
  if words.named then
    local pairs_of, has_model = { { "model_tag", all.model } }, false
    for _, each in ipairs(named(engine, whole, words.named, all)) do
      if not has_model and not core.is_among(each[1], words.named.of_server) then
        pairs_of[#pairs_of + 1], has_model = { "model", all.model }, true
      end
      pairs_of[#pairs_of + 1] = each
    end
    if not has_model then pairs_of[#pairs_of + 1] = { "model", all.model } end
    all.args, all.namespace = python.dict(pairs_of), python.arguments(pairs_of)
  end
  all.config = configuration(engine, facts.release, words.config, whole, all)
end

return options
