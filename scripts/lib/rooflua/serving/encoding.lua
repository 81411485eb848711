-- The encoder of the engines of a run: its rules, what passes over images, sounds and videos take, and replicas that
-- only encode.
local core = require "rooflua.base.core"
local encoder = require "rooflua.machine.encoder"
local encoders = require "rooflua.serving.encoders"
local items = require "rooflua.machine.items"
local policy = require "rooflua.policy"
local processors = require "rooflua.border.processors"
local schema = require "rooflua.scenario.schema"
local shared = require "rooflua.border.encoding"

local encoding = {}

local Encoding = policy.define { name = "encoder", doc = "The encoder of the engines of a run." }

-- Rules -----------------------------------------------------------------------------------------------------------

local unlimited = 2 ^ 30

--- Bytes of one embedding in 16 bit: of the widest encoder.
local function embedding_bytes(model)
  return 2 * math.max(model.hidden_size, model.vision and model.vision.embedding_width or 0,
    model.audio and model.audio.embedding_width or 0)
end

--- What the engine of a replica does, and what deployment.encoder says instead. vLLM's numbers are tokens of a step and
--- at least the largest item; SGLang's are bytes.
---@param asked table deployment.encoder
---@param step integer? most tokens of a step
local function rules_of(prepared, asked, step)
  local of = prepared.engine and prepared.engine.values or {}
  local by_step = of.encoder_by_step and step and math.max(step, processors.largest(prepared.model)) or nil
  local cache = of.encoder_cache_bytes and math.floor(of.encoder_cache_bytes / embedding_bytes(prepared.model))
    or by_step or unlimited
  return { budget_tokens = asked.budget_tokens or by_step or 0, cache_tokens = asked.cache_tokens or cache,
    shares = of.encoder_shares ~= false, pins = of.encoder_pins ~= false, splits = of.encoder_splits ~= false,
    whole = of.encoder_whole == true }
end

--- How ranks of tp share the encoder's work, in words of rooflua.machine.encoder; nil: as the engine does.
local function mode_of(asked) return asked.mode == "tensor" and "weights" or asked.mode end

--- A pool of encoders as the engine reads it. Embeddings go over the links of network.path, or where it names none over
--- a network of their own.
---@param over_links boolean
local function pool_of(reader, pool, network, over_links)
  local prepared = pool.prepared
  local hardware, engine = prepared.hardware, prepared.engine
  local bytes_per_s = network.bytes_per_s or over_links and 0
    or hardware.network_bytes_per_s > 0 and hardware.network_bytes_per_s or hardware.link_bytes_per_s
  if not over_links and not (bytes_per_s > 0) then
    reader:fail(pool.place, "embeddings need a network: say network.bytes_per_s, %s states none", hardware.name)
  end
  local rules = rules_of(prepared, pool.asked, engine and engine.values.max_num_batched_tokens)
  rules.shares, rules.whole, rules.splits = true, false, true
  return { replicas = pool.count, rules = rules, bytes_per_token = embedding_bytes(prepared.model),
    over_links = over_links,
    bytes_per_s = bytes_per_s, alpha_s = network.alpha_s or schema.entry("network.alpha_s").default or 0 }
end

--- A sentence of every output.
local function note(prepared, sentence)
  local notes = core.copy(prepared.engine_notes or {})
  if not core.is_among(sentence, notes) then notes[#notes + 1] = sentence end
  prepared.engine_notes = notes
end

--- A sentence of every output where encoders are described and no request needs one.
local function note_unused(all)
  local said = all.encoders and all.encoders.place .. ".encoder"
  for _, each in ipairs(all.replicas) do said = said or each.encoder and "deployment.encoder" end
  if not said then return end
  note(all.replicas[1].prepared, said .. " changes nothing: no request has images, sounds or videos")
end

--- Adds a machine on which items are encoded. Returns its number.
local function add_machine(self, prepared, asked)
  self.pricers[#self.pricers + 1] = shared.shared(encoder.pricer(prepared, { mode = mode_of(asked),
    item_s = asked.item_s }))
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
    local has_budget = asked.budget_tokens and asked.budget_tokens > 0
    if has_budget and not each.scheduler.follows_items then
      reader:fail("deployment.encoder.budget_tokens", "the scheduler %s asks for no room of the encoder; vllm_v1 and "
        .. "those that extend it do", tostring(each.scheduler.name))
    end
    self.config.replicas[i] = { machine = machines[own],
      rules = rules_of(own, asked, each.config.max_num_batched_tokens) }
  end
