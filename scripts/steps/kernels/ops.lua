--- The price of each operation of a forward pass as a function of its rows. An operation is an entry of
--- cost.layers: its shape on one rank, how often it runs, and which rows of the batch it sees.
local bounds = require "steps.kernels.bounds"
local cost = require "rooflua.cost"
local experts = require "steps.kernels.experts"
local launches = require "steps.kernels.launches"
local router = require "steps.kernels.router"

local ops = { grouped_gemm = experts.price, launches = launches.price }

function ops.router(steps, op, rows, _, _, there) return router.price(steps, op, rows, there) end

function ops.elementwise(steps, op, rows, _, _, there) return steps.elementwise:price(op, rows, there) end

--- Data-parallel ranks that gather the tokens of all in front of the experts, and scatter the results, move what an
--- all-reduce over all ranks moves. Rows of the exchange are the tokens of all ranks.
function ops.all_reduce(steps, op, rows, _, _, there)
  if op.rows == "group_tokens" and steps.travels then return steps.travels:price(op, rows, there) end
  local ranks = op.rows == "group_tokens" and steps.ranks or steps.tp
  local by_nccl = steps.reduces_by_nccl and ranks == steps.tp
  local query = by_nccl and { op = "collective", collective = "all_reduce", dtype = "bf16", bytes = 1, ranks = ranks }
    or { op = "all_reduce", bytes = 1, ranks = ranks }
  local run = steps.bounds:rows_to_run(op, rows, query)
  local bytes = op.bytes_per_row * run
  local time_s
  if by_nccl then
    query.bytes = bytes
    time_s = cost.lookup(steps.database, query, op.count, op.name)
  else
    time_s = cost.all_reduce(steps.database, bytes, ranks, op.count, op.name)
  end
  there = there or rows
  if cost.listening() and there ~= run then
    cost.counted { bytes = op.bytes_per_row * there, field = "bytes", there = op.bytes_per_row * there, asked = bytes }
  end
  return time_s
end

--- The query for a projection that latent attention absorbs.
local function absorbed_query(steps, op)
  local kind = steps.model.attention[op.kind]
  local mla, pre = kind.latent, op.name:find "^bmm_q" ~= nil
  return {
    op = "mla_bmm", dtype = op.dtype, stage = pre and "pre" or "post", heads = kind.heads, tp = steps.tp,
    kv_lora_rank = mla.kv_lora_rank, head_dim = pre and mla.qk_nope_head_dim or mla.v_head_dim, tokens = 1,
  }
end

--- Many small GEMMs in one launch: the absorbed projections of latent attention.
function ops.batched_gemm(steps, op, rows, there)
  if op.kernel == "mla_bmm" and steps.database:measures "mla_bmm" then
    local query = absorbed_query(steps, op)
    query.tokens = steps.bounds:rows_to_run(op, rows, query)
    local time_s = cost.lookup(steps.database, query, op.count, op.name)
    if cost.listening() then  -- rows of the table know no work
      cost.counted { flop = op.flop_per_row * there, bytes = op.weight_bytes + op.bytes_per_row * there,
        field = "tokens", there = there, asked = query.tokens }
    end
    return steps.bounds:at_least(time_s, op.flop_per_row * rows, op.weight_bytes + op.bytes_per_row * rows, op.dtype,
                                  op.count, op.name)
  end
  local flop, bytes = op.flop_per_row * rows, op.weight_bytes + op.bytes_per_row * rows
  local time_s, bound = cost.roofline(flop, bytes, steps.peak_flop_per_s, steps.batched_gemm_mfu,
                                      steps.hardware.memory_bytes_per_s)
  local shape = cost.shapes_wanted() and ("%d x m=%.14g k=%.14g n=%.14g"):format(op.groups, rows, op.k, op.n) or nil
  time_s = time_s + steps.small_kernel_s
  time_s = cost.record(op.name, time_s, "assumed", op.count, flop, bytes, flop / (time_s * steps.peak_flop_per_s),
                       bound, "batched_gemm_mfu", "gemm", shape)
  bounds.counted(op, "m", there, rows)
  return time_s
