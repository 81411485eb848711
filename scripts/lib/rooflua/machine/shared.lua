-- What the variants of one scenario have in common: tables that are given by name are read once and not once per
-- variant, and a step model that remembers nothing but prices is bound once. Sharing them changes no result. A reader
-- holds them, as it holds models and GPUs, so they live as long as the scenario is open.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local mfu = require "rooflua.mfu"
local policy = require "rooflua.policy"

local shared = {}

--- Tables and step models are large, and a sweep over thousands of deployments has one of each per variant.
local most_kept = 8

local function kept_by(reader, name)
  local list = reader.shared[name]
  if not list then
    list = {}
    reader.shared[name] = list
  end
  return list
end

local most_deep = 4 -- of tables that are told apart by what they hold
local apart = most_deep + 1 -- each is another one

--- Whether two values say the same: policies of one class with the same parameters, tables that hold the same.
local function alike(a, b, depth)
  if rawequal(a, b) then return true end
  if type(a) ~= "table" or type(b) ~= "table" or depth > most_deep then return false end
  if policy.is_instance(a) or policy.is_instance(b) then
    if not (policy.is_instance(a) and policy.is_instance(b)) or policy.class_of(a) ~= policy.class_of(b) then
      return false
    end
    local own, other = policy.parameters(a), policy.parameters(b)
    for name in pairs(own) do
      if policy.is_given(a, name) ~= policy.is_given(b, name) then return false end
    end
    return alike(own, other, depth)
  end
  if getmetatable(a) ~= nil or getmetatable(b) ~= nil then return false end
  for key, value in next, a do
    if not alike(value, b[key], depth + 1) then return false end
  end
  for key in next, b do
    if a[key] == nil then return false end
  end
  return true
end

--- The value that was kept for all of these parts, else what `make` returns, which is kept: of the `most_kept` that
--- were used last.
--- @param depth integer 0, or `apart`
local function once(list, parts, depth, make)
  for i, entry in ipairs(list) do
    local same, k = true, 1
    while same and k <= #parts do
      same, k = alike(entry.parts[k], parts[k], depth), k + 1
    end
    if same then
      table.insert(list, 1, table.remove(list, i))
      return entry.value
    end
  end
  local value = make()
  table.insert(list, 1, { parts = parts, value = value })
  list[most_kept + 1] = nil
  return value
end

--- What was kept of a scenario's variants for tables that say the same, else what `make` returns, which is kept.
---@param reader table of the scenario
---@param name string what it is kept by
---@param tables table[]
function shared.of_variants(reader, name, tables, make) return once(kept_by(reader, name), tables, 0, make) end

--- Plain values by key as text; nil if one of them is a table or a function.
local function text_of(values, left_out)
  local out = {}
  for _, key in ipairs(core.sorted_keys(values)) do
    local value = values[key]
    if type(value) == "table" or type(value) == "function" or type(value) == "userdata" then
      if key ~= left_out then return nil end
    else
      value = type(value) == "number" and ("%.17g"):format(value) or tostring(value)
      out[#out + 1] = ("%s %s %d %s"):format(tostring(key), type(values[key]), #value, value)
    end
  end
  return table.concat(out, "\n")
end

local function is_native(lookup)
  return lookup == nil or core.is_among(lookup, native.list_lookups())
end

--- mfu.open of options whose `hardware` is an object. A lookup in Lua may remember things, so each variant has its own.
function shared.tables(reader, options)
  local text = is_native(options.lookup) and text_of(options, "hardware")
  local function open() return reader:at("mfu", mfu.open, options) end
  return text and once(kept_by(reader, "tables"), { options.hardware, text }, apart, open) or open()
end

--- The step model that remembers nothing but prices. One that extends it may remember more.
local only_prices = "steps.kernels"

--- The engine and its release as text; false where a scenario states none.
local function engine_of(all) return all.engine and all.engine.engine.name .. " " .. all.engine.release or false end

--- A bound step model.
---@param all table what prepared.of returned, before a drafter took memory
---@param bind function() a new one
function shared.steps(all, bind)
  local class, given = policy.class_of(all.step_policy), all.given.deployment
  -- Engines whose experts move have loads of their own, by which such a step model remembers sums.
  if class ~= chunks.shipped(only_prices) or #all.corrections > 0 or all.experts then return bind() end
  local deployment = given == nil and "" or type(given) == "table" and text_of(core.plain(given))
  local parameters = text_of(policy.parameters(all.step_policy))
  if not (deployment and parameters) then return bind() end
  return once(kept_by(all.reader, "steps"), { class, parameters, all.model, all.hardware, all.mfu, deployment,
    all.async_depth or false, all.draft_depth or false, engine_of(all),
    all.adapters and all.adapters.signature or false }, apart, bind)
end

return shared
