-- What a page may change of a scenario: every key and every declared parameter of the policies in force, with value,
-- unit, bounds, choices and help, as their declarations have them.
--
--     {path, kind, value, default, unit, least, most, whole, values, doc, stated, first, varied}
--
-- kind    number, choice (`values` are all there are), names (`values` are those that are known), boolean, policy (of
--         `values`, or a text that names another), data (a table, as JSON)
-- stated  whether the scenario says it, or what was set; first: whether it is shown without being searched for
local native = require "rooflua.native"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local json = require "rooflua.json"
local named_policies = require "rooflua.sandbox.named_policies"
local opening = require "rooflua.runs.opening"
local paths = require "rooflua.scenario.paths"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local knobs = {}

local names_of = {
  models = function() return native.list_models() end,
  hardware = function() return native.list_hardware() end,
  engines = function()
    local out = {}
    for _, name in ipairs(catalogue.names()) do
      for _, each in ipairs(catalogue.of(name).releases) do out[#out + 1] = name .. " " .. each.name end
    end
    return out
  end,
}

--- A value as a page gets it; nil where it is none that could be written down.
local function plain_value(value)
  if policy.is_instance(value) then return value.name end
  if policy.is_class(value) then return policy.describe(value).name end
  if type(value) == "number" or type(value) == "string" or type(value) == "boolean" then return value end
  if type(value) ~= "table" then return nil end
  local ok, text = pcall(json.encode, core.plain(value))
  return ok and text or nil
end

--- Whether the scenario states what stands at a path.
local function is_stated(given, path)
  local value = given
  local parts = paths.split(path)
  for i, part in ipairs(parts) do
    if policy.is_instance(value) then
      if i == #parts then return policy.is_given(value, part) == true end
      value = policy.parameters(value)[part]
    elseif type(value) == "table" then
      value = paths.value(value, part)
    else
      return false
    end
    if value == nil then return false end
  end
  return true
end

local plain_kinds = { continuous = "number", integer = "number", unset = "number", choice = "choice",
  boolean = "boolean", string = "data", table = "data", policy = "policy" }

--- A parameter that policies, figures or engines declare.
local function of_parameter(each)
  local about, kind = each.about, plain_kinds[each.kind] or "data"
  local out = { path = each.path, kind = kind, value = plain_value(each.value), unit = about.unit, least = about.min,
    most = about.max, whole = about.integer or about.type == "integer" or nil, doc = about.doc,
    default = plain_value(about.default) }
  if about.values then out.kind, out.values = "choice", json.array(core.copy(about.values)) end
  if about.policy then out.kind, out.values = "policy", json.array(named_policies.names(about.policy)) end
  if about.type == "boolean" then out.kind = "boolean" end
  return out
end

local of_type = { choice = "choice", boolean = "boolean", integer = "number", number = "number", policy = "policy" }

--- A key that no policy declares.
local function of_entry(entry, given)
  local out = { path = entry.path, kind = of_type[entry.type] or "data", value = plain_value(paths.value(given,
    entry.path)), default = plain_value(entry.default), unit = entry.unit, doc = entry.doc,
    whole = entry.type == "integer" or nil, first = entry.first }
  if entry.values then out.values = json.array(core.copy(entry.values)) end
  if entry.names then out.kind, out.values = "names", json.array(names_of[entry.names]()) end
  if entry.folder and entry.type:find "policy" then
    out.kind, out.values = "policy", json.array(named_policies.names(entry.folder))
  end
  return out
end

--- Whether a key can be set to a value that is written down.
local function is_settable(entry, kind)
  return entry.reported ~= false and entry.type ~= "function" and entry.kinds and entry.kinds[kind]
    and not entry.path:find "[%[*]" and not (entry.fields and entry.type == "table")
end

--- Keys that variants replace.
local function varied(opened)
  local out = {}
  for _, variant in ipairs(opened.all) do
    for _, change in ipairs(variant.changes) do out[change.path] = true end
  end
  return out
end

--- The knobs of an opened scenario: what it states first, in the order of the keys.
function knobs.of(opened)
  local given, seen, list = opening.variant(opened, 1), {}, {}
  local function add(knob, entry)
    if seen[knob.path] then return end
    seen[knob.path] = true
    knob.first = knob.first or entry and entry.first
    knob.stated = is_stated(opened.given, knob.path)
    list[#list + 1] = knob
  end
  for _, each in ipairs(declared.all(opened.reader, given)) do add(of_parameter(each), schema.entry(each.path)) end
  for _, entry in ipairs(schema.all()) do
    if is_settable(entry, opened.kind) then add(of_entry(entry, given)) end
  end
  local place, replaced = {}, varied(opened)
  for i, key in ipairs(schema.keys) do place[key] = i end
  for i, knob in ipairs(list) do
    knob.varied = replaced[knob.path]
    knob.order = 1e4 * (place[knob.path:match "^[^.]+"] or 99) + i
  end
  table.sort(list, function(a, b) return a.order < b.order end)
  for _, knob in ipairs(list) do knob.order = nil end
  return json.array(list)
end

return knobs
