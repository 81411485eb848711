-- Images, sounds and videos of requests. A workload says their sizes. The processor of the model says how many tokens
-- each has, and the engine gets them as parts of the prompt's content (engine/serve/contract/items.h).
--
-- An item with an `id` is the same item wherever it comes: caches find it. One without is like no other.
local core = require "rooflua.base.core"
local encoder = require "rooflua.machine.encoder"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"
local shared = require "rooflua.border.encoding"

local encoding = {}

local Encoding = policy.define { name = "encoder", doc = "The encoder of the engines of a run." }

-- Items -----------------------------------------------------------------------------------------------------------

local FIRST, OWN, SIZES = 2 ^ 52, 2 ^ 51, 4096 -- contents of items are above those of a workload's texts
local groups = { "images", "video", "audio_s", "at" } -- `at`: tokens of text in front of the items

local function wrong(message, ...) error("workload: items: " .. message:format(...), 0) end

--- The kinds of items that have been seen: their number in the engine.
local function number_of(self, key, size)
  local number = self.numbers[key]
  if number then return number end
  local kind = encoder.item(self.description, size)
  number = #self.kinds + 1
  self.kinds[number], self.numbers[key], self.keys[number], self.sizes[number] = kind, number, key, size
  return number
end

local function segment_of(self, key, size, id)
  local number = number_of(self, key, size)
  local content
  if id == nil then
    self.count = self.count + 1
    content = FIRST + OWN + self.count
  else
    content = FIRST + (core.whole(id, "workload: items: id", 0) * SIZES + number) % OWN
  end
  return { content, self.kinds[number].tokens, number }
end

--- A list of tables, or the table that stands for a list of one.
local function list_of(value, what)
  if value == nil then return {} end
  if type(value) == "number" then return { { seconds = value } } end
  if type(value) ~= "table" then wrong("%s: expected a list, found %s", what, core.describe(value)) end
  local is_one = value.width ~= nil or value.frames ~= nil or type(value[1]) == "number" and what == "images"
  return is_one and { value } or value
end

local function size(value, what)
  if type(value) ~= "number" or not (value > 0) then
    wrong("%s: expected a number above 0, found %s", what, core.describe(value))
  end
  return value
end

--- The items of a request as content: {identity, tokens, kind} of each, in the order in which they stand.
local function content_of(self, items)
  local out = {}
  core.check_keys(items, groups, "workload: items", "key")
  for _, image in ipairs(list_of(items.images, "images")) do
    local width = size(image.width or image[1], "images: width")
    local height = size(image.height or image[2], "images: height")
    out[#out + 1] = segment_of(self, ("image %d x %d"):format(width, height),
      { width = width, height = height }, image.id)
  end
  for _, video in ipairs(list_of(items.video, "video")) do
    local frames = size(video.frames, "video: frames")
    local width, height = size(video.width, "video: width"), size(video.height, "video: height")
    out[#out + 1] = segment_of(self, ("video %d x %d x %d"):format(frames, width, height),
      { frames = frames, width = width, height = height }, video.id)
  end
  for _, sound in ipairs(list_of(items.audio_s, "audio_s")) do
    local seconds = size(type(sound) == "table" and sound.seconds or sound, "audio_s")
    out[#out + 1] = segment_of(self, ("audio %.6g"):format(seconds),
      { seconds = seconds }, type(sound) == "table" and sound.id or nil)
  end
  return out
end

