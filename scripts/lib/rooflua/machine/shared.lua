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

--- The value that was kept for all of these parts, else what `make` returns, which is kept: of the `most_kept` that
--- were used last.
local function once(list, parts, make)
  for i, entry in ipairs(list) do
    local same = true
    for k = 1, #parts do same = same and rawequal(entry.parts[k], parts[k]) end
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
  return text and once(kept_by(reader, "tables"), { options.hardware, text }, open) or open()
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
    all.adapters and all.adapters.signature or false }, bind)
end

return shared
