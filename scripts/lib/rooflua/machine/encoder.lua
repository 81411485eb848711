-- The encoder of a model: what items (images, videos, sounds) become in the prompt, and what a pass over them costs.
-- How many tokens an item has says the processor of its model (scripts/processors).
local core = require "rooflua.base.core"
local cost = require "rooflua.cost"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"
local Prepared = require "rooflua.machine.prepared"
local processors = require "rooflua.border.processors"

local few_rows = "encoder: its attention has few measured rows"
local encoder = {
  few_rows = few_rows .. " (docs/ENCODERS.md: published passes)",
  --- What a result with passes says of them.
  doubt = few_rows .. "; no source states the host's work on an item inside of a pass, which is priced as 0 "
    .. "(docs/ENCODERS.md: published passes)",
  sounds = "encoder: no source states how long a server decodes a sound, which is priced as 0",
}

-- Items of a model ------------------------------------------------------------------------------------------

local tables = { image = "vision", video = "vision", audio = "audio" } -- of a model, by the kind of an item

--- What the encoders of a model take; nil of a model without one, or whose file states too little of them.
---@return table? {model, takes = {image = true}, of = {image = {vision, processor, shape}} by kind}
function encoder.of(model)
  local out = { model = model, takes = {}, of = {} }
  local known = {}
  for _, name in ipairs { "vision", "audio" } do
    local own = model[name] and core.plain(model[name])
    local processor = processors.of(model, own, name)
    known[name] = processor and { vision = own, processor = processor, shape = processors.shape(own) }
  end
  for kind, name in pairs(tables) do
    local own = known[name]
    if own and type(own.processor[kind]) == "function" then out.of[kind], out.takes[kind] = own, true end
  end
  return next(out.of) and out or nil
end

local item_keys = { "width", "height", "frames", "seconds" }

--- "video", "image" or "audio", by what an item states.
local function kind_of(item)
  return item.seconds ~= nil and "audio" or item.frames ~= nil and "video" or "image"
end

--- An item of a request: {width, height}, with names or without; {frames =, width =, height =}; {seconds =}.
---@param description table of encoder.of
---@return table {kind, tokens = in the prompt, rows = patches of each sequence of attention, embeddings}
function encoder.item(description, item)
  local what = "an item"
  local given = core.table(item, what)
  if given[1] ~= nil then
    local named = core.copy(given)
    named.width, named.height, named[1], named[2] = given[1], given[2], nil, nil
    given = named
  end
  core.check_keys(given, item_keys, what)
  local kind = kind_of(given)
  if not description.takes[kind] then
    local other = description.of.image or description.of.audio or description.of.video
    core.fail("%s takes no %s (processor %s)", description.model.name, kind, other.processor.name)
  end
  local own = description.of[kind]
  local processor, shape = own.processor, own.shape
  local tokens, rows, embeddings
  local function side(name) return core.whole(given[name], what .. ": " .. name, 1) end
  if kind == "audio" then
    tokens, rows, embeddings = processor:audio(core.positive(given.seconds, what .. ": seconds"), shape)
  elseif kind == "video" then
    tokens, rows, embeddings = processor:video(side "frames", side "width", side "height", shape)
  else
    tokens, rows, embeddings = processor:image(side "width", side "height", shape)
  end
  local patches = 0
  for _, n in ipairs(rows) do patches = patches + n end
  return { kind = kind, tokens = tokens, rows = rows,
    embeddings = embeddings or patches / shape.patches_per_token }
end

--- Host time of an item in front of the encoder: decoding, scaling, cutting into patches. It follows from the pixels
--- that a client sends, by the engine's release. No source states it of sounds, which have none here.
---@param machine table of machine/prepared.lua
---@param item table as encoder.item takes it
---@param pixel_s number? of a pixel; default the engine's
---@return number seconds
function encoder.host_s(machine, item, pixel_s)
  local pixels = (item.width or item[1] or 0) * (item.height or item[2] or 0) * (item.frames or 1)
  return pixels * (pixel_s or machine.engine.values.pixel_s)
end

-- Passes ----------------------------------------------------------------------------------------------------

--- A step model that has tables of kernels, bound: that of the scenario, or the one that is shipped.
local function kernels_of(machine)
  local own = machine.step_policy
  local class = named_policies.class("steps", "kernels")
  local instance = policy.class_of(own) == class and own or class {}
  return Prepared.bind(machine, instance, "steps")
end

--- Whether ranks encode items of their own: what the engine's release does where nothing is stated.
local function has_whole_items(machine, options)
  local mode = options and options.mode or machine.engine and machine.engine.values.encoder_mode
  if mode ~= nil and mode ~= "weights" and mode ~= "data" then
    core.fail("encoder: mode: expected \"weights\" or \"data\", found %s", core.describe(mode))
  end
  return mode == "data"
end

--- A function that prices one pass over items on one replica, within what is priced around it: seconds.
---@param machine table of machine/prepared.lua
---@param options table? {mode = "weights" (tensor parallel) or "data" (whole items on ranks), default the engine's;
--- item_s = host time of an item inside of a pass}
function encoder.passes(machine, options)
  local description = encoder.of(machine.model)
  if not description then core.fail("%s has no encoder whose price is known", machine.model.name) end
  if machine.applied.options.language_model_only == true then
    core.fail("images: language_model_only leaves the encoder of %s out", machine.model.name)
  end
  local own, steps, whole = {}, kernels_of(machine), has_whole_items(machine, options)
  for _, name in ipairs { "vision", "audio" } do
    local about = description.of[name == "vision" and "image" or "audio"]
    own[#own + 1] = about and { name = name, kernels = require("steps.kernels.encoder").of(steps, about.vision, whole) }
  end
  local item_s = options and options.item_s or 0
  return function(items)
    local time_s = 0
    for _, each in ipairs(own) do
      local list = {}
      for _, item in ipairs(items) do
        if tables[item.kind] == each.name then list[#list + 1] = item end
      end
      if #list > 0 then time_s = time_s + each.kernels:time(list) end
    end
    return item_s > 0 and time_s + cost.record("encoder_items", item_s * #items, "assumed", 1, 0, 0, nil, "launch",
      "host time of items (deployment.encoder.item_s)", "host") or time_s
  end, description
end

--- A function that prices one pass over items, by itself.
---@return fun(items: table[]): {time_s: number, evidence_s: table<string, number>, operations: table[]}
function encoder.pricer(machine, options)
  local passes = encoder.passes(machine, options)
  return function(items)
    local tree = cost.explain(function() return passes(items) end)
    local evidence_s = {}
    for name, share in pairs(tree.evidence) do evidence_s[name] = share * tree.time_s end
    return { time_s = tree.time_s, evidence_s = evidence_s, operations = tree.rows }
  end
end

return encoder