--- The content of a prompt with its items behind so many tokens of text, or behind the part of the text with an
--- identity that goes on there.
local function merged(text, items, at)
  local out, place = {}, 0
  local function put()
    for _, each in ipairs(items) do out[#out + 1] = each end
    items = {}
  end
  for _, part in ipairs(text) do
    local left = at - place
    if left <= 0 then put() end
    if part[1] == 0 and left > 0 and left < part[2] then
      out[#out + 1] = { 0, left }
      put()
      out[#out + 1] = { 0, part[2] - left }
    else
      out[#out + 1] = part
    end
    place = place + part[2]
  end
  put()
  return out
end

--- A request whose items are tokens of its prompt.
local function sized(self, at_s, prompt, output, fields)
  local items = type(fields) == "table" and fields.items
  if not items then return at_s, prompt, output, fields end
  local list, added = content_of(self, core.table(items, "workload: items")), 0
  for _, each in ipairs(list) do added = added + each[2] end
  local copy = core.copy(fields)
  copy.items = nil
  if added > 0 then
    copy.content = merged(fields.content or prompt > 0 and { { 0, prompt } } or {}, list, items.at or 0)
  end
  return at_s, prompt + added, output, copy
end

local function sized_after(self, at_s, ...)
  if type(at_s) ~= "table" then return sized(self, at_s, ...) end
  local out = {}
  for i, each in ipairs(at_s) do out[i] = { sized(self, each[1], each[2], each[3], each[4]) } end
  return out
end

--- A workload's requests with items as the engine takes them.
local function with_tokens(self, source)
  return setmetatable({ shares_content = true,
    next = function() return sized(self, source:next()) end,
    done = source.done and function(_, ...) return sized_after(self, source:done(...)) end or nil,
    more = source.more and function() return sized(self, source:more()) end or nil,
    cancels = source.cancels and function() return source:cancels() end or nil }, { __index = source })
end

-- Rules -----------------------------------------------------------------------------------------------------------

local unlimited = 2 ^ 30

--- Bytes of one embedding, which has the width of the model and its format of activations.
local function embedding_bytes(model) return model.hidden_size * 2 end

--- What the engine of a replica does, and what deployment.encoder says instead. vLLM's numbers are tokens of a step and
--- at least the largest item; SGLang's are bytes.
---@param asked table deployment.encoder
---@param step integer? most tokens of a step
local function rules_of(prepared, asked, step)
  local of = prepared.engine and prepared.engine.values or {}
  local by_step = of.encoder_by_step and step or nil
  local cache = of.encoder_cache_bytes and math.floor(of.encoder_cache_bytes / embedding_bytes(prepared.model))
    or by_step or unlimited
  return { budget_tokens = asked.budget_tokens or by_step or 0, cache_tokens = asked.cache_tokens or cache,
    shares = of.encoder_shares ~= false, pins = of.encoder_pins ~= false, splits = of.encoder_splits ~= false,
    whole = of.encoder_whole == true }
end

--- How ranks of tp share the encoder's work, in words of rooflua.machine.encoder; nil: as the engine does.
local function mode_of(asked) return asked.mode == "tensor" and "weights" or asked.mode end

--- A pool of encoders as the engine reads it. Embeddings go over the network where nothing else is stated.
local function pool_of(reader, encoders, network)
  local prepared = encoders.prepared
  local hardware, engine = prepared.hardware, prepared.engine
  local bytes_per_s = network.bytes_per_s or hardware.network_bytes_per_s > 0 and hardware.network_bytes_per_s
    or hardware.link_bytes_per_s
  if not (bytes_per_s > 0) then
    reader:fail(encoders.place, "embeddings need a network: say network.bytes_per_s, %s states none", hardware.name)
  end
  local rules = rules_of(prepared, encoders.asked, engine and engine.values.max_num_batched_tokens)
  rules.shares, rules.whole, rules.splits = true, false, true
  return { replicas = encoders.count, rules = rules, bytes_per_token = embedding_bytes(prepared.model),
    bytes_per_s = bytes_per_s, alpha_s = network.alpha_s or schema.entry("network.alpha_s").default or 0 }
end

--- Says which workloads send items: those whose requests are a table with `sends_items`.
local function sends_items(source) return type(source) == "table" and source.sends_items == true end

--- A sentence of every output where encoders are described and no request needs one.
local function note_unused(all)
  local said = all.encoders and all.encoders.place .. ".encoder"
  for _, each in ipairs(all.replicas) do said = said or each.encoder and "deployment.encoder" end
  if not said then return end
  local first = all.replicas[1].prepared
  local notes = core.copy(first.engine_notes or {})
  notes[#notes + 1] = said .. " changes nothing: no request has images, sounds or videos"
  first.engine_notes = notes
end

--- Adds a machine on which items are encoded. Returns its number.
local function add_machine(self, prepared, asked)
  self.pricers[#self.pricers + 1] = shared.shared(encoder.pricer(prepared, { mode = mode_of(asked) }))
  return #self.pricers
end

local function add_replicas(self, reader, list)
  local first, machines = list[1].prepared, {}
  for i, each in ipairs(list) do
    local own, asked = each.prepared, each.encoder or {}
    if own.model.name ~= first.model.name then
      reader:fail("workload", "sends images, sounds or videos, and replicas run %s and %s: an item has other tokens in "
        .. "each", first.model.name, own.model.name)
    end
    machines[own] = machines[own] or add_machine(self, own, asked)
    each.scheduler.encodes = true
    self.config.replicas[i] = { machine = machines[own],
      rules = rules_of(own, asked, each.config.max_num_batched_tokens) }
  end
end

--- The instance that the engine asks about passes, and the requests as it takes them; nil and the requests where none
--- has items.
---@param all table pieces.of
---@param source any what the workload's requests(rng) returned
function encoding.of(reader, given, all, source)
  if not sends_items(source) then
    note_unused(all)
    return nil, source
  end
  local first = all.replicas[1].prepared
  local description = encoder.of(first.model)
  if not description then
    reader:fail("workload", "sends images, sounds or videos, and %s has no encoder whose layers are described",
      first.model.name)
  end
  local out = Encoding {}
  out.description, out.kinds, out.numbers, out.keys, out.sizes, out.count = description, {}, {}, {}, {}, 0
  out.machine = shared.shared(function(size) return encoder.host_s(first, size) end)
  out.pricers, out.config = {}, { replicas = {} }
  add_replicas(out, reader, all.replicas)
  if all.encoders then
    out.config.pool = pool_of(reader, all.encoders, schema.check_group(reader, "network", given.network))
    out.config.pool.machine = add_machine(out, all.encoders.prepared, all.encoders.asked)
  end
  return out, with_tokens(out, source)
end

--- What the engine calls: the time that a server takes for an item of that kind, before it goes to an engine.
function encoding.host_of(self)
  return function(number) return self.machine(self.sizes[number]) end
end

--- What the engine calls: the price of a pass over items of these kinds on such a machine. They are priced in the order
--- of their names.
function encoding.price_of(self)
  return function(machine, numbers)
    table.sort(numbers, function(a, b) return self.keys[a] < self.keys[b] end)
    local items = {}
    for i, number in ipairs(numbers) do items[i] = self.kinds[number] end
    local price = self.pricers[machine]
    if not price then native.fail("encoder: no such machine") end
    local found, operations = price(items), {}
    for i, row in ipairs(found.operations) do
      operations[i] = { name = row.name, evidence = row.evidence, time_s = row.time_s * (row.count or 1) }
    end
    return { time_s = found.time_s, evidence_s = found.evidence_s, operations = operations }
  end
end

return encoding
