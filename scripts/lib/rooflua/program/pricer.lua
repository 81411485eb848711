-- What the library asks (engine/library): prices of one batch after another, of one scenario. A state has one pricer.
local batch = require "rooflua.border.batch"
local core = require "rooflua.base.core"
local fresh = require "rooflua.machine.fresh"
local json = require "rooflua.json"
local notes = require "rooflua.machine.notes"
local opening = require "rooflua.runs.opening"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local unread_keys = require "rooflua.serving.unread_keys"

local pricer = {}

local opened, given, prepared, bound -- of the scenario

local largest_context = 0
local lent = batch.rewritten(function() return largest_context end)

--- A batch that stands for none: kind "price" asks for a list.
local any_batch = { { decodes = 1, decode_context_tokens = 1 } }

--- Divides the overrides: keys of a whole scenario without a file, `--set` for the others, and a launch command.
local function divided(overrides, has_file)
  local whole, sets, command = {}, {}, nil
  if overrides.command ~= nil then
    command = { text = core.text(overrides.command, "command"), engine = overrides.engine, model = overrides.model }
  end
  for key, value in core.sorted_pairs(overrides) do
    local of_command = key == "command" or command and (key == "engine" or key == "model")
    local is_whole = not has_file and not key:find(".", 1, true)
    if is_whole and not of_command then whole[key] = value end
    if not is_whole and not of_command then sets[#sets + 1] = key .. "=" .. json.encode(value) end
  end
  return whole, { set = sets, command = command }
end

local function open_scenario(path, overrides)
  local whole, options = divided(overrides, path ~= nil)
  if path then return opening.file(path, options) end
  whole.kind = whole.kind or "price"
  if whole.kind == "price" and whole.price == nil then whole.price = any_batch end
  options.file = "overrides"
  return opening.table(whole, options)
end

--- {prepared, bound} of the one engine that a served scenario has.
local function served(reader, scenario)
  local list, spans = require("rooflua.serving.replicas").of(reader, scenario)
  if spans and #spans > 1 then
    reader:fail("replicas", "has %d entries, and a pricer prices one: override it, as in {\"replicas\": 1}", #spans)
  end
  return list[1].prepared, list[1].steps
end

--- Opens the scenario of this state: {kind, title, steps, engine, release, weights, kv}.
---@param path string? of its file; nil: the overrides are all of it
---@param overrides table by key, as --set has them; command = that of a launch
function pricer.open(path, overrides)
  opened = open_scenario(path, overrides)
  local reader, kind = opened.reader, opened.kind
  if kind ~= "price" and kind ~= "serve" then
    reader:fail("kind", "expected \"price\" or \"serve\", whose steps can be priced, found \"%s\"", kind)
  end
  if #opened.variants ~= 1 then
    reader:fail("vary", "gives %d variants, and a pricer prices one: override it, as in {\"vary\": {}}",
      #opened.variants)
  end
  given = opening.variant(opened, 1)
  local own = fresh.of(reader, given)
  if kind == "serve" then
    prepared, bound = served(reader, own)
  else
    prepared = Prepared.of(reader, own)
    bound = { steps = Prepared.steps(prepared) }
  end
  local engine, deployment = prepared.engine, prepared.deployment
  return { kind = kind, title = opened.title, steps = bound.steps.name, engine = engine and engine.engine.name,
    release = engine and engine.release, weights = deployment.weights, kv = deployment.kv,
    model = prepared.model.name, hardware = prepared.hardware.name }
end

--- Seconds of the batch at an address, which stays as it is during the call.
---@param context_max integer of its decodes
function pricer.price(address, context_max)
  largest_context = context_max
  return prices.time(prepared, bound, lent(address))
end

--- The same operation by operation, as prices.price_batch has it, with the notes of the scenario.
function pricer.explain(address, context_max)
  largest_context = context_max
  local priced = prices.price_batch(prepared, bound, lent(address))
  priced.notes = notes.of_unread(unread_keys.of(given, opened.kind), notes.of({ prepared }, priced.evidence))
  return priced
end

--- The document of `rooflua capacity`.
function pricer.capacity()
  local about = { model = given.model, hardware = given.hardware, engine = given.engine,
    deployment = given.deployment, scheduler = given.scheduler, speculation = given.speculation,
    adapters = given.adapters, experts = given.experts }
  local capacity = require "rooflua.serving.capacity"
  return require("rooflua.serving.capacity_text").document(capacity.of(about, opened.reader))
end

return pricer
