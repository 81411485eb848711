--- How SGLang divides the memory of a GPU: memory(facts) of scripts/engines/sglang.lua.
---
---     rest    = free after loading - free before loading x (1 - mem_fraction_static) - what is reserved for images
---     tokens  = rest / bytes of a token in all layers, down to the page
---
--- What is free before loading is the GPU's memory without context and communicators. Activations and graphs have to
--- fit into the part that mem_fraction_static leaves; nothing is measured in a dummy run. It prints GB and means GiB.
---
--- Source: python/sglang/srt/model_executor/model_runner.py, profile_max_num_token; for windows and states the
--- functions beside it (set_num_token_hybrid, handle_max_mamba_cache).
local loaded = require "engines.memory.loaded"

local floor, max, min = math.floor, math.max, math.min

--- Bytes of one token in the layers that grow, and in those with windows; of one request's states.
local function cells_of(facts, stage)
  local counts, growing, window, state = facts.counts, 0, 0, 0
  local part = counts.stages[stage].layers / facts.model.layers
  for _, each in ipairs(counts.kinds) do
    growing = growing + part * each.layers * each.growing_bytes
    window = window + part * each.layers * each.bounded_bytes
    state = state + part * each.layers * (each.convolution_elements * counts.dtype_bytes
      + each.state_elements * facts.values.state_element_bytes)
  end
  if facts.drafter and stage == #counts.stages then growing = growing + facts.drafter.kv_bytes_per_token end
  return { growing = growing, window = window, state = state }
end

--- States first: r / (1 + r) of the rest for them, a ratio that users may set.
local function divided(facts, cells, rest)
  if cells.state == 0 then return rest, 0 end
  local ratio = facts.values.mamba_full_memory_ratio
  local slots = floor(rest * ratio / (1 + ratio) / cells.state)
  return rest - slots * cells.state, max(0, slots - facts.values.spare_state_slots)
end

--- Tokens of the pool: of windows only a part is kept.
local function tokens_of(facts, cells, bytes)
  local ratio = cells.window > 0 and cells.growing > 0 and facts.values.swa_full_tokens_ratio or 1
  local cell = cells.growing + ratio * cells.window
  if cell == 0 then return 0, 0 end
  return max(0, floor(bytes / cell / facts.block_size) * facts.block_size), cell
end

local function stage_of(facts, stage)
  local total, values = facts.hardware.usable_memory_bytes, facts.values
  local before = total - values.runtime_bytes
  local weights = loaded.bytes(facts, stage)
  local reserve = before * (1 - facts.share)
  local rest = before - weights - reserve - values.encoder_reserve_bytes
  local cells = cells_of(facts, stage)
  local bytes, slots = divided(facts, cells, rest)
  local tokens, cell = tokens_of(facts, cells, bytes)
  local parts = { { name = "weights", bytes = weights }, { name = "states", bytes = rest - bytes },
    { name = "activations and graphs", bytes = reserve }, { name = "non-torch", bytes = values.runtime_bytes } }
  if values.encoder_reserve_bytes > 0 then
    table.insert(parts, { name = "images", bytes = values.encoder_reserve_bytes })
  end
  return { stage = stage, kv_bytes = bytes, tokens = tokens, cell = cell, slots = slots, parts = parts }
end

--- Requests at once that the engine allows on a rank of divided attention: a formula of the rank's pool, and of the
--- slots for states, of which a request may hold several.
local function running_requests(facts, found)
  local bound = floor(min(max(found.tokens / facts.max_model_len * 512, 2048), 4096))
  bound = min(bound, facts.is_stated "max_running_requests" and facts.seats or bound)
  if found.slots == 0 then return bound end
  local of_request = facts.prefix_caching and facts.values.state_slots or 1
  local seats = max(1, floor(found.slots / of_request))
  if seats < facts.seats then
    found.assumes = ("%s runs %d requests at once: it has %d slots for states, and a request may hold %d"):format(
      facts.engine.title, seats, found.slots, of_request)
  end
  return min(bound, seats), seats
end

--- @param facts table applied/ledger.lua says which
return function(facts)
  local least
  for stage = 1, #facts.counts.stages do
    local own = stage_of(facts, stage)
    if not least or own.tokens < least.tokens then least = own end
  end
  least.tokens = facts.blocks and facts.blocks * facts.block_size
    or min(least.tokens, (facts.most_blocks or math.huge) * facts.block_size)
  least.budget_bytes = facts.hardware.usable_memory_bytes
  least.block_size, least.blocks = facts.block_size, floor(least.tokens / facts.block_size)
  least.block_bytes, least.groups = least.cell * facts.block_size, 1
  least.concurrency, least.longest_tokens = least.tokens / facts.max_model_len, least.tokens
  least.request_bytes = facts.max_model_len * least.cell
  least.running_requests, least.state_seats = running_requests(facts, least)
  return least
end
