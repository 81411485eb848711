-- The KV blocks of a run: what the engine's own rule leaves (applied/ledger.lua), in blocks of the layers whose cache
-- grows, as a run counts them. What windows and states of a request take is counted by the run (seat_blocks).
local core = require "rooflua.base.core"
local ledger = require "rooflua.applied.ledger"
local spec = require "rooflua.spec"

local memory = {}

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

--- @param applied table of application.of, with the keys of the deployment and the scheduler
--- @param options table of spec.deployment, without kv_blocks
--- @return integer? blocks that there is room for, whatever number a scenario states; nil where no layer's cache grows
--- @return number? share of the memory, as the engine means it
function memory.blocks(applied, options)
  local one = with_blocks(options, 1) -- also checks the options
  local drafter = options.drafter_weight_bytes and { weight_bytes = options.drafter_weight_bytes,
    kv_bytes_per_token = options.drafter_kv_bytes_per_token or 0 } or nil
  local facts = ledger.facts(applied, options.model, options.hardware, { drafter = drafter,
    adapter_bytes = options.adapter_bytes, redundant_expert_bytes = options.redundant_expert_bytes })
  facts.blocks, facts.most_blocks = nil, nil
  local found = ledger.of(facts)
  if one.kv_bytes_per_block == 0 then return nil end
  local blocks = math.floor((found.kv_bytes + states_of(found)) / one.kv_bytes_per_block) - 1
  if found.counts_windows_whole or is_uniform(facts.counts) then blocks = found.blocks - 1 end
  blocks = math.min(blocks, applied.keys["engine.most_kv_blocks"] or math.huge)
  if blocks < 1 + one.seat_blocks then
    spec.deployment(options) -- says what would fit, where the program's own estimate does not fit either
    core.fail("deployment: %s does not fit on %s as %s %s divides its memory: %s", facts.model.name,
      facts.hardware.name, facts.engine.name, facts.release, found.reason or "no room for the states of a request")
  end
  return blocks, facts.share
end

return memory
