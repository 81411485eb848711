-- Policies: a policy is one heuristic, and its parameters are declared as data. The declaration checks the scenario,
-- fills in defaults and prints the help.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local values = require "rooflua.policy.values"

local policy = {}
local fail, type = core.fail, type

local class_meta -- of classes
local classes = setmetatable({}, { __mode = "k" })   -- class -> its definition
local records = setmetatable({},
  { __mode = "k" })   -- instance -> {class, parameters, where, preset}

local definition_keys = { "name", "doc", "source", "params", "presets", "returns", "every_step", "signals",
  "staleness_s", "load_signals", "refuses", "unit", "better", "depth", "scope", "lookahead", "reserve",
  "drops_last_hit", "prefix_index", "monotone", "ceiling", "seeks", "figure", "native", "outputs", "counts", "promote",
  "write_back", "as_filled", "last_chunk", "shares_loads", "flush", "overlap", "prefetch", "common_queue",
  "content_from", "changes_work", "extends" }
-- What a class has of the one that it extends, besides its methods and parameters.
local inherited_keys = { "signals", "staleness_s", "load_signals", "refuses", "unit", "better", "depth", "scope",
  "lookahead", "reserve", "drops_last_hit", "prefix_index", "native", "outputs", "counts", "promote", "write_back",
  "as_filled", "last_chunk", "shares_loads", "flush", "overlap", "prefetch", "common_queue", "content_from",
  "changes_work" }
local parameter_keys = { "default", "unit", "doc", "source", "values", "min", "max", "exclusive_min", "exclusive_max",
  "integer", "infinite", "policy", "type", "optional", "idle" }

-- Values ------------------------------------------------------------------------------------------

local find_instance, unknown_name -- of policies by their names

--- Says how a policy is found by its name: the library does, once (sandbox/named_policies.lua).
function policy.find_by_name(find, unknown) find_instance, unknown_name = find, unknown end

--- A parameter that is a policy: an instance, a class, the name of one, or one of the declared names, which the owner
--- itself gives parameters to.
local function check_policy(where, declared, value)
  if policy.is_instance(value) then return value end
  if policy.is_class(value) then return value {} end
  if type(value) ~= "string" then
    fail("%s: expected a policy or its name, found %s", where, core.describe(value))
  end
  if core.is_among(value, declared.values or {}) then return value end
  return find_instance(declared.policy, value)
    or fail("%s: %s", where, unknown_name(declared.policy, value, "value", declared.values))
end

local function check_value(where, declared, value)
  if declared.policy then return check_policy(where, declared, value) end
  return values.check(where, declared, value)
end

local most_nested = 100 -- tables inside each other

local function copy(value, depth)
  if type(value) ~= "table" or policy.is_instance(value) then return value end
  depth = (depth or 0) + 1
  if depth > most_nested then fail("a parameter has tables nested deeper than %d", most_nested) end
  local out = {}
  for key, each in pairs(core.plain(value)) do out[key] = copy(each, depth) end
  return setmetatable(out, getmetatable(value) or nil)
end

-- Instances ---------------------------------------------------------------------------------------

--- The metatable of the instances of a class: a twin of a class has one of its own.
local function instances_meta(class) return debug.getmetatable(class).instances or classes[class].instance_meta end

--- @param said table<string, any> the parameters that were given: true by the user, "preset" by the preset alone
local function make(class, parameters, where, preset, said)
  local instance = {}
  for name, value in pairs(parameters) do instance[name] = copy(value) end
  records[instance] = { class = class, parameters = parameters, where = where, preset = preset, said = said }
  return setmetatable(instance, instances_meta(class))
end