end

--- The instance that the engine asks about passes, and the requests as it takes them; nil and the requests where none
--- has items.
---@param all table pieces.of
---@param source any what the workload's requests(rng) returned
function encoding.of(reader, given, all, source)
  if not items.are_in(source) then
    note_unused(all)
    return nil, source
  end
  local first = all.replicas[1].prepared
  local description = encoder.of(first.model)
  if not description then
    reader:fail("workload", "sends images, sounds or videos, and %s has no encoder whose layers are described",
      first.model.name)
  end
  local out = items.begin(Encoding {}, description)
  local asked = all.replicas[1].encoder or {}
  out.machine = shared.shared(function(size) return encoder.host_s(first, size, asked.pixel_s) end)
  out.is_stated = ((all.encoders and all.encoders.asked or asked).item_s or 0) > 0
  out.pricers, out.config, out.prepared = {}, { replicas = {} }, first
  add_replicas(out, reader, all.replicas)
  note(first, out.is_stated and encoder.few_rows or encoder.doubt)
  if description.takes.audio then note(first, encoder.sounds) end
  if all.encoders then
    out.config.pool = pool_of(reader, all.encoders, schema.check_group(reader, "network", given.network),
      #all.transfer.path > 0)
    out.config.pool.machine = add_machine(out, all.encoders.prepared, all.encoders.asked)
    local gpus = encoders.gpus(all.encoders)
    note(first, ("encoder: %d of the GPUs only encode%s"):format(gpus,
      all.pools and "; GPU-hours and dollars of pools are without them" or ""))
  end
  return out, items.with_tokens(out, source)
end

--- What intervals read of the passes of a run: {prepared, evidence of a pass over the first item, host_s = of preparing
--- an item, the mean, is_pool, replicas}; nil where no item was sent.
function encoding.told(self)
  local sum, count = 0, 0
  for number, uses in ipairs(self.uses) do
    sum, count = sum + uses * self.machine(self.sizes[number]), count + uses
  end
  if count == 0 then return nil end
  local found = self.pricers[#self.pricers] { self.kinds[1] }
  local evidence = {}
  for name, seconds in pairs(found.evidence_s) do evidence[name] = seconds / found.time_s end
  return { prepared = self.prepared, evidence = evidence, host_s = self.is_stated and 0 or sum / count,
    is_pool = self.config.pool ~= nil,
    replicas = #self.config.replicas }
end

--- What the engine calls: the time that a server takes for an item of that kind, before it goes to an engine.
function encoding.host_of(self)
  return function(number) return self.machine(self.sizes[number]) end
end

--- What the engine calls: what was sent of that kind, as workloads write it: {the list's name, the item}.
function encoding.size_of(self)
  return function(number)
    local size, kind = self.sizes[number], self.kinds[number].kind
    if kind == "image" then return { "images", { size.width, size.height } } end
    if kind == "audio" then return { "audio_s", size.seconds } end
    return { "video", { frames = size.frames, width = size.width, height = size.height } }
  end
end

--- What the engine calls: the price of a pass over items of these kinds on such a machine. They are priced in the order
--- of their names.
function encoding.price_of(self)
  return function(machine, numbers)
    table.sort(numbers, function(a, b) return self.keys[a] < self.keys[b] end)
    local list, operations = {}, {}
    for i, number in ipairs(numbers) do list[i] = self.kinds[number] end
    local found = self.pricers[machine](list)
    for i, row in ipairs(found.operations) do
      operations[i] = { name = row.name, evidence = row.evidence, time_s = row.time_s * (row.count or 1) }
    end
    return { time_s = found.time_s, evidence_s = found.evidence_s, operations = operations }
  end
end

return encoding
