-- The variants of a scenario: what `vary` and `sweep` change in it, and the name of each change.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local variants = {}

--- Whether a value of `vary` leaves an optional part of a scenario out: false, or "none" of a group of keys.
function variants.is_none(path, value)
  local entry = schema.entry(path)
  if not entry or entry.group or entry.type == "boolean" then return false end
  return value == false or value == "none" and entry.type == "table" and entry.fields ~= nil
end

local function value_name(value)
  if policy.is_instance(value) then return value.name end
  if type(value) == "number" then return native.number_text(value) end
  if type(value) == "table" then return type(value.name) == "string" and value.name or "table" end
  return native.printable(tostring(value))
end

--- `variant` with one more value at `path`. A value may be {label =, value =}, or
--- {label =, set = {path = value, ...}}: then `path` is only a name.
---@param text string? the value in the variant's name
function variants.with(variant, path, value, text)
  local case
  if variants.is_none(path, value) then value = { label = "none" } end
  text = text or value_name(value)
  if type(value) == "table" and not policy.is_instance(value) and value.label ~= nil then
    local label = value.label
    if type(label) ~= "number" then core.plain_text(label, "vary." .. tostring(path) .. ": label") end
    text, case, value = tostring(label), value.set, value.value
    if variants.is_none(path, value) then value = nil end
  end
  local parameters, changes = core.copy(variant.parameters), core.copy(variant.changes)
  local plain = type(value) == "number" or type(value) == "boolean"
  parameters[path] = plain and value or text
  if case then
    for _, key in ipairs(core.sorted_keys(core.plain(case))) do
      changes[#changes + 1] = { path = key, value = core.plain(case)[key] }
    end
  else
    changes[#changes + 1] = { path = path, value = value }
  end
  local part = tostring(path):match "[^.]+$" .. "=" .. text
  return { name = variant.name == "" and part or variant.name .. ", " .. part,
    parameters = parameters, changes = changes }
end

--- The scenario as it is: nothing changed, no name.
function variants.base() return { name = "", parameters = {}, changes = {} } end

local most_variants = 100000

--- Two values of one name would make two variants of one name.
local function check_names(reader, path, values)
  local seen = {}
  for i, value in ipairs(values) do
    if type(value) == "table" and not policy.is_instance(value) and value.label ~= nil then
      local where = ("vary.%s[%d]"):format(tostring(path), i)
      reader:at("vary", core.check_keys, core.plain(value), { "label", "value", "set" }, where)
      if value.value ~= nil and value.set ~= nil then
        reader:fail("vary", "%s: has a value and a set; expected one of them", where)
      end
    end
    local name = variants.with(variants.base(), path, value).name
    if seen[name] then
      reader:fail("vary." .. tostring(path), "values %d and %d are both called '%s'; give one of them a label, as in "
        .. "{ label = \"other\", value = ... }", seen[name], i, name)
    end
    seen[name] = i
  end
end

--- One per combination of `vary`, keys sorted, the last key fastest.
function variants.grid(reader, given)
  local list = { variants.base() }
  if given == nil then return list end
  if type(given) ~= "table" then reader:fail("vary", "expected a table, found %s", core.describe(given)) end
  if #core.plain(given) > 0 then
    reader:fail("vary", "expected lists by key path, as in { [\"deployment.tp\"] = { 1, 2 } }; found a list")
  end
  for _, path in ipairs(core.sorted_keys(core.plain(given))) do
    local values = core.plain(given)[path]
    if type(values) ~= "table" or #core.plain(values) == 0 then
      reader:fail("vary." .. tostring(path), "expected a list of values")
    end
    check_names(reader, path, core.plain(values))
    if #list * #core.plain(values) > most_variants then
      reader:fail("vary", "makes more than %d variants", most_variants)
    end
    local more = {}
    for _, variant in ipairs(list) do
      for _, value in ipairs(core.plain(values)) do
        more[#more + 1] = variants.with(variant, path, value)
      end
    end
    list = more
  end
  return list
end

--- What `a` changes, then what `b` changes.
local function join(a, b)
  local out = { name = a.name == "" and b.name or b.name == "" and a.name or a.name .. ", " .. b.name,
    parameters = core.copy(a.parameters), changes = core.copy(a.changes) }
  for path, value in pairs(b.parameters) do out.parameters[path] = value end
  for _, change in ipairs(b.changes) do out.changes[#out.changes + 1] = change end
  return out
end

--- Each of the points of a sweep with each variant of a grid.
function variants.product(reader, points, grid)
  local list = {}
  if #points * #grid > most_variants then
    reader:fail("sweep", "with vary, makes more than %d variants", most_variants)
  end
  for _, point in ipairs(points) do
    for _, each in ipairs(grid) do list[#list + 1] = join(point, each) end
  end
  return list
end

return variants
