--- Query-key pairs and cached tokens that attention of a kind computes with. All counts are exact.
---
---     full           t p + t (t + 1) / 2 pairs of t new tokens after p cached ones
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

local function bounded(cap, longest)
  if cap >= longest then return false, false end
  return function(batch) return batch:bounded_tokens(cap) end, function(t, p) return pairs_of.window(t, p, cap) end
end

--- Entries that decodes of a compressed kind read: of its window and of its compressed cache.
local function compressed(kind)
  local w, ratio, most = kind.window, kind.compression.ratio, kind.index and kind.index.topk
  if ratio == 0 then return bounded(w, math.huge) end
  local function tokens(batch)
    local recent, exact = batch:bounded_tokens(w)
    if not most then return recent + (batch.decode_context_tokens + batch.decodes) / ratio, exact end
    local selected, also_exact = batch:bounded_tokens(most * ratio)
    return recent + selected / ratio, exact and also_exact
  end
  return tokens, function(t, p) return pairs_of.window(t, p, w) + pairs_of.entries(t, p, ratio, most) end
end

--- How to count for a kind of layers: tokens of the decodes of a batch (and whether the sum is exact), and pairs of a
--- chunk. Both are false for kinds that compute with every token before a new one, also where no context is longer
--- than their bound.
--- @param kind table one of model.attention
--- @param longest number the longest context that can be
function pairs_of.kind(kind, longest)
  local name, own = kind.kind, kind.bound
  if own and own.form == "chunk" then
    local c = own.tokens
    if c >= longest then return false, false end
    return function(batch) return batch:chunk_tokens(c) end, function(t, p) return pairs_of.chunk(t, p, c) end
  end
  if own then return bounded(own.tokens, longest) end
  if name == "window" then return bounded(kind.window, longest) end
  if name == "block_sparse" then return bounded(kind.index.topk * kind.index.block, longest) end
  if name == "latent_sparse" then return bounded(kind.index.topk, math.huge) end  -- absorbed, unlike latent
  if name == "compressed" then return compressed(kind) end
  return false, false
end

return pairs_of