end

function ops.gemm(steps, op, rows, _, _, there)
  if op.groups > 1 then return ops.batched_gemm(steps, op, rows, there or rows) end
  return steps.bounds:gemm(op, rows, there)
end

--- Time of an operation over `rows`, with padding where the step has any.
--- @param drafts integer? how many of the rows are drafts
--- @param tokens integer? rows without padding, where there are drafts
--- @param there number? rows that there are, which explanations count; default: all rows
function ops.price(steps, op, rows, drafts, tokens, there)
  local price = ops[op.op]
  if not price then error("steps.kernels: no price for operation " .. op.op, 0) end
  return price(steps, op, rows, drafts, tokens, there)
end

-- Attention queries: heads of the whole model, because the lookup divides them by tp -------------------------

--- A query of latent attention. Prompts are expanded to heads, but over selected tokens they are absorbed.
local function latent_query(query, kind, decode)
  local mla = kind.latent
  query.qk_rope_head_dim = mla.qk_rope_head_dim
  if decode then
    query.op, query.kv_lora_rank = "mla_decode", mla.kv_lora_rank
  else
    query.op, query.qk_nope_head_dim, query.v_head_dim = "mla_prefill", mla.qk_nope_head_dim, mla.v_head_dim
  end
  return query
end

--- An attention query of layers of a kind. The step model writes batch and tokens into it before each lookup. Decodes
--- have the heads of all ranks of dcp.
--- @param kv string format of the cache
--- @param kind table one of model.attention
function ops.attention_query(kv, deployment, kind, decode)
  local query = {
    op = decode and "attention_decode" or "attention_prefill", heads = kind.heads,
    tp = decode and deployment.tp / deployment.dcp or deployment.tp,
    kv_dtype = kv, batch = 1, context_tokens = 0,
  }
  if not decode then query.new_tokens = 1 end
  if kind.latent then return latent_query(query, kind, decode) end
  query.kv_heads, query.head_dim = kind.kv_heads, kind.head_dim
  if kind.compression then query.kv_heads = 1 end
  return query
end

--- The same questions to the rows of window attention.
function ops.window_queries(decode, prefill, window)
  local windowed = {}
  for i, query in ipairs { decode, prefill } do
    windowed[i] = {}
    for key, value in pairs(query) do windowed[i][key] = value end
    windowed[i].op, windowed[i].window = query.op:gsub("^attention_", "attention_window_"), window
    windowed[i].context_tokens = i == 1 and 8 * window or 0
    if i == 2 then windowed[i].new_tokens = 4 * window end
  end
  return windowed[1], windowed[2]
end

--- The shape of a decode call as text, for --explain.
function ops.decode_text(query, n, tokens)
  local heads = query.kv_heads and ("%d/%d"):format(query.heads, query.kv_heads) or ("%d"):format(query.heads)
  return ("batch=%.14g context=%.14g heads=%s tp=%d"):format(n, tokens / n, heads, query.tp)
end

--- Flop of one query-key pair over the heads of a rank, in decode and in prefill. Latent attention is absorbed in
--- decode and expanded in prefill; over selected tokens it is always absorbed.
--- @param kind table one of model.attention
function ops.pair_flop(kind, op)
  local mla = kind.latent
  if not mla then
    local flop = 2 * op.heads * (kind.head_dim + kind.v_head_dim)
    return flop, flop
  end
  local absorbed = 2 * op.heads * (2 * mla.kv_lora_rank + mla.qk_rope_head_dim)
  return absorbed, kind.kind == "latent" and ops.flop_of_rows(kind, op) or absorbed
end

--- Flop of a pair in the rows that price prompts of a kind, where these compute otherwise: rows of latent attention are
--- expanded to heads.
function ops.flop_of_rows(kind, op)
  local mla = kind.latent
  return mla and 2 * op.heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim + mla.v_head_dim)
end

return ops
