-- KV blocks of DeepSeek-V4 as vLLM lays them out. Each layer keeps a window of tokens; layers with a ratio also keep
-- an entry for so many tokens, the states of the compressor that makes these, and where there is an index its entries
-- and the states of their compressor. A page holds one block of one of these; a block of the pool has pages of a group:
--
--     entries     all that grows, in blocks of block_size tokens
--     windows     64 tokens, in as many groups as keep the layers of a group few
--     states      so many tokens of a compressor as take no more than a page of windows; one group for each ratio
--
-- Source: vllm/v1/core/kv_cache_utils.py, group_and_unify_kv_cache_specs, _get_kv_cache_groups_uniform_groups,
-- _approximate_gcd; vllm/models/deepseek_v4/compressor.py, attention.py; vllm/v1/kv_cache_interface.py
local compressed = {}

local ceil, max = math.ceil, math.max

-- An entry in FP8: 448 bytes, 64 elements in 16 bit and 8 scales; of an index 128 bytes and a scale, or in MXFP4 half
-- of them and a scale of a byte for 32 elements. States are keys and gates in 32 bit, of two overlapping windows where
-- there is an index. FlashMLA needs multiples of 576 bytes.
local fp8_entry_bytes, page_multiple, window_tokens = 584, 576, 64

local function rounded(size, multiple) return ceil(size / multiple) * multiple end

--- The largest power of two that is no more.
local function power_of_two(value)
  local power = 1
  while 2 * power <= value do power = 2 * power end
  return power
end

--- Bytes of a page with so many entries.
local function page_of(facts, bytes)
  return facts.counts.kv_element_bytes == 1 and rounded(bytes, page_multiple) or bytes
end

--- Bytes of an entry of an index.
local function index_entry(index, format)
  return format == "mxfp4" and index.head_dim / 2 + index.head_dim / 32 or index.head_dim + 4
end

--- What the layers of a stage keep: {growing = {{layers, page}}, windows = {...}, states by window}.
local function kept(facts, part, block_size)
  local out = { growing = {}, windows = { layers = 0, window = 0 }, states = {} }
  for _, each in ipairs(facts.model.attention) do
    local compression, index = each.compression, each.index
    if compression then
      local layers = part == 1 and each.layers or max(1, math.floor(each.layers * part + 0.5))
      local element = facts.counts.kv_element_bytes
      local entry = element == 1 and fp8_entry_bytes or each.head_dim * element
      local windows = out.windows
      windows.layers, windows.window = windows.layers + layers, max(windows.window, each.window or 0)
      windows.page = page_of(facts, window_tokens * entry)
      if compression.ratio > 0 then
        local overlaps, entries = index and 2 or 1, block_size / compression.ratio
        local row = 8 * overlaps * each.head_dim
        local tokens = power_of_two(window_tokens * entry / row)
        local state = { layers = layers, window = overlaps * compression.ratio, block_size = tokens,
          pages = { { layers = layers, page = page_of(facts, tokens * row) } } }
        out.growing[#out.growing + 1] = { layers = layers, page = page_of(facts, entries * entry) }
        if index then
          local index_bytes = index_entry(index, facts.values.index_format)
        out.growing[#out.growing + 1] = { layers = layers, page = page_of(facts, entries * index_bytes) }
          state.pages[2] = { layers = layers, page = page_of(facts, tokens * 8 * overlaps * index.head_dim) }
        end
        out.states[#out.states + 1] = state
      end
    end
  end
  return out
end

--- Layers of a group such that groups of all kinds are filled best; the first kind has one group.
local function layers_of_group(counts)
  local best, least = counts[1], math.huge
  for size = counts[1], math.max(unpack(counts)) do
    local padding = 0
    for _, count in ipairs(counts) do padding = padding + -count % size end
    if padding <= least then best, least = size, padding end
  end
  return best
end

--- The groups: {{kind, window, block_size, groups, pages = {{layers, page}}}}.
local function groups_of(own, block_size)
  local most, counts = 0, {}
  for _, each in ipairs(own.growing) do most = max(most, each.layers) end
  counts[1], counts[2] = max(most, 1), own.windows.layers
  for _, each in ipairs(own.states) do counts[#counts + 1] = each.layers end
  local size = layers_of_group(counts)
  local groups = ceil(own.windows.layers / size)
  local out = { { kind = "full", block_size = block_size, groups = 1, pages = own.growing },
    { kind = "window", window = own.windows.window, block_size = window_tokens, groups = groups,
      layers = own.windows.layers / groups,
      pages = { { layers = ceil(own.windows.layers / groups), page = own.windows.page } } } }
  for _, each in ipairs(own.states) do
    out[#out + 1] = { kind = "window", window = each.window, block_size = each.block_size,
      groups = ceil(each.layers / size), pages = each.pages }
  end
  return out
end

--- The size of a page of another group: it takes the place of the next larger one that grows.
local function place_of(sizes, page)
  for _, size in ipairs(sizes) do
    if size >= page then return size end
  end
  return sizes[#sizes] or page
end

--- Sizes of the pages that grow, least first.
local function growing_sizes(groups)
  local sizes = {}
  for _, each in ipairs(groups[1].pages) do sizes[#sizes + 1] = each.page end
  table.sort(sizes)
  return sizes
end

--- Bytes of a block of the pool: with `dense` pages those of the largest group; with `slots` those of the most layers
--- of each size of page; with `tuples` so many pages of every size as the size with the most layers has.
local function block_bytes(groups, way)
  local sizes, most_of, largest, total = growing_sizes(groups), {}, 0, 0
  for _, group in ipairs(groups) do
    local sum = 0
    for _, each in ipairs(group.pages) do
      local place = place_of(sizes, each.page)
      most_of[place], sum = max(most_of[place] or 0, each.layers), sum + each.layers * each.page
    end
    largest = max(largest, sum)
  end
  if way == "dense" then return largest end
  local most = 0
  for _, layers in pairs(most_of) do most = max(most, layers) end
  for size, layers in pairs(most_of) do total = total + size * (way == "tuples" and most or layers) end
  return total
end

--- What a block of a kind counts where requests are counted in bytes: its pages as they are placed, in the mean of its
--- groups, over those of the kind that grows.
local function weigh(groups)
  local sizes, whole = growing_sizes(groups), nil
  for _, group in ipairs(groups) do
    local sum = 0
    for _, each in ipairs(group.pages) do
      sum = sum + (group.layers or each.layers) * place_of(sizes, each.page)
    end
    whole = whole or sum
    group.weight = whole > 0 and sum / whole or 1
  end
end

--- The layout of a stage: {groups, block_size, block_bytes, checked_bytes, list}; a request of the start-up check takes
--- checked_bytes for each of its blocks.
function compressed.layout(facts, stage, block_size)
  local part = facts.counts.stages[stage].layers / facts.model.layers
  local list, count = groups_of(kept(facts, part, block_size), block_size), 0
  for _, each in ipairs(list) do count = count + each.groups end
  if facts.values.counted_by_bytes then weigh(list) end
  return { groups = count, block_size = block_size, block_bytes = block_bytes(list, facts.values.compressed_pages),
    checked_bytes = block_bytes(list, "tuples"), layers = 1, list = list }
end

return compressed
