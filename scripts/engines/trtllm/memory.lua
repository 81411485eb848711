--- How TensorRT-LLM divides the memory of a GPU: memory(facts) of scripts/engines/trtllm.lua.
---
---     kv      = (total - peak + pool of the dry run) x free_gpu_memory_fraction
---     tokens  = kv / bytes of a token, windows counted as whole layers
---
--- The peak is that of a dry run of one batch of max_num_tokens, with the graphs of decode steps. Before 1.0 an engine
--- is built first: its buffers follow from max_batch_size and max_num_tokens, and nothing is run.
---
--- Source: tensorrt_llm/_torch/pyexecutor/_util.py, KvCacheCreator; cpp/tensorrt_llm/batch_manager.
local forward = require "engines.memory.forward"
local loaded = require "engines.memory.loaded"

local floor, max, min = math.floor, math.max, math.min

local function cell_of(facts, stage)
  local counts, bytes = facts.counts, 0
  local part = counts.stages[stage].layers / facts.model.layers
  for _, each in ipairs(counts.kinds) do
    bytes = bytes + part * each.layers * (each.growing_bytes + each.bounded_bytes)
  end
  if facts.drafter and stage == #counts.stages then bytes = bytes + facts.drafter.kv_bytes_per_token end
  return bytes
end

--- States of recurrent layers are taken first, for every seat.
local function state_bytes(facts, stage)
  local counts, bytes = facts.counts, 0
  local part = counts.stages[stage].layers / facts.model.layers
  for _, each in ipairs(counts.kinds) do
    bytes = bytes + part * each.layers * (each.convolution_elements * counts.dtype_bytes
      + each.state_elements * facts.values.state_element_bytes)
  end
  return bytes * facts.seats
end

local function activation_bytes(facts)
  local tokens = facts.budget
  local logits = facts.seats * facts.model.vocab_size * facts.values.sampler_bytes
  local peak = forward.bytes(facts, tokens)
  return facts.values.built and peak + logits or max(peak, logits)
end

local function graph_bytes(facts)
  local values = facts.values
  if values.built or facts.eager then return 0 end
  local most = facts.largest_graph or 128
  return most > 1 and values.first_graph_bytes + most * facts.model.layers * values.graph_layer_bytes or 0
end

local function stage_of(facts, stage)
  local total, values = facts.hardware.usable_memory_bytes, facts.values
  local weights, runtime = loaded.bytes(facts, stage), values.runtime_bytes
  local activations, graphs, states = activation_bytes(facts), graph_bytes(facts), state_bytes(facts, stage)
  local free = total - weights - activations - graphs - runtime - states
  local most, cell = values["kv_cache_config.max_gpu_total_bytes"] or 0, cell_of(facts, stage)
  local kv = most > 0 and min(free * facts.share, most) or free * facts.share
  return { stage = stage, kv_bytes = kv, cell = cell, tokens = cell > 0 and max(0, floor(kv / cell)) or 0, parts = {
    { name = "weights", bytes = weights }, { name = "activations", bytes = activations },
    { name = "graphs", bytes = graphs }, { name = "states", bytes = states }, { name = "non-torch", bytes = runtime },
    { name = "left free", bytes = free - kv } } }
end

--- Whether some layers keep a window only.
local function has_windows(facts)
  for _, each in ipairs(facts.counts.kinds) do
    if each.bounded_bytes > 0 then return true end
  end
  return false
end

--- @param facts table applied/ledger.lua says which
return function(facts)
  local least
  for stage = 1, #facts.counts.stages do
    local own = stage_of(facts, stage)
    if not least or own.tokens < least.tokens then least = own end
  end
  local size = facts.block_size
  least.budget_bytes, least.counts_windows_whole = facts.hardware.usable_memory_bytes, true
  least.blocks = facts.blocks or min(floor(least.tokens / size), facts.most_blocks or math.huge)
  least.block_size, least.groups = size, 1
  least.tokens = least.blocks * size
  least.block_bytes, least.request_bytes = least.cell * size, facts.max_model_len * least.cell
  if facts.values.pools_by_window and has_windows(facts) then
    least.assumes = facts.engine.title .. " keeps windows in pools of their own here; they are counted as whole layers"
  end
  least.concurrency, least.longest_tokens = least.tokens / facts.max_model_len, least.tokens
  return least
end
