--- How vLLM divides the memory of a GPU, and what its log says of it: memory(facts) of scripts/engines/vllm.lua.
---
---     kv      = utilization x total - weights - activations - non-torch [- estimate of the graphs], or as stated
---     blocks  = kv / bytes of a block; the stage with the fewest blocks decides
---
--- Source: vllm/v1/worker/gpu_worker.py, determine_available_memory; before 0.8 vllm/worker/worker.py,
--- determine_num_available_blocks. Values by release: rows of scripts/engines/vllm.lua.
local forward = require "engines.memory.forward"
local loaded = require "engines.memory.loaded"
local pages = require "engines.memory.pages"

local floor, max, min = math.floor, math.max, math.min

--- Tokens of the dummy run. Before 0.8 prompts were cut only where an option asked, or where requests may be long.
local function profiled_tokens(facts)
  local values = facts.values
  if values.generation ~= "V0" then return facts.budget, true end
  if values.enable_chunked_prefill then return values.max_num_batched_tokens, false end
  local stated = facts.is_stated "max_num_batched_tokens" and facts.budget
  return stated or max(2048, facts.max_model_len), true
end

--- The encoder over as many of the largest images (or sounds) as its budget holds, one at least: the widest layer of
--- their patches with their output; and that output alone, which is kept while the dummy run of the language model
--- follows.
--- Source: vllm/v1/worker/gpu_model_runner.py, profile_run: encoder_cache["tmp"].
--- @return number peak bytes of the pass
--- @return number kept bytes
local function encoder_bytes(facts, tokens)
  local vision = facts.images and (facts.model.vision or facts.model.audio)
  if not vision then return 0, 0 end
  local largest = facts.image_tokens
  tokens = largest > 0 and max(1, floor(tokens / largest)) * largest or tokens
  local kept = 2 * tokens * max(facts.model.hidden_size, vision.embedding_width)
  local patches = vision.patches_per_token * (vision.intermediate_size + 4 * vision.hidden_size)
  return 2 * tokens * patches + kept, facts.values.generation ~= "V0" and kept or 0
end

--- Entries of an index, FP8 with a scale, that a step with prompts gathers from the cache.
local function index_bytes(facts)
  local bytes = 0
  for _, each in ipairs(facts.model.attention) do
    local index = each.index
    local entries = facts.values.index_buffer_requests * facts.max_model_len
    if index then bytes = max(bytes, entries * (index.head_dim + 4)) end
  end
  return bytes
end

--- Dense latent attention projects cached prefixes of prompts up, some tokens at once: the dummy run has room for their
--- keys and values beside the hidden states.
local function prefix_bytes(facts, tokens)
  local most, page = facts.values.latent_prefix_tokens, facts.seats * facts.block_size
  if not most then return 0 end
  local cached, widest = max(min(max(8 * facts.max_model_len, 4 * page), most), page), 0
  for _, each in ipairs(facts.model.attention) do
    local mla = not each.index and each.latent
    if mla then widest = max(widest, each.heads / facts.tp * (mla.qk_nope_head_dim + mla.v_head_dim)) end
  end
  if widest == 0 then return 0 end
  return (cached * widest + tokens * 3 * facts.model.hidden_size) * facts.counts.dtype_bytes
end

--- Peak of the dummy run besides the weights.
local function activation_bytes(facts)
  local tokens, samples = profiled_tokens(facts)
  local encoder, kept = encoder_bytes(facts, tokens)
  local peak = max(forward.bytes(facts, tokens) + index_bytes(facts), prefix_bytes(facts, tokens))
  if samples then
    local rows = min(facts.seats, tokens)
    peak = max(peak, facts.sampler_bytes * rows * facts.model.vocab_size
      + tokens * facts.model.hidden_size * facts.counts.dtype_bytes)
  end
  return max(encoder, peak + kept)
end

--- Numbers of tokens for which graphs are captured, up to the largest.
local function graph_sizes(most)
  local small = most >= 4 and 3 or most >= 2 and 2 or most >= 1 and 1 or 0
  local dense = floor(min(most, 256 - 8) / 8)
  return small + dense + (most >= 256 and floor((most - 256) / 16) + 1 or 0)
end

--- Before graphs are captured, vLLM estimates their memory from the first ones: a part for the largest, and for each
--- of the piecewise graphs and those of decode steps a part that grows with the layers. Where all piecewise graphs are
--- captured instead, they share memory.
local function captured_bytes(facts)
  local values = facts.values
  if facts.eager then return 0 end
  local rows = facts.seats * (1 + (facts.drafts or 0))
  local own = values.max_cudagraph_capture_size
  local most = facts.is_stated "max_cudagraph_capture_size" and facts.largest_graph or min(2 * rows, own)
  local graphs = values.piecewise_graph_share * graph_sizes(most) + graph_sizes(min(most, rows))
  return values.first_graph_bytes + graphs * facts.model.layers * values.graph_layer_bytes
end

