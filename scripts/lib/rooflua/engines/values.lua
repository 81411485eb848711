-- What an engine of a release does on a GPU with a model: its rules in order, of which a later one replaces values of
-- an earlier one, then the options that somebody stated.
local core = require "rooflua.base.core"
local catalogue = require "rooflua.engines.catalogue"
local release = require "rooflua.engines.release"

local values = {}

local gib = 2 ^ 30

local function among(value, list)
  if type(list) ~= "table" then return value == list end
  for _, each in ipairs(list) do
    if each == value then return true end
  end
  return false
end

--- Conditions of `gpu`, by name: fun(hardware, value) -> boolean.
local gpu_conditions = {
  memory_gib_from = function(hardware, gib_from) return hardware.memory_bytes >= gib_from * gib end,
  memory_gib_below = function(hardware, gib_below) return hardware.memory_bytes < gib_below * gib end,
  named = function(hardware, word) return hardware.name:lower():find(word, 1, true) ~= nil end,
  not_named = function(hardware, word) return hardware.name:lower():find(word, 1, true) == nil end,
}

local function gpu_holds(conditions, hardware)
  for name, value in pairs(conditions) do
    local holds = gpu_conditions[name]
      or core.fail("%s", core.unknown_name("condition of gpu", name, core.sorted_keys(gpu_conditions)))
    if not holds(hardware, value) then return false end
  end
  return true
end

--- Whether a row of rules holds. What is not known of a deployment (a GPU, a model) fits no condition on it.
local function holds(rule, version, facts)
  if not release.holds(rule, version) then return false end
  local hardware, model = facts.hardware, facts.model
  if rule.gpu and not (hardware and gpu_holds(rule.gpu, hardware)) then return false end
  if rule.architecture and not (hardware and among(hardware.architecture, rule.architecture)) then return false end
  if rule.family and not (model and among(model.family, rule.family)) then return false end
  if rule.format and not among(facts.weights, rule.format) then return false end
  return not rule.when or rule.when(facts) == true
end

local is_condition = { since = true, before = true, gpu = true, architecture = true, family = true, format = true,
  when = true, source = true }

--- Values of one engine by name. A value that is a function is asked when it is read: it gets the facts and, for other
--- values, this table.
local Values = {}

function Values.__index(self, name)
  local own = rawget(self, Values)
  local value = own.given[name]
  if type(value) == "function" then
    if own.asked[name] then core.fail("%s: %s depends on itself", own.engine.name, name) end
    own.asked[name] = true
    value = value(own.facts, self)
    own.asked[name] = nil
    own.given[name] = value
  end
  return value
end

--- @param engine table of catalogue.of
--- @param version string a release
--- @param facts table {hardware, model, tp, dp, ep, pp, weights}, what is known of the deployment
--- @param stated table<string, any>? options that somebody stated, as values
--- @return table {engine, release, values, sources}: values and their sources by name
function values.of(engine, version, facts, stated)
  local given, sources = {}, {}
  for _, rule in ipairs(engine.rules) do
    if holds(rule, version, facts) then
      for name, value in pairs(rule) do
        if not is_condition[name] then given[name], sources[name] = value, rule.source or "no source" end
      end
    end
  end
  for name, value in pairs(stated or {}) do given[name], sources[name] = value, "stated" end
  local read = setmetatable({ [Values] = { given = given, facts = facts, engine = engine, asked = {} } }, Values)
  return { engine = engine, release = version, values = read, sources = sources, facts = facts }
end

--- Of the newest release, by the name of the tables with its kernels.
function values.of_tables(name, facts)
  local engine = catalogue.of_tables(name)
  return values.of(engine, catalogue.newest(engine), facts)
end

return values
