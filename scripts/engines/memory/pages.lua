-- KV blocks as vLLM lays them out: kinds of layers in groups of equal size that share one pool, and what a request
-- takes of it.
--
--     one kind          a block holds block_size tokens of every layer
--     several           layers are cut into groups of as many layers as the rarest kind has, or the most frequent one
--                       where that is not many more; a block holds one page of each layer of a group, and every group
--                       takes blocks of its own
--     windows           a page has the bytes of the widest kind; narrower kinds hold more tokens in it
--     recurrent states  the page of attention grows until a state fits: a multiple of 16 tokens
--
-- Source: vLLM v1/core/kv_cache_utils.py, single_type_kv_cache_manager.py; of pages of states platforms/interface.py
local compressed = require "engines.memory.compressed"

local pages = {}

local ceil, floor, min, max = math.ceil, math.floor, math.min, math.max

--- Layers of a stage whose cache has the model's own format.
local function plain_layers(facts, stage, kind)
  local plain, stages = facts.values.kv_plain_layers or 0, #facts.counts.stages
  local ends = (stage == 1 and 1 or 0) + (stage == stages and 1 or 0)
  return plain > 0 and min(floor(kind.layers / 2) * 2, plain * ends) or 0
end

--- Inputs of short convolutions as a window: of each token and head a power of two of elements, in pages of a window.
local function convolution_window(each, element_bytes)
  local heads, window = max(1, each.kv_heads), each.inputs + 1
  local padded = 2 ^ ceil(math.log(each.convolution_elements / each.inputs / heads) / math.log(2) - 1e-9)
  return { token_bytes = heads * padded * element_bytes, window = window, page_tokens = window }
end

--- The layers of a stage by what they keep: {kind = "full"|"window"|"state", layers, token_bytes, window, state_bytes}.
---@param facts table of an engine's memory rule
---@param stage integer from 1
function pages.kinds(facts, stage)
  local counts, out = facts.counts, {}
  local part = counts.stages[stage].layers / facts.model.layers
  local function add(kind, layers, more)
    more.kind, more.layers = kind, part == 1 and layers or max(1, floor(layers * part + 0.5))
    out[#out + 1] = more
  end
  for _, each in ipairs(counts.kinds) do
    if each.growing_bytes > 0 then
      add("full", each.layers, { token_bytes = facts.token_bytes(each) })
      local all, plain = out[#out], plain_layers(facts, stage, each)
      if plain > 0 then
        all.layers = all.layers - plain
        out[#out + 1] = { kind = "full", layers = plain, token_bytes = each.plain_bytes }
      end
    end
    if each.bounded_bytes > 0 then
      add(facts.groups and "window" or "full", each.layers,
        { token_bytes = each.bounded_bytes, window = each.window })
    end
    if each.inputs > 0 and facts.values.states_as_windows then
      add(facts.groups and "window" or "full", each.layers, convolution_window(each, counts.dtype_bytes))
    elseif each.state_elements > 0 then
      add("state", each.layers, { state_bytes = each.convolution_elements * counts.dtype_bytes
        + each.state_elements * facts.state_element_bytes })
    end
  end
  local drafter = facts.drafter
  if drafter and stage == #counts.stages and drafter.kv_bytes_per_token > 0 then
    for _, each in ipairs(out) do
      if each.kind == "full" then
        each.layers = each.layers + drafter.kv_bytes_per_token / each.token_bytes
        break
      end
    end
  end
  return out
end

local function of_kind(kinds, kind)
  for _, each in ipairs(kinds) do
    if each.kind == kind then return each end
  end
end

local function is_uniform(kinds)
  for _, each in ipairs(kinds) do
    if each.kind ~= "full" then return false end
  end
  return true
end

--- All layers keep every token.
local function uniform(kinds, block_size)
  local bytes, layers = 0, 0
  for _, each in ipairs(kinds) do
    bytes, layers = bytes + each.layers * each.token_bytes * block_size, layers + each.layers
  end
  return { groups = 1, block_size = block_size, block_bytes = bytes, layers = layers, list = {} }
end

--- The page that all kinds share, and the tokens that each kind holds in it.
local function page_of(kinds, block_size, alignment)
  local full, state = of_kind(kinds, "full"), of_kind(kinds, "state")
  if state and full then
    block_size = max(block_size, alignment * ceil(state.state_bytes / (alignment * full.token_bytes)))
  end
  local page = state and state.state_bytes or 0
  for _, each in ipairs(kinds) do
    if each.token_bytes then page = max(page, each.token_bytes * (each.page_tokens or block_size)) end
  end
  for _, each in ipairs(kinds) do
    if each.token_bytes then
      local tokens = each.page_tokens or block_size
      each.block_size = max(1, floor(page / each.token_bytes / tokens)) * tokens
    end
  end
  return page, block_size
end

local function grouped(kinds, block_size, alignment, slack)
  local page
  page, block_size = page_of(kinds, block_size, alignment)
  local least, most = math.huge, 0
  for _, each in ipairs(kinds) do least, most = min(least, each.layers), max(most, each.layers) end
  local size = most < slack * least and most or least
  local groups = 0
  for _, each in ipairs(kinds) do
    each.groups = ceil(each.layers / size - 1e-9)
    groups = groups + each.groups
  end
  return { groups = groups, block_size = block_size, block_bytes = size * page, layers = size, page_bytes = page,
    list = kinds }
end

--- How a stage's cache is laid out: {groups, block_size, block_bytes, list}.
---@param alignment integer tokens of which a page of attention beside states is a multiple
function pages.layout(facts, stage, block_size, alignment)
  if facts.counts.kinds[1].kind == "compressed" then return compressed.layout(facts, stage, block_size) end
  local kinds = pages.kinds(facts, stage)
  if is_uniform(kinds) then return uniform(kinds, block_size) end
  return grouped(kinds, block_size, alignment, facts.values.group_slack)
end

--- Whether some layers keep states.
function pages.has_states(layout) return of_kind(layout.list, "state") ~= nil end

--- Blocks of the pool that a request of so many tokens takes.
---@param facts table {in_flight = tokens of steps whose blocks are not free yet, drafts, state_blocks = those of a
---  request in a group}
---@param weighs boolean? a block of a group counts as its weight, where it has one
function pages.blocks_of(layout, tokens, facts, weighs)
  if layout.groups == 1 and #layout.list == 0 then return ceil(tokens / layout.block_size) end
  local sum = 0
  for _, each in ipairs(layout.list) do
    local own
    if each.kind == "full" then
      own = ceil(tokens / each.block_size)
    elseif each.kind == "window" then
      own = ceil(min(each.window - 1 + facts.in_flight, tokens) / each.block_size) + 1
    else
      own = facts.state_blocks + (facts.drafts or 0)
    end
    sum = sum + own * each.groups * (weighs and each.weight or 1)
  end
  return ceil(sum - 1e-6)
end

--- The longest request, a multiple of the block, that so many blocks hold; 0 where none fits.
function pages.longest(layout, blocks, facts)
  local unit = layout.block_size
  local low, high = 0, max(1, floor(blocks * 2))
  if pages.blocks_of(layout, unit, facts) > blocks then return 0 end
  while high - low > 1 do
    local middle = floor((low + high) / 2)
    if pages.blocks_of(layout, middle * unit, facts) <= blocks then low = middle else high = middle end
  end
  return low * unit
end

return pages
