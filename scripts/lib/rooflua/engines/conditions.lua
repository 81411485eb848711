-- Where a row of an engine's rules holds: for which releases, GPUs, models and formats.
local core = require "rooflua.base.core"
local release = require "rooflua.engines.release"

local conditions = {}

local gib = 2 ^ 30

--- Conditions of `gpu`, by name: fun(hardware, value) -> boolean.
local of_gpu = {
  memory_gib_from = function(hardware, gib_from) return hardware.memory_bytes >= gib_from * gib end,
  memory_gib_below = function(hardware, gib_below) return hardware.memory_bytes < gib_below * gib end,
  named = function(hardware, word) return hardware.name:lower():find(word, 1, true) ~= nil end,
  not_named = function(hardware, word) return hardware.name:lower():find(word, 1, true) == nil end,
}

--- Names in a row that are no values.
conditions.names = { "since", "before", "gpu", "architecture", "family", "format", "when", "where", "source", "seen",
  "code", "fitted" }

local is_name = core.set(conditions.names)

--- Whether a name in a row is a condition or its source, and no value.
function conditions.has(name) return is_name[name] == true end

local bounds = { "since", "before", "seen" }

--- Refuses conditions that mean nothing.
--- @param where fun(...): string the row in messages, of what follows
function conditions.check(rule, where, ...)
  for _, bound in ipairs(bounds) do
    if rule[bound] ~= nil and not release.parse(tostring(rule[bound])) then
      core.fail("%s.%s: '%s' is no release", where(...), bound, tostring(rule[bound]))
    end
  end
  if rule.gpu == nil then return end
  for _, name in ipairs(core.sorted_keys(rule.gpu)) do
    if not of_gpu[name] then
      core.fail("%s.gpu: %s", where(...), core.unknown_name("condition of gpu", name, core.sorted_keys(of_gpu)))
    end
  end
end

local function among(value, list)
  if type(list) ~= "table" then return value == list end
  return core.is_among(value, list)
end

--- Architectures that engines take for another one: rules of that one hold too. Rubin has compute capability 10.7, and
--- engines ask for the 10 (vLLM's is_device_capability_family(100), SGLang's is_sm100_supported).
local taken_for = { rubin = "blackwell" }

local function is_of(architecture, wanted)
  return among(architecture, wanted) or taken_for[architecture] and among(taken_for[architecture], wanted) or false
end

local function gpu_holds(list, hardware)
  for name, value in pairs(list) do
    if not of_gpu[name](hardware, value) then return false end
  end
  return true
end

local function is_asked(wanted, value)
  if value == nil then return false end
  for _, each in ipairs(type(wanted) == "table" and wanted or { wanted }) do
    if tostring(each):lower() == tostring(value):lower() then return true end
  end
  return false
end

--- Whether the options that a row asks for are stated: NAME = value, a list of values, or the name alone for any value.
--- @param options table<string, any>? that are stated
function conditions.asked(rule, options)
  for name, wanted in pairs(rule.where or {}) do
    local value = options and options[type(name) == "number" and wanted or name]
    if type(name) == "number" and value == nil or type(name) ~= "number" and not is_asked(wanted, value) then
      return false
    end
  end
  return true
end

--- Whether a row holds. What is not known of a deployment (a GPU, a model) fits no condition on it.
--- @param facts table {hardware, model, tp, dp, pp, ep, weights, experts_format, formats, role, drafts}
--- @param options table<string, any>? that are stated
function conditions.hold(rule, version, facts, options)
  if not release.holds(rule, version) or not conditions.asked(rule, options) then return false end
  local hardware, model = facts.hardware, facts.model
  if rule.gpu and not (hardware and gpu_holds(rule.gpu, hardware)) then return false end
  if rule.architecture and not (hardware and is_of(hardware.architecture, rule.architecture)) then return false end
  if rule.family and not (model and among(model.family, rule.family)) then return false end
  if rule.format and not among(facts.weights, rule.format) then return false end
  return not rule.when or rule.when(facts) == true
end

return conditions