--- An instance from a preset (or nil) and overrides. Raises at the user's line.
local function construct(class, overrides, preset, said)
  local definition = classes[class]
  local name = definition.name
  if overrides ~= nil and (type(overrides) ~= "table" or policy.is_instance(overrides)) then
    fail("%s: expected a table of parameters, found %s", name, core.describe(overrides))
  end
  local parameters = {}
  for key, declared in pairs(definition.params) do parameters[key] = declared.default end
  if preset ~= nil then
    local chosen = definition.presets[preset]
    if not chosen then
      fail("%s: %s", name, core.unknown_name("preset", preset,
        core.sorted_keys(definition.presets)))
    end
    for key, value in pairs(chosen) do parameters[key] = value end
  end
  if not said then
    said = {}
    for key in pairs(preset and definition.presets[preset] or {}) do said[key] = "preset" end
    for key in pairs(core.plain(overrides or {})) do said[key] = true end
  end
  local unknown = {}
  for _, key in ipairs(core.sorted_keys(core.plain(overrides or {}))) do
    if not definition.params[key] then unknown[#unknown + 1] = tostring(key) end
  end
  if #unknown > 0 then
    fail("%s: %s", name, core.unknown_names("parameter", unknown, core.sorted_keys(definition.params)))
  end
  for _, key in ipairs(core.sorted_keys(core.plain(overrides or {}))) do
    local declared = definition.params[key]
    local given = core.plain(overrides)[key]
    parameters[key] = check_value(name .. "." .. tostring(key), declared, given)
  end
  definition.frozen = true
  return make(class, parameters, native.where(), preset, said)
end

--- True if `value` was made by calling a policy class.
function policy.is_instance(value) return type(value) == "table" and records[value] ~= nil end
--- True if `value` is a policy class.
function policy.is_class(value) return type(value) == "table" and classes[value] ~= nil end

local function record_of(instance, what)
  local record = type(instance) == "table" and records[instance]
  if not record then fail("%s: expected a policy, found %s", what, core.describe(instance)) end
  return record
end

--- A new instance with the same parameters: each replica, variant and fork binds one of its own. The methods of its
--- class are fields of the instance, because compiled code finds them there without a lookup through the metatable.
function policy.fresh(instance)
  local record = record_of(instance, "policy.fresh")
  local fresh = make(record.class, record.parameters, record.where, record.preset, record.said)
  for name, method in pairs(record.class) do
    if type(method) == "function" and rawget(fresh, name) == nil then rawset(fresh, name, method) end
  end
  return fresh
end

--- A class with the definition of another, and no field yet: a fork's, of a class that may keep state.
function policy.twin_class(class)
  local out, meta = {}, core.copy(class_meta)
  meta.instances = core.copy(classes[class].instance_meta, { __index = out })
  classes[out] = classes[class]
  return setmetatable(out, meta)
end

--- An instance with the same parameters, and no other field yet: a fork's. `class` is its class, or a twin of that.
function policy.twin(instance, class)
  local record, out = record_of(instance, "policy.twin"), {}
  for name, value in pairs(record.parameters) do out[name] = value end
  records[out] = record
  return setmetatable(out, instances_meta(class))
end

-- instance -> metatable of instances that read its parameters and methods in one table
local shared_meta = setmetatable({}, { __mode = "k" })

local function shared_meta_of(instance, record)
  local meta = shared_meta[instance]
  if meta then return meta end
  local read = core.copy(record.class, record.parameters)
  setmetatable(read, { __index = record.class })
  meta = { __index = read, __metatable = false, __tostring = classes[record.class].instance_meta.__tostring }
  shared_meta[instance] = meta
  return meta
end

--- As policy.fresh, for one of very many replicas: what instances have in common is in one table, which stays in the
--- processor's cache. What a method sets is the instance's own, and so are parameters that are tables.
function policy.fresh_of_many(instance)
  local record = record_of(instance, "policy.fresh_of_many")
  local fresh = {}
  for name, value in pairs(record.parameters) do
    if type(value) == "table" then fresh[name] = copy(value) end
  end
  records[fresh] = record
  return setmetatable(fresh, shared_meta_of(instance, record))
end

--- A new instance of the same class with some parameters changed: what `--set` and `vary` do.
function policy.with(instance, overrides)
  local record = record_of(instance, "policy.with")
  core.table(overrides, "policy.with")
  local merged, said = {}, {}
  for key, value in pairs(record.parameters) do merged[key], said[key] = value, record.said[key] end
  for key, value in pairs(core.plain(overrides)) do merged[key], said[key] = value, true end
  return construct(record.class, merged, nil, said)
end

--- The same as an instance whose class had these defaults: what was given stays given, and nothing else is.
function policy.with_defaults(instance, defaults)
  local record = record_of(instance, "policy.with_defaults")
  return construct(record.class, core.copy(record.parameters, defaults), nil, record.said)
end

--- The same instance, of the class that the same file made when it ran again, with these parameters.
function policy.moved(instance, class, parameters)
  local record = record_of(instance, "policy.moved")
  classes[class].frozen = true
  return make(class, parameters, record.where, record.preset, record.said)
end

--- From now on nothing can be added to a class: files that require it share it.
function policy.freeze(class) classes[class].frozen = true end

--- Whether an instance is of a class of that name, or of one that extends it.
function policy.is_a(instance, name)
  local own = record_of(instance, "policy.is_a").class
  while own and classes[own].name ~= name do own = classes[own].parent end
  return own ~= nil
end

--- Whether a parameter of an instance was given, and is not the default of its class; and whether its preset alone
--- gives it.
function policy.is_given(instance, parameter)
  local said = record_of(instance, "policy.is_given").said[parameter]
  return said ~= nil, said == "preset"
end

--- The class an instance was made of.
function policy.class_of(instance) return record_of(instance, "policy.class_of").class end

--- The parameters of an instance, as given and defaulted.
function policy.parameters(instance)
  local out = {}
  for key, value in pairs(record_of(instance, "policy.parameters").parameters) do
    out[key] = value
  end
  return out
end

--- Whether the class of an instance defines this method itself, and does not inherit it.
function policy.has_own(instance, method)
  local class = record_of(instance, "policy.has_own").class
  local parent = classes[class].parent
  return type(class[method]) == "function" and not (parent and parent[method] == class[method])
end

--- The definition of a class or instance itself, which nobody may change: {name, doc, source, params, presets}.
function policy.definition(value)
  return classes[value] or classes[record_of(value, "policy.definition").class]
end

--- {name, doc, source, params, presets} of a class or instance.
function policy.describe(value)
  local definition = classes[value] or classes[record_of(value, "policy.describe").class]
  return { name = definition.name, doc = definition.doc, source = definition.source,
    params = copy(definition.params),
    presets = copy(definition.presets), signals = copy(value.signals) }
end

--- Where an instance was written: "scenario.lua:12".
function policy.where(instance) return record_of(instance, "policy.where").where end

-- Classes -----------------------------------------------------------------------------------------

local function check_parameters(name, params)
  for _, key in ipairs(core.sorted_keys(params)) do
    local where = name .. ": params." .. tostring(key)
    local declared = core.table(params[key], where)
    core.check_keys(declared, parameter_keys, where)
    if declared.doc == nil then fail("%s: needs a doc", where) end
    for _, case in ipairs(declared.idle and declared.idle[1] and type(declared.idle[1]) == "table" and declared.idle
      or { declared.idle }) do
      for other in pairs(case) do
        if type(other) == "string" and other ~= "why" and not params[other] then
          fail("%s.idle: %s", where, core.unknown_name("parameter", other, core.sorted_keys(params)))
        end
      end
    end
    for _, bound in ipairs { "min", "max" } do
      if declared[bound] ~= nil then core.number(declared[bound], where .. "." .. bound) end
    end
    for _, text in ipairs { "unit", "source", "type", "policy" } do
      if declared[text] ~= nil then core.text(declared[text], where .. "." .. text) end
    end
    if declared.values ~= nil then core.table(declared.values, where .. ".values") end
    if declared.default == nil and not declared.optional then
      fail("%s: needs a default (or optional = true)", where)
    end
    if declared.default ~= nil then check_value(where .. ".default", declared, declared.default) end
  end
end

local function check_presets(name, presets, params)
  for _, preset in ipairs(core.sorted_keys(presets)) do
    local where = name .. ": presets." .. tostring(preset)
    for _, key in ipairs(core.sorted_keys(core.table(presets[preset], where))) do
      if not params[key] then
        fail("%s: %s", where, core.unknown_name("parameter", key,
          core.sorted_keys(params)))
      end
      check_value(where .. "." .. key, params[key], presets[preset][key])
    end
  end
end

--- Checks what a router declares: the signals that it reads, and their age.
local function check_signals(name, given)
  if given.staleness_s ~= nil then core.not_negative(given.staleness_s, name .. ": staleness_s") end
  if given.load_signals ~= nil and given.load_signals ~= "live" and given.load_signals ~= "reported" then
    fail("%s: load_signals: expected 'live' or 'reported', found %s", name, core.describe(given.load_signals))
  end
  if given.unit ~= nil then core.plain_text(given.unit, name .. ": unit") end
  if given.refuses ~= nil and type(given.refuses) ~= "boolean" then
    fail("%s: refuses: expected true or false, found %s", name, core.describe(given.refuses))
  end
  if given.signals == nil then return end
  for _, each in ipairs(core.table(given.signals, name .. ": signals")) do core.text(each, name .. ": signals") end
end

local class_methods = {}

--- Class:preset("reviewed"){overrides}
function class_methods.preset(class, preset)
  local definition = classes[class]
  if not definition then fail "preset: call it as Class:preset(name)" end
  if not definition.presets[preset] then
    fail("%s: %s", definition.name, core.unknown_name("preset", preset,
      core.sorted_keys(definition.presets)))
  end
  return function(overrides) return construct(class, overrides, preset) end
end

class_meta = {
  __call = function(class, overrides) return construct(class, overrides) end,
  __tostring = function(class) return "policy " .. classes[class].name end,
  __index = class_methods,
  __newindex = function(class, key, value)
    local definition = classes[class]
    if definition.frozen then
      fail("%s is immutable once it is in use (assigning '%s')", definition.name, tostring(key))
    end
    if definition.params[key] ~= nil then
      fail("%s: '%s' is a parameter already", definition.name, tostring(key))
    end
    rawset(class, key, value)
  end,
  __metatable = false,
}

--- Declares a policy. Its methods are written after it; calling the class makes an instance.
---@param given table {name, doc, source, params, presets, returns, every_step, ...}
function policy.define(given)
  core.table(given, "policy.define")
  core.check_keys(given, definition_keys, "policy.define")
  local name = core.plain_text(given.name, "policy.define: name")
  core.text(given.doc, name .. ": doc")
  local parent = given.extends
  if parent ~= nil and not policy.is_class(parent) then
    fail("%s: extends: expected a policy class, found %s", name, core.describe(parent))
  end
  local params = parent and copy(classes[parent].params) or {}
  for key, declared in pairs(copy(core.table(given.params or {}, name .. ": params"))) do
    params[key] = declared
  end
  local presets = copy(core.table(given.presets or {}, name .. ": presets"))
  check_parameters(name, params)
  check_presets(name, presets, params)
  check_signals(name, given)
  local class = {}
  for _, key in ipairs(parent and inherited_keys or {}) do class[key] = parent[key] end
  for key, value in pairs(parent or {}) do
    if type(value) == "function" then class[key] = value end
  end
  for _, key in ipairs(definition_keys) do
    if given[key] ~= nil and key ~= "params" and key ~= "presets" and key ~= "extends" then class[key] = given[key] end
  end
  local shown = {}
  for key, declared in pairs(params) do
    shown[key] = core.readonly(copy(declared), name .. ".params." .. key)
  end
  class.params, class.presets = core.readonly(shown, name .. ".params"), {}
  for preset, chosen in pairs(presets) do
    class.presets[preset] = core.readonly(chosen, name .. ".presets." .. preset)
  end
  class.presets = core.readonly(class.presets, name .. ".presets")
  classes[class] = {
    name = name, doc = given.doc, source = given.source, params = params, presets = presets,
    parent = parent, frozen = false,
    instance_meta = {
      __index = class, __metatable = false,
      __tostring = function(instance)
        return name .. " (" .. (records[instance] or {}).where .. ")"
      end,
    },
  }
  return setmetatable(class, class_meta)
end

return policy
