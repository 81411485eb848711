--- Attention that verifies drafts: a decode with q = 1 + drafts new tokens after the cached ones.
---
---     time = max( decode attention over the tokens that are read,  pairs x flop of a pair / (peak x prefill MFU) )
---     pairs of a request = q c + q (q + 1) / 2
---
--- The cache of a request is read once for its q queries: these share a tile of the kernel with the heads that share
--- keys, up to 128 rows. A request reads its cached tokens and the q new ones; under a window w it reads
--- min(c + q, w + q - 1). Sparse attention selects tokens for each query: it costs what as many decodes cost.
--- With q = 1 the first term is the price of a decode, and the second is left out.
--- No table has rows of such widths: the evidence is assumed.
--- Source: FlashAttention-3 with a packed query group; vLLM v1/attention, reorder_batch_threshold.
local cost = require "rooflua.cost"
local ops = require "steps.kernels.ops"

local verify = {}

local max, min = math.max, math.min
local chunk, behind = 1024, 7168  -- the prompt whose MFU stands for arithmetic: long enough that nothing else counts

--- Whether each query reads tokens of its own.
local function selects(attention)
  return attention.tokens and attention.selects_by_query
end

--- Time of arithmetic: pairs at the utilisation of a long prompt, for one layer. Rows of window attention are prompts
--- with the pairs of their window.
local function arithmetic_s(attention, pairs)
  if not attention.verify_flop_per_s then
    local latency_s = attention:prefill_latency(chunk, behind)
    local of_prompt = attention.own_rows and attention.pairs(chunk, behind) or chunk * behind + chunk * (chunk + 1) / 2
    attention.verify_flop_per_s = attention.flop_of_rows * of_prompt / latency_s
  end
  return pairs * attention.decode_pair_flop / attention.verify_flop_per_s
end

--- Tokens that the queries read, and how many calls' worth of requests read them.
local function read_tokens(attention, n, context, batch, queries)
  if attention.own_window then
    local tokens, exact = attention:window_tokens(batch)
    return min(tokens + queries - n, context + queries), n, exact
  end
  if not attention.tokens then return context + queries, n, true end
  local tokens, exact = attention.tokens(batch)
  if selects(attention) then return tokens * queries / n, queries, exact end
  return min(tokens + queries - n, context + queries), n, exact
end

--- Time of all layers of a kind. It is a method of steps.kernels.Attention.
--- @param n integer requests
--- @param context number cached tokens of all of them
--- @param batch rooflua.Batch
function verify.time(attention, n, context, batch)
  local layers, queries, steps = attention.layers, batch.decode_tokens, attention.steps
  local tokens, rows, exact = read_tokens(attention, n, context, batch, queries)
  local computed = max(tokens, rows * attention.block)
  local latency_s = attention.decode_calls:at(rows, computed)
  if attention.own_window then
    tokens = min(batch:bounded_tokens(attention.own_window) + queries - n, context + queries)
  end
  local is_bounded = attention.tokens or attention.own_window
  local pairs = rows == queries and tokens or is_bounded and tokens * queries / n or batch.decode_pairs
  if rows == n then latency_s = max(latency_s, arithmetic_s(attention, pairs)) end
  local flop, bytes = pairs * attention.decode_pair_flop, tokens * attention.kv_bytes_per_token
  local shape, note
  if cost.shapes_wanted() then
    shape = ("%s queries=%.14g"):format(ops.decode_text(attention.decode_query, rows, computed), queries)
    note = attention.decode_calls:note(rows, computed)
    if note and not exact then note = note .. "; of the contexts only the mean is known" end
  end
  local time_s = cost.record(attention.decode_name, latency_s, "assumed", layers, flop, bytes,
                             flop / (latency_s * steps.peak_flop_per_s), "memory", note, attention.decode_query.op,
                             shape)
  time_s = attention.bounds:at_least(time_s, flop, bytes, steps.dtype, layers, attention.decode_name)
  if attention.index then time_s = time_s + attention.index:verify(batch, context + queries) end
  if attention.module then time_s = time_s + attention.module:decode(queries, (context + n) * queries / n) end
  return time_s
end

--- What `more` queries of n requests add to a call that reads their cache anyway: arithmetic where that is longer than
--- reading. Placeholders of a drafter that makes all drafts in one pass are such queries.
--- @param n integer requests
--- @param context number cached tokens of all of them
function verify.further(attention, n, context, batch, more)
  local tokens = context
  if attention.tokens then
    tokens = attention.tokens(batch)
  elseif attention.own_window then
    tokens = batch:bounded_tokens(attention.own_window)
  end
  if selects(attention) then return attention:decode_rows(more, context * more / n, batch) end
  local read_s = attention.decode_calls:at(n, max(tokens, n * attention.block))
  local before = min(tokens, context) * max(batch.decode_tokens, n) / n
  local more_s = max(read_s, arithmetic_s(attention, before + more * tokens / n))
    - max(read_s, arithmetic_s(attention, before))
  if more_s <= 0 then return 0 end
  return cost.record(attention.decode_name, more_s, "assumed", attention.layers, more * tokens / n
                     * attention.decode_pair_flop, 0, nil, "compute", "queries of placeholders",
                     attention.decode_query.op)
end

return verify
