--- Attention of the layers of one kind: what their decodes and prompts cost, on one rank.
---
--- A kind says how many cached tokens a new one computes with: all of them (full, latent), the last `window`
--- (window), those that an index selects (latent_sparse, block_sparse), a window and one entry for every `ratio`
--- tokens (compressed), or what its file says. steps/kernels/pairs.lua counts them. Kinds without rows of their
--- own run at the utilisation of full attention with as many query-key pairs.
---
--- Decodes and prompts are priced on monotone grids (monotone.lua, monotone_prefill.lua).
local bounds = require "steps.kernels.bounds"
local cost = require "rooflua.cost"
local grids = require "steps.kernels.grids"
local apart_heads = require "steps.kernels.apart_heads"
local index = require "steps.kernels.index"
local monotone = require "steps.kernels.monotone"
local monotone_prefill = require "steps.kernels.monotone_prefill"
local ops = require "steps.kernels.ops"
local pairs_of = require "steps.kernels.pairs"
local tail = require "steps.kernels.tail"
local verify = require "steps.kernels.verify"

local max, min = math.max, math.min
local record, shapes_wanted, listening, query_text = cost.record, cost.shapes_wanted, cost.listening, cost.query_text
local record_count = cost.counted
local lookup_price, prefill_price, raised = cost.lookup, cost.attention_prefill, bounds.raised
local attention_block = 128  -- keys that a decode attention kernel loads at once; fewer keys cost the same

local decode_axes = { batch = true, context_tokens = true }
local prefill_axes = { new_tokens = true, context_tokens = true }

local attention = {}
attention.verify, attention.further_queries = verify.time, verify.further
attention.heads_apart = apart_heads.time

--- Whether rows of window attention were measured at this shape. Rows of another window are no better than those of
--- full attention with as many pairs.
local function measured_windows(database, query)
  if not database:measures(query.op) then return false end
  local _, estimate = database:lookup(query)
  return estimate.evidence == "measured" or estimate.evidence == "interpolated"
end

--- @param steps steps.Kernels
--- @param op table the decode operation of cost.layers
--- @param kind table one of model.attention
function attention.of(steps, op, kind, deployment)
  local self = { steps = steps, op = op, layers = op.count, block = attention_block }
  for name, method in pairs(attention) do self[name] = method end -- found there without a look into a metatable
  self.database, self.bounds = steps.database, steps.bounds
  self.peak, self.bandwidth = self.bounds:peak(steps.dtype), self.bounds.bytes_per_s
  local suffix = op.name:match "@.*$" or ""
  self.decode_name, self.prefill_name = "attention_decode" .. suffix, "attention_prefill" .. suffix
  self.kv_bytes_per_token = op.bytes_per_row
  self.own_window, self.own_rows = false, false
  self.latent = kind.latent ~= nil
  self.decode_query = ops.attention_query(op.kv, deployment, kind, true)
  self.prefill_query = ops.attention_query(op.kv, deployment, kind, false)
  self.decode_pair_flop, self.prefill_pair_flop = ops.pair_flop(kind, op)
  self.decode_pair_flop = self.decode_pair_flop * deployment.dcp
  self.flop_of_rows = ops.flop_of_rows(kind, op) or self.prefill_pair_flop
  self:choose_tokens(kind)
  self.index = index.of(steps, kind, op.count, suffix)
  self.decode_calls = monotone.of(function(n, tokens) return self:decode_latency(n, tokens) end, attention_block,
    grids.of(self.database, self.decode_query, decode_axes))
  self.prefill_grid = monotone_prefill.of(function(t, p) return self:prefill_latency(t, p) end,
    grids.of(self.database, self.prefill_query, prefill_axes))
  self.prefill_calls = nil  -- chosen at the first prompt
  self.module, self.prompt_module = false, false  -- what rows of the whole module take beyond
  if kind.prefill_tail then self.tail_tokens, self.chunk = kind.prefill_tail, tail.chunk end
  self.further_reads = apart_heads.further_reads(steps.engine_values, kind, deployment)
  return self
end

--- A method of steps.Kernels: what is constant for compiled code after some thousand steps (rooflua.border.settled).
function attention.settles_with(steps)
  return steps.attention and steps.attention:settles() and { "attention" }
end

--- Once both grids are filled, or known not to be used, nothing of a kind changes.
function attention:settles()
  if self.prefill_calls == nil or not self.decode_calls:settles() then return nil end
  if self.prefill_calls and not self.prefill_calls:settles() then return nil end
  return { "decode_calls", "prefill_calls", "steps" }
end

--- Chooses what a token computes with: everything before it, or what its kind says.
function attention:choose_tokens(kind)
  local longest = self.steps.model.max_model_len
  self.tokens, self.pairs = pairs_of.kind(kind, longest > 0 and longest or math.huge)
  local own = kind.bound
  self.selects_by_query = kind.index ~= nil or own ~= nil and own.form == "top"
  local window = kind.kind == "window" and kind.window or own and own.form == "window" and own.tokens
  if not window or not self.tokens then return end
  local decode, prefill = ops.window_queries(self.decode_query, self.prefill_query, window)
  if measured_windows(self.database, decode) then
    self.decode_query, self.tokens, self.own_window = decode, false, window
  end
  if measured_windows(self.database, prefill) then self.prefill_query, self.own_rows = prefill, true end
