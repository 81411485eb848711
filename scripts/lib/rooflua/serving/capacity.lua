-- How many tokens fit: the memory of a deployment as its engine divides it, and what would make it start.
local core = require "rooflua.base.core"
local held = require "rooflua.serving.held"
local kinds = require "rooflua.intervals.kinds"
local ledger = require "rooflua.applied.ledger"
local memory = require "rooflua.applied.memory"
local Reader = require "rooflua.scenario.reader"
local served = require "rooflua.applied.served"
local spec = require "rooflua.spec"
local tiers = require "rooflua.applied.tiers"

local capacity = {}

local unlike = "no engine's account of memory was compared with layers of the kind %s, which a file declares"

--- The keys of a scenario that its ledger depends on.
capacity.keys = { "model", "hardware", "engine", "deployment", "scheduler", "speculation", "adapters", "experts" }

local keys = { "model", "hardware", "engine", "deployment", "scheduler", "speculation", "adapters", "experts", "tiers" }

--- Adds the pool of experts: {gpus, weight_bytes, needed_bytes, budget_bytes} of one of its GPUs; or why it is too
--- small.
local function add_experts(found)
  local facts = found.facts
  if facts.expert_gpus == 0 then return end
  local options = core.copy(facts.counted, { model = facts.model, hardware = facts.hardware, kv_blocks = 1,
    max_num_batched_tokens = facts.budget, memory_utilization = facts.share })
  local ok, deployment = pcall(spec.deployment, options)
  if ok then
    found.experts = { gpus = facts.expert_gpus, weight_bytes = deployment.expert_weight_bytes,
      needed_bytes = deployment.expert_needed_bytes, budget_bytes = facts.share * facts.hardware.usable_memory_bytes }
  elseif found.starts then
    found.starts, found.lacks_experts = false, true
    found.reason = (tostring(deployment):gsub("^.-deployment%.expert_gpus: ", ""))
  end
end

--- A number of drafts alone, checked: {drafts}; of a speculation as scenarios have it nothing is checked here.
local function check_speculation(given)
  if given == nil or core.plain(core.table(given, "engines.capacity: speculation")).speculator ~= nil then return end
  core.check_keys(core.plain(given), { "drafts" }, "engines.capacity: speculation")
  core.positive(core.plain(given).drafts, "engines.capacity: speculation.drafts")
end

--- The ledger of a deployment that is described as in a scenario.
---@param about table {model, hardware, engine?, deployment?, scheduler?, speculation?, adapters?, experts?, tiers?}
---@param reader table? what errors are about
function capacity.of(about, reader)
  about = core.plain(core.table(about or {}, "engines.capacity"))
  core.check_keys(about, keys, "engines.capacity")
  reader = reader or Reader.new "engines.capacity"
  local given = {}
  for _, key in ipairs(keys) do given[key] = key ~= "tiers" and about[key] or nil end
  for _, key in ipairs { "model", "hardware" } do
    if about[key] == nil then reader:fail(key, "is missing") end
    given[key] = reader:at(key, spec[key], about[key])
  end
  reader:at("speculation", check_speculation, about.speculation)
  local merged, _, _, _, applied = served.of(reader, given, {})
  local found = memory.ledger(applied, memory.options(merged.deployment, given.model, given.hardware,
    held.of(reader, merged, applied)))
  found.note, found.notes = applied.note, applied.notes
  if found.assumes then found.note = (found.note and found.note .. "; " or "") .. found.assumes end
  add_experts(found)
  local rows, told = tiers.of_capacity(reader, applied, given.model, found, about.tiers)
  found.tiers = rows
  local own = kinds.own_layers(given.model)
  if own then told = core.copy(told, { [#told + 1] = unlike:format(own) }) end
  if #told > 0 then
    found.notes = core.copy(found.notes)
    for _, sentence in ipairs(told) do found.notes[#found.notes + 1] = sentence end
  end
  return found
end

-- What would fit --------------------------------------------------------------------------------------------------

local most_tp = 64

--- The smallest share, in hundredths, with which it would start; nil if none would.
local function share_that_fits(facts)
  for hundredths = math.floor(facts.share * 100 + 1e-6) + 1, 99 do
    if ledger.of(ledger.changed(facts, { share = hundredths / 100 })).starts then return hundredths / 100 end
  end
end

--- The smallest multiple of tp with which it would start.
local function tp_that_fits(facts)
  local tp = facts.tp * 2
  while tp <= most_tp do
    local ok, found = pcall(function() return ledger.of(ledger.with_tp(facts, tp)) end)
    if ok and found.starts then return tp end
    tp = tp * 2
  end
end

--- What would start where a deployment does not: {max_model_len, max_num_seqs, kv_blocks, share, tp}, each nil where it
--- does not help. Where the experts do not fit, the reason says it, and no number makes up for kernels.
function capacity.fits(found)
  if found.lacks_experts or found.lacks == "kernels" then return {} end
  local facts, out = found.facts, {}
  if found.lacks == "seats" then out.max_num_seqs = found.state_blocks end
  if found.lacks == "length" and facts.blocks then
    out.kv_blocks = math.ceil(found.request_bytes / found.block_bytes)
  end
  if found.longest_tokens >= found.block_size and found.longest_tokens < facts.max_model_len then
    out.max_model_len = found.longest_tokens
  end
  out.share, out.tp = share_that_fits(facts), tp_that_fits(facts)
  return out
end

--- The option of an engine that gives a key; nil where its command has none.
function capacity.option_of(engine, key)
  for _, option in ipairs(engine.options) do
    if option.key == key and (option.flag or option.line) then return option end
  end
end

return capacity
