--- Context parallel: the tokens of one request on several ranks (deployment.cp, deployment.dcp).
---
--- Prefill (cp). Each rank has two pieces of every chunk, number i and number 2 cp - 1 - i of 2 cp equal ones, so that
--- all ranks compute the same query-key pairs. Of t new tokens after p cached ones:
---
---     piece = ceil(t / (2 cp)),  padded = 2 cp piece            rows of a rank: decodes + sum of 2 piece
---     pairs of a rank = 2 piece (p + (padded - piece) / 2) + piece (piece + 1) = those of the padded chunk / cp
---
--- The two pieces are priced as two of the mean context, which have these pairs and read the same keys. In every layer
--- the keys and values of the padded tokens are gathered (cp_kv_gather), and once the hidden states (cp_hidden_gather).
--- Each rank expands the latent vectors of all tokens. All ranks run all decodes; experts see the rows of all ranks.
---
--- Decode (dcp). A rank computes with the queries of its group, dcp times its own heads, and 1 / dcp of the context:
--- its flop stay, and the bytes that it reads are divided. Per layer and step, r rows, h heads of a rank, of width v:
---
---     dcp_query_gather    all-gather of r h dcp queries
---     gathered            dcp_lse_gather: r h dcp^2 of 4 bytes; dcp_output_scatter: reduce-scatter of r h dcp v
---     all_to_all          dcp_output_exchange: r h dcp (v and one of 4 bytes)
---     dcp_correction      a small kernel: partial outputs in, outputs out
---
--- Contexts of ranks differ by at most one token of each request, which is not counted. A prompt with cached tokens
--- gathers these where attention is latent (dcp_context_gather); else its queries and outputs, as decodes do.
---
--- Source: vLLM docs/serving/context_parallel_deployment.md, pull requests 23734, 24864 (gathered), 34883 (all to all);
--- v1/attention/ops/common.py; SGLang layers/utils/cp_utils.py (zigzag), pull request 18233 (KV is gathered).
local collective = require("steps.kernels.collectives").time
local cost = require "rooflua.cost"
local graphs = require "steps.kernels.graphs"
local ops = require "steps.kernels.ops"

local context_parallel = {}

local ceil, max = math.ceil, math.max
local element = 2    -- bytes of an activation
local lse_bytes = 4  -- logarithm of the sum of exponentials, FP32

--- Bytes of a token's keys and values on a rank, before they are written to the cache.
local function kv_row_bytes(steps, kind)
  local mla = kind.latent
  if mla then return element * (mla.kv_lora_rank + mla.qk_rope_head_dim) end
  return element * max(1, kind.kv_heads / steps.tp) * (kind.head_dim + kind.v_head_dim)
end

-- Prefill ---------------------------------------------------------------------------------------------------------

--- Tokens of one of the two pieces that each rank has of a chunk.
--- @param t integer new tokens of the chunk
local function piece_of(t, cp) return ceil(t / (2 * cp)) end

--- Rows of one rank, and the padded prompt tokens of all.
local function rows_of(batch, cp)
  local rows = 0
  for i = 1, #batch.prefills do rows = rows + 2 * piece_of(batch.prefills[i].new_tokens, cp) end
  return batch.decode_tokens + rows, rows * cp
end

--- A method of attention (kernels/attention.lua) in place of its own: both pieces of a rank, in one call.
local function pieces(self, batch, i, paid_s)
  local work, cp = batch.prefills[i], self.steps.cp
  local piece = piece_of(work.new_tokens, cp)
  local behind = work.context_tokens + (2 * cp * piece - piece) / 2
  local first_s, first_paid_s = self:prefill(piece, behind, paid_s)
  local second_s, both_paid_s = self:prefill(piece, behind, first_paid_s)
  return first_s + second_s, both_paid_s
end

--- What ranks exchange in a step with so many padded prompt tokens.
local function prefill_exchange(steps, kinds)
  return cost.memoize(function(tokens)
    local time_s = 0
    for _, each in ipairs(kinds) do
      time_s = time_s + collective(steps, each.gather_name, "all_gather",
        tokens * kv_row_bytes(steps, steps.model.attention[each.op.kind]), steps.cp, each.layers)
    end
    return time_s + collective(steps, "cp_hidden_gather", "all_gather", tokens * element * steps.model.hidden_size,
      steps.cp, 1)
  end)
end