end

--- Chooses how prefill attention is priced. Measured rows need a monotone grid; the modelled kernel is monotone.
--- The choice is made at the first prefill chunk, so that pricing decodes alone reads no prefill table.
function attention:choose_prefill()
  local _, evidence = self:prefill_latency(1024, 0)
  self.prefill_calls = evidence ~= "modelled" and self.prefill_grid
end

--- Latency and evidence of one prefill call from the database, without a grid.
function attention:prefill_latency(t, p)
  local query = self.prefill_query
  query.new_tokens, query.context_tokens = t, p
  local _, estimate = self.database:lookup(query)
  return estimate.latency_s, estimate.evidence
end

--- Latency and evidence of one decode call from the database, without a grid.
function attention:decode_latency(n, tokens)
  local query = self.decode_query
  query.batch, query.context_tokens = n, tokens / n
  local _, estimate = self.database:lookup(query)
  return estimate.latency_s, estimate.evidence
end

--- Tokens that rows of window attention are asked with: contexts as far as they matter. From twice the window on a row
--- is the same whatever its context; rows of many requests end there.
function attention:window_tokens(batch) return batch:bounded_tokens(2 * self.own_window) end

--- Decode attention of n requests that have `context` cached tokens in total. The new token of each request is in
--- the cache when attention runs.
--- @param batch rooflua.Batch its widths; its contexts are read only by kinds whose contexts are bounded
function attention:decode(n, context, batch)
  if self.further_reads > 0 then return self:heads_apart(n, context, batch) end
  if batch.decode_tokens > n then return self:verify(n, context, batch) end
  return self:decode_rows(n, context, batch)
end

--- The same for requests with one new token each, whatever the widths of the batch are.
function attention:decode_rows(n, context, batch)
  local layers, all = self.layers, context + n
  local tokens, exact = all, true
  if self.tokens then tokens, exact = self.tokens(batch) end
  if self.own_window then tokens, exact = self:window_tokens(batch) end
  local computed = max(tokens, n * attention_block)
  local latency_s, evidence = self.decode_calls:at(n, computed)
  if self.own_window then tokens = batch:bounded_tokens(self.own_window) end
  local time_s
  if shapes_wanted(self.decode_query.op) then
    time_s = self:record_decode(n, tokens, computed, exact, latency_s, evidence)
  else
    time_s = record(self.decode_name, latency_s, evidence, layers, 0, 0, nil, nil, nil, self.decode_query.op)
  end
  local floor_s = max(tokens * self.decode_pair_flop / self.peak, tokens * self.kv_bytes_per_token / self.bandwidth)
  time_s = raised(time_s, floor_s, layers, self.decode_name)
  if self.index then time_s = time_s + self.index:decode(batch, all) end
  if self.module then time_s = time_s + self.module:decode(n, all) end
  return time_s
end

--- Records decode attention with its work, which explanations and corrections read.
--- @param tokens number that are read
--- @param computed number that the latency is of
--- @param exact boolean whether the tokens are known, not only the mean of the contexts
function attention:record_decode(n, tokens, computed, exact, latency_s, evidence)
  local counted = self.own_window and max(tokens, n * attention_block) or computed
  local flop, bytes = counted * self.decode_pair_flop, counted * self.kv_bytes_per_token
  local shape, note = ops.decode_text(self.decode_query, n, computed), self.decode_calls:note(n, computed)
  if note and not exact then note = note .. "; of the contexts only the mean is known" end
  local time_s = record(self.decode_name, latency_s, evidence, self.layers, flop, bytes,
                        flop / (latency_s * self.steps.peak_flop_per_s), "memory", note, self.decode_query.op, shape)
  if tokens ~= counted and listening() then
    record_count { flop = tokens * self.decode_pair_flop, bytes = tokens * self.kv_bytes_per_token, field = "context",
      there = tokens / n, asked = computed / n }
  end
  return time_s
end

--- Prefill attention of chunk i of a batch.
--- @param paid_s number part of the call's launch that other requests in the call have paid
--- @return number time_s of all layers
--- @return number paid_s part of the call's launch that is paid with this chunk
function attention:chunk(batch, i, paid_s)
  local work = batch.prefills[i]
  local t, p = work.new_tokens, work.context_tokens
  local time_s, launch_s = self:prefill(t, p, paid_s)
  return time_s, launch_s
end

--- The same after chunks that take `time_s`; returns the time of all of them.
function attention:add_chunk(batch, i, time_s, paid_s)
  local more_s, launch_s = self:chunk(batch, i, paid_s)
  return time_s + more_s, launch_s
end

--- The same of t new tokens after p cached ones.
function attention:prefill(t, p, paid_s)
  local time_s, launch_s = self:prefill_parts(t, p, paid_s)
  if self.prompt_module then time_s = time_s + self.prompt_module:prefill(t, p, self) end
  return time_s, launch_s
end

