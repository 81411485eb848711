--- Query-key pairs and cached tokens that attention of a kind computes with. All counts are exact.
---
---     full           t p + t (t + 1) / 2 pairs of t new tokens behind p cached ones
---     window w       a p + a (a + 1) / 2 + (t - a) w,  a = clamp(w - p, 0, t); a decode: min(s, w) of s tokens
---     chunk C        sum over the new tokens of ((position) mod C) + 1; a decode: (s - 1) mod C + 1
---     selected k     as a window of k: an index picks other tokens, but as many
---     compressed     a window, and of the tokens s before a new one floor(s / ratio), at most k of them
local pairs_of = {}

local floor, min, max = math.floor, math.min, math.max

function pairs_of.full(t, p) return t * p + t * (t + 1) / 2 end

function pairs_of.window(t, p, w)
  local a = max(0, min(w - p, t))
  return a * p + a * (a + 1) / 2 + (t - a) * w
end

--- Sum of (x mod c) + 1 over x = 0 .. n - 1.
local function chunk_sum(n, c)
  local whole, rest = floor(n / c), n % c
  return whole * (c * (c + 1) / 2) + rest * (rest + 1) / 2
end

function pairs_of.chunk(t, p, c) return chunk_sum(p + t, c) - chunk_sum(p, c) end

--- Sum of floor(x / r) over x = 0 .. n.
local function floor_sum(n, r)
  local whole = floor((n + 1) / r)
  return r * whole * (whole - 1) / 2 + whole * (n + 1 - r * whole)
end

--- Entries of a compressed cache: sum over the new tokens of min(floor(s / ratio), most).
function pairs_of.entries(t, p, ratio, most)
  local bound = most and most * ratio or math.huge
  local below = max(0, min(bound - p, t))  -- new tokens that see fewer entries than `most`
  local sum = 0
  if below > 0 then sum = floor_sum(p + below, ratio) - floor_sum(p, ratio) end
  if t > below then sum = sum + (t - below) * most end
  return sum
end

local function cap_position(caps, cap)
  for i = 1, #caps do
    if caps[i] == cap then return i end
  end
  return error(("steps.kernels: the model states no bound of %d tokens"):format(cap), 0)
end

--- Reads the sum over the decodes of min(s, cap).
local readers = {
  function(batch) return batch.bounded_tokens_1 end,
  function(batch) return batch.bounded_tokens_2 end,
  function(batch) return batch.bounded_tokens_3 end,
  function(batch) return batch.bounded_tokens_4 end,
}

local function bounded(caps, cap, longest)
  if cap >= longest then return false, false end
  return readers[cap_position(caps, cap)], function(t, p) return pairs_of.window(t, p, cap) end
end

--- Entries that decodes of a compressed kind read: of its window and of its compressed cache.
local function compressed(kind, caps)
  local window, ratio = readers[cap_position(caps, kind.window)], kind.compression.ratio
  local w, most = kind.window, kind.index and kind.index.topk
  if ratio == 0 then return window, function(t, p) return pairs_of.window(t, p, w) end end
  local selected = most and readers[cap_position(caps, most * ratio)]
  local function tokens(batch)
    local all = selected and selected(batch) or batch.decode_context_tokens + batch.decodes
    return window(batch) + all / ratio
  end
  return tokens, function(t, p) return pairs_of.window(t, p, w) + pairs_of.entries(t, p, ratio, most) end
end

--- How to count for a kind of layers: tokens of the decodes of a batch, and pairs of a chunk. Both are false for
--- kinds that compute with every token before a new one, also where no context is longer than their bound.
--- @param kind table one of model.attention
--- @param caps integer[] bounds for which batches carry sums: model.context_caps
--- @param longest number the longest context that can be
function pairs_of.kind(kind, caps, longest)
  local name = kind.kind
  if name == "window" then return bounded(caps, kind.window, longest) end
  if name == "latent_sparse" or name == "block_sparse" then
    return bounded(caps, kind.index.topk * kind.index.block, longest)
  end
  if name == "chunk" then
    if kind.window >= longest then return false, false end
    local c = kind.window
    return function(batch) return batch.chunk_tokens end, function(t, p) return pairs_of.chunk(t, p, c) end
  end
  if name == "compressed" then return compressed(kind, caps) end
  return false, false
end

return pairs_of
