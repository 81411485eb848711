-- The KV blocks of a run: what the engine's own rule leaves (applied/ledger.lua), in blocks of the layers whose cache
-- grows, as a run counts them. What windows and states of a request take is counted by the run (seat_blocks).
local core = require "rooflua.base.core"
local has_states = require "engines.rules.states"
local ledger = require "rooflua.applied.ledger"
local schema = require "rooflua.scenario.schema"
local spec = require "rooflua.spec"

local memory = {}

local read_by_spec = schema.read_by("deployment", "spec")

--- Whether every layer keeps every token: blocks are then those that the engine itself counts.
local function is_uniform(counts)
  for _, each in ipairs(counts.kinds) do
    if each.growing_bytes == 0 or each.bounded_bytes > 0 then return false end
  end
  return true
end

local function states_of(found)
  for _, each in ipairs(found.parts) do
    if each.name == "states" then return each.bytes end
  end
  return 0
end

--- The same options with a number of blocks, as a Deployment.
local function with_blocks(options, blocks)
  local given = core.copy(options)
  given.kv_blocks = blocks
  return spec.deployment(given)
end

local function counted_as_blocks(facts, found) return found.counts_windows_whole or is_uniform(facts.counts) end

--- What ledger.facts gets of options of spec.deployment beside the deployment: what is held next to the weights.
local function held_of(options)
  return { drafter = options.drafter_weight_bytes and { weight_bytes = options.drafter_weight_bytes,
      kv_bytes_per_token = options.drafter_kv_bytes_per_token or 0 } or nil,
    adapter_bytes = options.adapter_bytes, redundant_expert_bytes = options.redundant_expert_bytes }
end

--- The keys of a deployment that spec.deployment takes, with the model and the GPU.
function memory.options(deployment, model, hardware, more)
  local out = core.copy(more)
  for key, value in pairs(core.plain(deployment)) do
    if read_by_spec[key] then out[key] = value end
  end
  out.model, out.hardware = model, hardware
  return out
end

--- Tokens of a block where the engine makes blocks as large as a state; nil where it does not, or the scenario says how
--- many there are.
--- @param options table of spec.deployment
function memory.block_size(applied, options)
  if applied.states_block_size or not has_states(options.model, applied.engine.values.states_as_windows) then
    return nil
  end
  local facts = ledger.facts(applied, options.model, options.hardware, held_of(options))
  local ok, found = pcall(ledger.of, facts) -- what does not fit is said where the blocks are counted
  return ok and found.block_size or nil
end

--- The ledger of a deployment as its engine divides the memory, with the blocks that are stated. Stated blocks of a
--- model with windows or states are blocks of the layers that grow: as many bytes.
--- @param applied table of application.of or served.of
--- @param options table of spec.deployment
function memory.ledger(applied, options)
  local more, stated = held_of(options), options.kv_blocks
  more.blocks = applied.keys["engine.kv_blocks"]
  local facts = ledger.facts(applied, options.model, options.hardware, more)
  if not stated then return ledger.of(facts) end
  local found = ledger.of(ledger.changed(facts, { blocks = stated }))
  if found.groups == 1 or counted_as_blocks(facts, found) then return found end
  local bytes = stated * with_blocks(options, stated).kv_bytes_per_block
  return ledger.of(ledger.changed(facts, { pool_bytes = bytes }))
end

--- @param applied table of application.of, with the keys of the deployment and the scheduler
--- @param options table of spec.deployment, without kv_blocks
--- @param is_room boolean? whether numbers of blocks that options of the engine state do not count
--- @return integer? blocks that there is room for; nil where no layer's cache grows
--- @return number? share of the memory, as the engine means it
--- @return table? found the ledger, where no option of the engine bounds the blocks
function memory.blocks(applied, options, is_room)
  local one = with_blocks(options, 1) -- also checks the options
  local more, most = held_of(options), not is_room and applied.keys["engine.most_kv_blocks"] or math.huge
  more.blocks = not is_room and applied.keys["engine.kv_blocks"] or nil
  local facts = ledger.facts(applied, options.model, options.hardware, more)
  facts.most_blocks = nil
  local found = ledger.of(facts)
  if one.kv_bytes_per_block == 0 then return nil end
  local null = facts.blocks and 0 or 1 -- the engine's null block
  local bytes = facts.blocks and found.blocks * found.block_bytes or found.kv_bytes + states_of(found)
  local blocks = math.floor(bytes / one.kv_bytes_per_block) - null
  if counted_as_blocks(facts, found) then blocks = found.blocks - null end
  blocks = math.min(blocks, most)
  if blocks < 1 + one.seat_blocks then
    spec.deployment(options) -- says what would fit, where the program's own estimate does not fit either
    core.fail("deployment: %s does not fit on %s as %s %s divides its memory: %s", facts.model.name,
      facts.hardware.name, facts.engine.name, facts.release, found.reason or "no room for the states of a request")
  end
  return blocks, facts.share, most == math.huge and not is_room and found or nil
end

return memory
