-- Options that an engine sets by itself where others are stated: rows of `implies` in its file (docs/ENGINES.md),
--
--     { where = { moe_a2a_backend = { "deepep", "mori" } }, ep_size = function(facts, own, stated) ... end, source }
--
-- `where` says which options are stated: NAME = value, a list of values, or the name alone for any value. A row may
-- have the conditions of a rule besides. What it sets holds in place of what is stated; with `fills` only where nothing
-- is.
-- The rows apply in their order, and each sees what those in front of it set: the options are then as if a user had
-- stated them all.
local conditions = require "rooflua.engines.conditions"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local release = require "rooflua.engines.release"

local implications = {}

--- Names of a row that are neither values nor conditions.
implications.names = { "fills" }

local is_name = core.set(implications.names)

--- Whether a name in a row is a value that it sets.
function implications.is_value(name) return not is_name[name] and not conditions.has(name) end

local function is_same(a, b) return a == b or a ~= nil and b ~= nil and json.encode(a) == json.encode(b) end

--- "SGLang sets --ep-size to 8 with --moe-a2a-backend, not to 4".
local function sentence(engine, row, name, value, before)
  local causes = {}
  for key, wanted in core.sorted_pairs(row.where or {}) do
    local cause = type(key) == "number" and wanted or key
    if cause ~= name then causes[#causes + 1] = engine.option[cause].flag or cause end
  end
  return ("%s sets %s to %s%s, not to %s"):format(engine.title, engine.option[name].flag or name, tostring(value),
    #causes > 0 and " with " .. core.join(causes, " and ") or " here", tostring(before))
end

--- The options of a deployment with those that follow from them, and sentences about stated ones that do not hold. The
--- table itself where nothing follows.
--- @param engine table of catalogue.of
--- @param options table<string, any> that are stated
--- @param about table {facts = fun(options) of the deployment, values = fun(options, facts) of values.of, is_said =
---   fun(option): whether the scenario states its key, which then holds}
function implications.of(engine, version, options, about)
  local told, facts, own = {}, nil, nil
  local function set(row, name)
    local option, value = engine.option[name], row[name]
    if row.fills and options[name] ~= nil or about.is_said(option) then return end
    if type(value) == "function" then
      own = own or about.values(options, facts)
      value = value(facts, own, options)
    end
    if value == nil or is_same(options[name], value) then return end
    if options[name] ~= nil then told[#told + 1] = sentence(engine, row, name, value, options[name]) end
    options, facts, own = core.copy(options, { [name] = value }), nil, nil
  end
  for _, row in ipairs(engine.implies or {}) do
    if release.holds(row, version) and conditions.asked(row, options) then
      facts = facts or about.facts(options)
      if conditions.hold(row, version, facts, options) then
        for _, name in ipairs(core.sorted_keys(row)) do
          facts = facts or about.facts(options)
          if implications.is_value(name) then set(row, name) end
        end
      end
    end
  end
  return options, told
end

return implications
