-- What an engine of a release does on a GPU with a model: its rules in order, of which a later one replaces values of
-- an earlier one, then the options that are stated.
local ages = require "rooflua.engines.ages"
local catalogue = require "rooflua.engines.catalogue"
local conditions = require "rooflua.engines.conditions"
local core = require "rooflua.base.core"
local release = require "rooflua.engines.release"

local values = {}

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

--- The source of a row; of a release that was not read in whole (`is_new`) also that nobody read the row at it.
local function source_of(engine, rule, version, is_new)
  local source = rule.source or "no source"
  if not is_new or not ages.is_unread(engine, rule, version) then return source end
  return ("%s; %s: as %s"):format(source, ages.is_fitted(engine, rule) and "a fit" or "not read",
    ages.seen(engine, rule))
end

--- @param engine table of catalogue.of
--- @param version string a release
--- @param facts table {hardware, model, tp, dp, pp, ep, cp, dcp, weights, experts_format, role, drafts}, what is known
---   of the deployment
--- @param stated table<string, any>? options that are stated, as values
--- @return table {engine, release, values, sources, facts, stated}: values and their sources by name
function values.of(engine, version, facts, stated)
  facts.cp, facts.dcp = facts.cp or 1, facts.dcp or 1
  local given, sources, is_new = {}, {}, release.earlier(ages.whole(engine).name, version)
  for _, rule in ipairs(engine.rules) do
    if conditions.hold(rule, version, facts, stated) then
      local source = source_of(engine, rule, version, is_new)
      for name, value in pairs(rule) do
        if not conditions.has(name) then given[name], sources[name] = value, source end
      end
    end
  end
  for name, value in pairs(stated or {}) do given[name], sources[name] = value, "stated" end
  local read = setmetatable({ [Values] = { given = given, facts = facts, engine = engine, asked = {} } }, Values)
  return { engine = engine, release = version, values = read, sources = sources, facts = facts, stated = stated }
end

--- What is known of a deployment, as rules ask for it.
---@param about table {model, hardware, deployment}, or with the keys of the deployment in it
function values.facts(about)
  local deployment = about.deployment or about
  return { model = about.model, hardware = about.hardware, tp = deployment.tp or 1, dp = deployment.dp or 1,
    pp = deployment.pp or 1, ep = deployment.ep or 1, cp = deployment.cp or 1, dcp = deployment.dcp or 1,
    weights = deployment.weights }
end

--- Of the newest release, by the name of the tables with its kernels.
function values.of_tables(name, about)
  local engine = catalogue.of(name)
  return values.of(engine, catalogue.newest(engine), values.facts(about))
end

return values