--- A method of steps.Kernels in place of its own: rows of one rank.
local function rows_time(self, batch)
  local cp = self.cp
  local own, prompts = rows_of(batch, cp)
  local padded = graphs.padded(own, self.graph_tokens)
  local time_s = self.layers_time(padded, own)
  if self.shares_experts then time_s = time_s + self.experts_time(cp * padded, cp * own) end
  if prompts > 0 then time_s = time_s + self.cp_exchange(prompts) end
  return time_s + self.head_time(batch.requests), own
end

-- Decode ----------------------------------------------------------------------------------------------------------

--- Widths of a query and of an output, in elements of a head. Absorbed queries and outputs are latent.
local function head_widths(kind)
  local mla = kind.latent
  if mla then return mla.kv_lora_rank + mla.qk_rope_head_dim, mla.kv_lora_rank end
  return kind.head_dim, kind.v_head_dim
end

--- Seconds of the exchanges around attention whose queries are gathered, all layers of a kind, by rows.
--- @param attention table of kernels/attention.lua
local function query_exchange(steps, attention, kind)
  local dcp, heads, count = steps.dcp, attention.op.heads, attention.layers
  local query, output = head_widths(kind)
  local suffix = attention.op.name:match "@.*$" or ""
  local correction = { name = "dcp_correction" .. suffix, op = "elementwise", count = count, dtype = steps.dtype,
    bytes_per_row = element * heads * output * (dcp + 1), weight_bytes = 0 }
  return cost.memoize(function(rows)
    local gathered = rows * heads * dcp
    local time_s = collective(steps, "dcp_query_gather" .. suffix, "all_gather", element * gathered * query, dcp, count)
    if steps.dcp_combines == "all_to_all" then
      time_s = time_s + collective(steps, "dcp_output_exchange" .. suffix, "all_to_all",
        gathered * (element * output + lse_bytes), dcp, count)
    else
      time_s = time_s + collective(steps, "dcp_lse_gather" .. suffix, "all_gather", lse_bytes * gathered * dcp, dcp,
        count)
      time_s = time_s + collective(steps, "dcp_output_scatter" .. suffix, "reduce_scatter", element * gathered * output,
        dcp, count)
    end
    return time_s + ops.price(steps, correction, rows)
  end)
end

--- Methods of attention in place of its own, around these.
local function spread(attention, steps, kind)
  local decode_rows, prefill = attention.decode_rows, attention.prefill
  local dcp, exchange = steps.dcp, query_exchange(steps, attention, kind)
  local name = "dcp_context_gather" .. (attention.op.name:match "@.*$" or "")
  function attention:decode_rows(n, context, batch)
    return decode_rows(self, n, (context + n) / dcp - n, batch) + exchange(n)
  end
  function attention:prefill(t, p, paid_s)
    local time_s, launch_s = prefill(self, t, p, paid_s)
    if p == 0 then return time_s, launch_s end
    if not self.latent then return time_s + exchange(t), launch_s end
    return time_s + collective(steps, name, "all_gather", p * self.kv_bytes_per_token, dcp, self.layers), launch_s
  end
end

--- Refuses ranks that do not share an NVLink domain: a group of context parallel would cross the network.
local function check_domain(steps, key, ranks)
  if ranks <= steps.hardware.domain_gpus then return end
  error(("steps.kernels: deployment.%s: its groups lie in several nodes of %d GPUs (%d ranks), and exchanges of "
    .. "context between nodes are not priced"):format(key, steps.hardware.domain_gpus, ranks), 0)
end

--- Puts both into a step model whose operations are bound.
--- @param steps steps.Kernels with cp and dcp, of which at most one is above 1
--- @param engine table values of an engine (scripts/engines)
--- @param layers table of cost.layers
function context_parallel.bind(steps, engine, layers)
  if steps.cp == 1 and steps.dcp == 1 then return end
  local kinds = { steps.attention, unpack(steps.more_attention) }
  if steps.dcp > 1 then
    check_domain(steps, "dcp", steps.dcp)
    steps.dcp_combines = engine.dcp_combines
    for _, each in ipairs(kinds) do spread(each, steps, steps.model.attention[each.op.kind]) end
    return
  end
  check_domain(steps, "cp", steps.tp * steps.cp)
  for _, op in ipairs(layers) do steps.shares_experts = steps.shares_experts or op.rows == "group_tokens" end
  for _, each in ipairs(kinds) do
    each.chunk, each.gather_name = pieces, "cp_kv_gather" .. (each.op.name:match "@.*$" or "")
  end
  steps.cp_exchange, steps.rows_time = prefill_exchange(steps, kinds), rows_time
end

return context_parallel