--- What of it is taken from the KV cache.
local function graph_bytes(facts) return facts.values.graphs_counted and captured_bytes(facts) or 0 end

--- Bytes of a token in one layer of a kind. Latent attention with an index keeps its FP8 cache with scales and the
--- rotated part in 16 bit.
local function growing_bytes(facts)
  return function(kind)
    if kind.kind == "latent_sparse" and facts.counts.kv_element_bytes == 1 then
      return facts.values.sparse_latent_bytes + kind.growing_bytes - 576
    end
    return kind.growing_bytes
  end
end

--- One stage: what it has room for.
local function stage_of(facts, stage, requested)
  local values = facts.values
  local weights = loaded.bytes(facts, stage)
  local activations, graphs = activation_bytes(facts), graph_bytes(facts)
  local runtime = values.runtime_bytes
  local layout = pages.layout(facts, stage, facts.block_size, values.state_page_alignment)
  local beside = weights + activations + runtime + graphs
  local kv = values.kv_cache_memory_bytes or requested - beside
  local blocks = layout.block_bytes > 0 and floor(kv / layout.block_bytes) or 0
  return { stage = stage, kv_bytes = kv, layout = layout, blocks = blocks, needed_bytes = beside + kv, parts = {
    { name = "weights", bytes = weights }, { name = "activations", bytes = activations },
    { name = "graphs", bytes = graphs }, { name = "non-torch", bytes = runtime } } }
end

--- Blocks of the pool, of which the null block is one, and those that the check at start has for a request: it counts
--- some layouts with more bytes.
local function blocks_of(facts, least)
  local layout = least.layout
  if facts.blocks then return facts.blocks, facts.blocks end
  local bytes = facts.pool_bytes or least.kv_bytes
  local blocks = facts.pool_bytes and floor(bytes / layout.block_bytes) or max(0, least.blocks)
  return blocks, layout.checked_bytes and floor(bytes / layout.checked_bytes) or blocks
end

--- The number that the log calls the size of the cache.
local function printed_tokens(facts, layout, blocks, concurrency)
  if #layout.list == 0 then return blocks * layout.block_size end
  if facts.values.prints_requests then return floor(concurrency * facts.max_model_len) end
  return floor(blocks / layout.groups) * layout.block_size
end

--- The division with a sampler.
--- @param sampler_bytes number of a seat and word of the vocabulary
local function divided(facts, sampler_bytes)
  local values, total = facts.values, facts.hardware.usable_memory_bytes
  facts.sampler_bytes = sampler_bytes
  facts.groups, facts.state_element_bytes = values.layer_groups, values.state_element_bytes
  facts.token_bytes = growing_bytes(facts)
  facts.in_flight = facts.budget * values.in_flight_steps
  facts.state_blocks = facts.prefix_caching and values.cached_state_blocks or 1
  local requested, least = facts.share * total, nil
  for stage = 1, #facts.counts.stages do
    local own = stage_of(facts, stage, requested)
    if not least or own.blocks < least.blocks then least = own end
  end
  local layout = least.layout
  local blocks, checked = blocks_of(facts, least)
  local one = pages.blocks_of(layout, facts.max_model_len, facts)
  local concurrency = blocks / pages.blocks_of(layout, facts.max_model_len, facts, true)
  least.budget_bytes = values.kv_cache_memory_bytes and least.needed_bytes or requested
  least.counts_windows_whole, least.captured_bytes = not values.layer_groups, captured_bytes(facts)
  least.blocks, least.block_size, least.block_bytes = blocks, layout.block_size, layout.block_bytes
  least.groups, least.concurrency, least.is_short = layout.groups, concurrency, one > checked
  least.request_bytes = one * (layout.checked_bytes or layout.block_bytes)
  least.state_blocks = pages.has_states(layout) and blocks or nil
  least.prints_capacity = #layout.list == 0 or values.prints_requests
  least.tokens = printed_tokens(facts, layout, blocks, concurrency)
  least.longest_tokens = pages.longest(layout, checked, facts)
  return least
end

local function is_too_small(found) return found.kv_bytes <= 0 or found.blocks < 1 or found.is_short end

--- Where a release does not decide which sampler runs, it is the smaller one if the engine starts with that alone.
--- @param facts table applied/ledger.lua says which
--- @return table {parts, budget_bytes, kv_bytes, blocks, block_size, block_bytes, groups, tokens, concurrency,
---   longest_tokens, request_bytes, is_short, state_blocks, stage, assumes = a sentence or nil}
return function(facts)
  local other_bytes = facts.values.other_sampler_bytes
  local found = divided(facts, facts.values.sampler_bytes)
  if not other_bytes or not is_too_small(found) then return found end
  local other = divided(facts, other_bytes)
  if is_too_small(other) then return found end
  other.assumes = ("%s %s starts with FlashInfer's sampler and not with PyTorch's: FlashInfer is taken to be installed "
    .. "(VLLM_USE_FLASHINFER_SAMPLER says)"):format(facts.engine.title, facts.release)
  return other
end
