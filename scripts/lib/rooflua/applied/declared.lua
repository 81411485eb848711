-- The declared parameters of a scenario by key path, with the values in force: what sweeps, fits and sensitivities may
-- vary. A parameter that the scenario states as an option of its engine has the name of that option,
-- "engine.max_num_seqs".
local native = require "rooflua.native"
local application = require "rooflua.applied.application"
local core = require "rooflua.base.core"
local named_policies = require "rooflua.sandbox.named_policies"
local open_hardware = require("rooflua.spec").hardware
local options = require "rooflua.applied.options"
local paths = require "rooflua.scenario.paths"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local declared = {}

local slots = schema.names(nil, function(entry) return entry.type == "policy" end)
local plain_numbers = schema.ranges() -- numbers of a scenario that no policy declares

local function kind_of(value, about)
  if policy.is_instance(value) then return "policy" end
  if about.values then return "choice" end
  if type(value) == "number" then return about.integer and "integer" or "continuous" end
  if type(value) == "nil" and about.type == "number" then return "unset" end
  return type(value) == "nil" and "unset" or type(value)
end

local function add_policy(out, prefix, instance)
  local params, values = policy.definition(instance).params, policy.parameters(instance)
  for _, name in ipairs(core.sorted_keys(params)) do
    local path, value = prefix .. "." .. name, values[name]
    if policy.is_instance(value) then
      add_policy(out, path, value)
    else
      out[#out + 1] = { path = path, value = value, about = params[name], kind = kind_of(value, params[name]) }
    end
  end
end

--- The lookup of a scenario, where it is a policy; nil where it is compiled, or none is stated.
local function lookup_of(given)
  local found = type(given.mfu) == "string" and given.mfu or paths.value(given, "mfu.lookup")
  if policy.is_class(found) then return found {} end
  if type(found) == "string" then return named_policies.instance("lookup", found) end
  return policy.is_instance(found) and found or nil
end

local function is_served(given) return (given.kind or "serve") == "serve" end

--- What the engine of a scenario gives to its keys (application.of); nil where it cannot be asked: a run says why.
local function applied_of(reader, given)
  if given.hardware == nil or given.model == nil then return nil end
  local ok, applied = pcall(application.of, reader, given, is_served(given))
  return ok and applied or nil
end

local option_types = { integer = "integer", number = "continuous" }

--- An option of the engine as a declared parameter; nil of one that is no number.
local function of_option(applied, name)
  local option, value = applied.engine.engine.option[name], applied.options[name]
  if not option or not option_types[option.type] then return nil end
  if value == nil then value = applied.engine.values[name] end
  return { path = "engine." .. name, value = type(value) == "number" and value or nil,
    kind = option_types[option.type], key = option.key,
    about = { integer = option.type == "integer" or nil, min = option.min, max = option.max, doc = option.doc } }
end

--- Adds the options that a scenario states, in place of the keys that these stand for.
local function add_options(out, given, applied)
  if given.engine == nil or not applied then return out end
  local taken, kept = {}, {}
  for _, name in ipairs(core.sorted_keys(applied.options)) do
    local one = of_option(applied, name)
    if one and one.value then
      kept[#kept + 1] = one
      for _, key in ipairs(options.keys_for(one.key)) do taken[key] = one end
    end
  end
  for _, each in ipairs(out) do
    local option = taken[each.path]
    if not option then kept[#kept + 1] = each end
    if option and not option.about.unit then option.about.unit = each.about.unit end
  end
  return kept
end

--- Every declared parameter, sorted by path: {path, value, about = declaration, kind}.
--- kind: continuous, integer, choice, boolean, string, table, unset.
function declared.all(reader, given)
  local out, applied = {}, applied_of(reader, given)
  local in_force = applied and applied.given or given
  for _, slot in ipairs(slots) do
    local is_engines = slot == "steps" or slot == "scheduler" and is_served(given)
    if given[slot] ~= nil or is_engines then
      add_policy(out, slot, policies.of(reader, slot, (is_engines and in_force or given)[slot]))
    end
  end
  for path in core.sorted_pairs(schema.inner_policies) do
    local found = paths.value(given, path)
    if found ~= nil then add_policy(out, path, policies.of(reader, path, found)) end
  end
  local lookup = lookup_of(given)
  if lookup then add_policy(out, "mfu.lookup", lookup) end
  for _, each in ipairs(policies.list(reader, given.corrections or {})) do
    local one = policy.is_instance(each) and each or policies.of(reader, "corrections", each)
    add_policy(out, "corrections." .. one.name, one)
  end
  for _, path in ipairs(core.sorted_keys(plain_numbers)) do
    local about, value = plain_numbers[path], paths.value(path:find "^deployment%." and in_force or given, path)
    if type(value) ~= "number" then value = nil end
    out[#out + 1] = { path = path, value = value, about = about, kind = kind_of(value, about) }
  end
  out = add_options(out, given, applied)
  table.sort(out, function(a, b) return a.path < b.path end)
  return out
end

--- The name that a scenario uses for a parameter: that of the option of its engine which states it; else the path.
function declared.name(reader, given, path)
  local option = type(path) == "string" and options.stated_at(reader, given, path)
  return option and "engine." .. option or path
end

local constant_prefix = "mfu.model."

function declared.is_kernel_constant(path) return path:sub(1, #constant_prefix) == constant_prefix end

--- A fitted constant of modelled kernels, by its path: what the scenario says, else the GPU's. These constants are
--- not in declared.all(), so that an analysis of all parameters leaves them as they are.
local function kernel_constant(given, path)
  if not declared.is_kernel_constant(path) then return nil end
  local name, gpu = path:sub(#constant_prefix + 1), given.hardware
  local hardware = gpu ~= nil and open_hardware(gpu) or nil
  for _, about in ipairs(native.kernel_constants(hardware and hardware.architecture or "hopper").list) do
    if about.name == name then
      local value = paths.value(given, path) or hardware and hardware.constants[name] or about.value
      return { path = path, value = value, about = about, kind = "continuous" }
    end
  end
end

--- The declared parameter at `path`, or an error with suggestions. With `loose`, a value that the scenario has and
--- nothing declares is nil instead.
function declared.find(reader, given, path, what, loose)
  if type(path) ~= "string" then reader:fail(what, "expected a key path, found %s", core.describe(path)) end
  local constant = kernel_constant(given, path)
  if constant then return constant end
  path = declared.name(reader, given, path)
  local known = {}
  for i, each in ipairs(declared.all(reader, given)) do
    if each.path == path then return each end
    known[i] = each.path
  end
  local applied = path:find "^engine%." and given.engine ~= nil and applied_of(reader, given)
  local option = applied and of_option(applied, path:match "^engine%.(.*)$")
  if option and option.key then return option end
  if loose and paths.value(given, path) ~= nil then return nil end
  return reader:fail(what, "%s", native.unknown_name("parameter", path, known))
end

local loads = { "workload.rate_per_s", "workload.request_rate", "workload.clients" }

--- The key path of a scenario's load: the stated one, else the first that the workload declares; nil without one.
function declared.load(reader, given, stated)
  if stated ~= nil then return stated end
  for _, each in ipairs(declared.all(reader, given)) do
    if core.is_among(each.path, loads) then return each.path end
  end
end

local range_keys = { "min", "max", "start", "now", "log", "integer" }

local function number(reader, where, value)
  if type(value) ~= "number" or value - value ~= 0 then
    reader:fail(where, "expected a number, found %s", core.describe(value))
  end
  return value
end

--- Lower and upper bound of a range that the user left open: the declared ones, else a tenth to ten times the value.
--- The third value says whether such a range is logarithmic.
local function default_range(reader, where, found)
  local about, value = found.about, found.value or found.about.default
  local low, high = about.min, about.max
  if low and high then return low, high, false end
  if type(value) ~= "number" or value == 0 then
    reader:fail(where, "its value is %s, so no range follows from it; state one: { MIN, MAX }, at the command line "
      .. "--params %s=MIN..MAX", value == nil and "not stated" or tostring(value), found.path or where:match "[^.]+$")
  end
  local a, b = value / 10, value * 10
  if value < 0 then a, b = b, a end
  return math.max(a, low or a), math.min(b, high or b), value > 0
end

--- {path, min, max, start, log, integer} of one parameter. `given_range`: {min, max, start =, log =},
--- {min =, max =, ...} or true for the default range. Without a scenario (nil) every name is taken.
function declared.range(reader, given, path, given_range, what)
  local where = what .. "." .. tostring(path)
  local bounded = type(given_range) == "table"
  local found = given and declared.find(reader, given, path, what, bounded) or { about = {}, kind = "continuous" }
  if found.kind ~= "continuous" and found.kind ~= "integer" and found.kind ~= "unset" then
    reader:fail(where, "is not a number but %s", found.kind == "choice" and "a choice" or core.describe(found.value))
  end
  local spec = {}
  for key, value in pairs(bounded and core.plain(given_range) or {}) do
    local name = key == 1 and "min" or key == 2 and "max" or key
    if type(name) ~= "string" then reader:fail(where, "expected {min, max}, found %s", core.describe(key)) end
    spec[name] = value
  end
  reader:at(where, core.check_keys, spec, range_keys, where)
  local low, high, log
  if spec.min ~= nil or spec.max ~= nil then
    low = number(reader, where .. ".min", spec.min)
    high = number(reader, where .. ".max", spec.max)
    log = false
  else
    low, high, log = default_range(reader, where, found)
  end
  if spec.log ~= nil then log = spec.log end
  if low > high then reader:fail(where, "min %g is above max %g", low, high) end
  if low == high then reader:fail(where, "min and max are both %g: there is nothing to vary", low) end
  if log and low <= 0 then reader:fail(where, "a logarithmic range needs min > 0, found %g", low) end
  local about = found.about
  if about.min and low < about.min or about.max and high > about.max then
    reader:fail(where, "%g to %g leaves the declared range (%s to %s)", low, high, tostring(about.min or "-inf"),
      tostring(about.max or "inf"))
  end
  local start = spec.start ~= nil and number(reader, where .. ".start", spec.start) or found.value
    or given and paths.value(given, path)
  if type(start) ~= "number" then start = log and math.sqrt(low * high) or (low + high) / 2 end
  if spec.start ~= nil and (start < low or start > high) then
    reader:fail(where .. ".start", "%g lies outside %g to %g", start, low, high)
  end
  local integer = spec.integer or about.integer or false
  return { path = found.path or path, min = low, max = high, start = start, log = log, integer = integer,
    unit = about.unit,
    now = spec.now or type(found.value) == "number" and found.value or given and paths.value(given, path) }
end

--- The place of a value in its range, from 0 to 1.
function declared.place(range, value)
  value = math.max(range.min, math.min(range.max, value))
  if range.log then return math.log(value / range.min) / math.log(range.max / range.min) end
  return (value - range.min) / (range.max - range.min)
end

--- The value at a place of its range.
function declared.value(range, place)
  local value
  if place <= 0 then
    value = range.min
  elseif place >= 1 then
    value = range.max
  elseif range.log then
    value = range.min * math.exp(place * math.log(range.max / range.min))
  else
    value = range.min + place * (range.max - range.min)
  end
  if range.integer then value = math.floor(value + 0.5) end
  return math.max(range.min, math.min(range.max, value))
end

--- A list of ranges from {path = range, ...} or {path, path, ...}, sorted by path.
function declared.ranges(reader, given, params, what)
  if type(params) ~= "table" or next(core.plain(params)) == nil then
    reader:fail(what, "expected parameters: { [\"steps.host_step_s\"] = { min, max }, ... } or a list of names")
  end
  local out, seen = {}, {}
  for key, value in core.sorted_pairs(params) do
    local path, spec = key, value
    if type(key) == "number" then path, spec = value, true end
    local range = declared.range(reader, given, path, spec, what)
    if seen[path] then reader:fail(what, "%s is named twice", path) end
    seen[path] = true
    out[#out + 1] = range
  end
  return out
end

return declared