--- The same without what rows of a whole module say beyond their parts.
function attention:prefill_parts(t, p, paid_s)
  if self.prefill_calls == nil then self:choose_prefill() end
  local layers, query = self.layers, self.prefill_query
  local pairs = t * p + t * (t + 1) / 2
  local time_s
  if self.pairs then
    pairs = self.pairs(t, p)
    time_s = self:bounded_prefill(t, p, pairs, paid_s)
  elseif self.prefill_calls then
    time_s = self:measured_prefill(t, p, pairs, paid_s)
  elseif not self.latent then
    time_s = prefill_price(self.database, query, t, p, layers, self.prefill_name,
                            paid_s > 0 and paid_s or nil)
  else
    query.new_tokens, query.context_tokens = t, p
    if paid_s == 0 then
      time_s = lookup_price(self.database, query, layers, self.prefill_name)
    else
      time_s = self:same_call(query, paid_s)
    end
  end
  local launch_s = time_s > 0 and min(self.steps.attention_launch_s, paid_s + time_s / layers) or paid_s
  local more_launch_s = min(time_s, layers * (launch_s - paid_s))
  local bytes = self.pairs and min(t + p, 2 * pairs / t + t) or t + p
  local floor_s = max(pairs * self.prefill_pair_flop / self.peak, bytes * self.kv_bytes_per_token / self.bandwidth)
  time_s = more_launch_s + raised(time_s - more_launch_s, floor_s, layers, self.prefill_name)
  if self.index then time_s = time_s + self.index:prefill(t, p) end
  return time_s, launch_s
end

--- Latency of a full-attention call, from the grid where rows were measured.
function attention:full_latency(t, p)
  if self.prefill_calls then return self.prefill_calls:at(t, p) end
  return self:prefill_latency(t, p)
end

--- Latency of a chunk that computes fewer pairs than full attention does: that of the call with as many pairs, which
--- has less context, or else the part of a call without context. Pairs of another kind take as long as their flop do.
function attention:bounded_latency(t, p, pairs)
  if self.own_rows then return self:full_latency(t, p) end
  local triangle, part = t * (t + 1) / 2, self.prefill_pair_flop / self.flop_of_rows
  local latency_s, evidence
  if pairs == t * p + triangle then
    latency_s, evidence = self:full_latency(t, p)
  elseif pairs >= triangle then
    latency_s, evidence = self:full_latency(t, (pairs - triangle) / t)
  else
    latency_s, evidence = self:full_latency(t, 0)
    part = part * pairs / triangle
  end
  if part == 1 then return latency_s, evidence end
  local launch_s = min(latency_s, self.steps.attention_launch_s)
  return launch_s + (latency_s - launch_s) * part, evidence
end

--- The MFU of a prompt's work in the time that it adds to a call; nil where the call runs anyway.
function attention:mfu_of(flop, time_s)
  return time_s > 0 and flop / (time_s * self.steps.peak_flop_per_s) or nil
end

function attention:bounded_prefill(t, p, pairs, paid_s)
  local latency_s, evidence = self:bounded_latency(t, p, pairs)
  local flop, bytes = pairs * self.prefill_pair_flop, (t + p) * self.kv_bytes_per_token
  local shape, note
  if shapes_wanted() then
    self.prefill_query.new_tokens, self.prefill_query.context_tokens = t, p
    shape = query_text(self.prefill_query)
    if listening() then note = ("%.14g query-key pairs"):format(pairs) end
  end
  local time_s = max(0, latency_s - paid_s)
  return (record(self.prefill_name, time_s, evidence, self.layers, flop, bytes, self:mfu_of(flop, time_s), "compute",
                 note, self.prefill_query.op, shape))
end

--- The price of a chunk from the grid of measured rows, less the launch that is paid already.
function attention:measured_prefill(t, p, pairs, paid_s)
  local latency_s, evidence = self.prefill_calls:at(t, p)
  local time_s = max(0, latency_s - paid_s)
  local query = self.prefill_query
  if not shapes_wanted() then
    return (record(self.prefill_name, time_s, evidence, self.layers, 0, 0, nil, nil, nil, query.op))
  end
  query.new_tokens, query.context_tokens = t, p
  local shape, note = query_text(query), self.prefill_calls:note(t, p)
  if note and paid_s > 0 then note = "in the same call; " .. note end
  local flop, bytes = pairs * self.prefill_pair_flop, (t + p) * self.kv_bytes_per_token
  return (record(self.prefill_name, time_s, evidence, self.layers, flop, bytes, self:mfu_of(flop, time_s), "compute",
                 note, query.op, shape))
end

--- What a chunk of latent attention adds to a call whose launch is paid already.
function attention:same_call(query, paid_s)
  local _, estimate = self.database:lookup(query)
  local shape, note
  if shapes_wanted() then
    shape, note = query_text(query), "in the same call; " .. estimate.note
  end
  local time_s = max(0, estimate.latency_s - paid_s)
  return (record(self.prefill_name, time_s, estimate, self.layers, estimate.flop, estimate.bytes,
                 time_s > 0 and estimate.mfu * estimate.latency_s / time_s or nil, "compute", note, query.op, shape))
end

return attention
