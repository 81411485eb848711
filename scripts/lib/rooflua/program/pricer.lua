-- What the library asks (engine/library): prices of one batch after another, of one scenario. A state has one pricer.
local answers = require "rooflua.intervals.answers"
local batch = require "rooflua.border.batch"
local fresh = require "rooflua.machine.fresh"
local notes = require "rooflua.machine.notes"
local overrides = require "rooflua.program.overrides"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local unread_keys = require "rooflua.serving.unread_keys"

local pricer = {}

local opened, given, prepared, bound -- of the scenario

local largest_context = 0
local lent = batch.rewritten(function() return largest_context end)

--- {prepared, bound} of the one engine whose steps a scenario prices or serves.
---@param kind string of the scenario
function pricer.engine(reader, kind, scenario)
  if kind ~= "price" and kind ~= "serve" then
    reader:fail("kind", "expected \"price\" or \"serve\", whose steps can be priced, found \"%s\"", kind)
  end
  local own = fresh.of(reader, scenario)
  if kind == "price" then
    local of_price = Prepared.of(reader, own)
    return of_price, { steps = Prepared.steps(of_price) }
  end
  local list, spans = require("rooflua.serving.replicas").of(reader, own)
  if spans and #spans > 1 then
    reader:fail("replicas", "has %d entries, and a pricer prices one: override it, as in {\"replicas\": 1}", #spans)
  end
  return list[1].prepared, list[1].steps
end

--- Opens the scenario of this state: {kind, title, steps, engine, release, weights, kv}.
---@param path string? of its file; nil: the overrides are all of it
---@param stated table by key, as --set has them; command = that of a launch
function pricer.open(path, stated)
  opened = overrides.open(path, stated, "price")
  local kind = opened.kind
  given = overrides.one_variant(opened, "a pricer prices one")
  prepared, bound = pricer.engine(opened.reader, kind, given)
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

--- Adds the interval of a price where what was measured says little of it, and why.
local function add_wider(sentences, priced, has_prompts)
  local known = answers.of_prices(prepared, { { time_s = priced.time_s, has_prompts = has_prompts } }, priced.evidence)
  for _, reason in ipairs(known and known.unlike or {}) do
    sentences[#sentences + 1] = ("90 %% interval of the step %s, wider: %s"):format(known.step_s.text, reason)
  end
  return sentences
end

--- The same operation by operation, as prices.price_batch has it, with the notes of the scenario.
function pricer.explain(address, context_max)
  largest_context = context_max
  local asked = lent(address)
  local has_prompts, priced = #asked.prefills > 0, prices.price_batch(prepared, bound, asked)
  priced.notes = add_wider(notes.of_unread(unread_keys.of(given, opened.kind), notes.of({ prepared }, priced.evidence)),
    priced, has_prompts)
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
