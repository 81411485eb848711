--- The price of each operation of a forward pass as a function of its rows. An operation is an entry of
--- cost.layers: its shape on one rank, how often it runs, and which rows of the batch it sees.
local cost = require "rooflua.cost"

local ops = {}

function ops.elementwise(steps, op, rows) return steps.elementwise:price(op, rows) end

--- Under expert parallelism, two all-to-alls replace the all-reduce after the experts: tokens travel to their experts
--- and back.
function ops.all_reduce(steps, op, rows)
  if steps.expert_parallel and op.name == "mlp_all_reduce" and steps.model.moe then
    local bytes = op.bytes_per_row * rows * steps.model.moe.experts_per_token / steps.tp
    return cost.all_to_all(steps.database, bytes, steps.tp, 2 * op.count, "expert_all_to_all")
  end
  local query = { op = "all_reduce", bytes = 1, ranks = steps.tp }
  local run = steps.bounds:rows_to_run(op, rows, query)
  return cost.all_reduce(steps.database, op.bytes_per_row * run, steps.tp, op.count, op.name)
end

--- The query for a projection that latent attention absorbs.
local function absorbed_query(steps, op)
  local mla = steps.model.mla
  local pre = op.name == "bmm_q"
  return {
    op = "mla_bmm", dtype = op.dtype, stage = pre and "pre" or "post", heads = steps.model.heads, tp = steps.tp,
    kv_lora_rank = mla.kv_lora_rank, head_dim = pre and mla.qk_nope_head_dim or mla.v_head_dim, tokens = 1,
  }
end

--- Many small GEMMs in one launch: the absorbed projections of latent attention.
function ops.batched_gemm(steps, op, rows)
  if steps.database:measures "mla_bmm" then
    local query = absorbed_query(steps, op)
    query.tokens = steps.bounds:rows_to_run(op, rows, query)
    local time_s = cost.lookup(steps.database, query, op.count, op.name)
    return steps.bounds:at_least(time_s, op.flop_per_row * rows, op.weight_bytes + op.bytes_per_row * rows, op.dtype,
                                  op.count, op.name)
  end
  local flop, bytes = op.flop_per_row * rows, op.weight_bytes + op.bytes_per_row * rows
  local time_s, bound = cost.roofline(flop, bytes, steps.peak_flop_per_s, steps.batched_gemm_mfu,
                                      steps.hardware.memory_bytes_per_s)
  local shape = cost.shapes_wanted() and ("%d x m=%.14g k=%.14g n=%.14g"):format(op.groups, rows, op.k, op.n) or nil
  return cost.record(op.name, time_s + steps.small_kernel_s, "assumed", op.count, flop, bytes,
                     steps.batched_gemm_mfu, bound, "batched_gemm_mfu", "gemm", shape)
end

function ops.gemm(steps, op, rows)
  if op.groups > 1 then return ops.batched_gemm(steps, op, rows) end
  return steps.bounds:gemm(op, rows)
end

--- The query for routed experts. Under expert parallelism each rank holds whole experts (tp = 1) and brings its part
--- of the tokens.
local function grouped_query(steps, op)
  local moe = steps.model.moe
  return {
    op = "grouped_gemm", dtype = op.dtype, experts = moe.experts, experts_per_token = moe.experts_per_token,
    hidden_size = steps.model.hidden_size, intermediate_size = moe.intermediate_size,
    tp = steps.expert_parallel and 1 or steps.tp, ranks = steps.tp, tokens = 1, decode = true,
  }
end

--- The query for routed experts that are measured as a whole layer. Its tokens are those of all ranks.
local function layer_query(steps, dtype)
  local moe, apart = steps.model.moe, steps.expert_parallel
  return {
    op = "moe_layer", dtype = dtype, experts = moe.experts, experts_per_token = moe.experts_per_token,
    hidden_size = steps.model.hidden_size, intermediate_size = moe.intermediate_size,
    tp = apart and 1 or steps.tp, ep = apart and steps.tp or 1, tokens = 1,
  }
end

--- Whether whole MoE layers of this shape, or of one near it, were measured, and their GEMMs alone were not or worse.
function ops.has_moe_layers(steps)
  if not steps.model.moe or not steps.database:measures "moe_layer" then return false end
  local _, estimate = steps.database:lookup(layer_query(steps, steps.weights))
  local whole = estimate.evidence
  if whole == "modelled" then return false end
  if not steps.database:measures "grouped_gemm" then return true end
  _, estimate = steps.database:lookup(grouped_query(steps, { dtype = steps.weights }))
  return whole ~= estimate.evidence and cost.mixed(whole, estimate.evidence) == estimate.evidence
end

--- Routed experts. They cost at least the weights of the experts that the tokens touch.
function ops.grouped_gemm(steps, op, rows)
  local whole, moe = steps.whole_moe_layers, steps.model.moe
  local query = whole and layer_query(steps, op.dtype) or grouped_query(steps, op)
  local tokens = steps.expert_parallel and not whole and math.max(1, rows / steps.tp) or rows
  query.tokens = steps.bounds:rows_to_run(op, tokens, query)
  local time_s = cost.lookup(steps.database, query, op.count, op.name)
  local touched = cost.bytes.touched_experts(moe.experts, moe.experts_per_token, rows) / moe.experts
  return steps.bounds:at_least(time_s, op.flop_per_row * rows * op.rows_per_token, op.weight_bytes * touched,
                                op.dtype, op.count, op.name)
end

--- Time of an operation over `rows`, with padding where the step has any.
function ops.price(steps, op, rows)
  local price = ops[op.op]
  if not price then error("steps.kernels: no price for operation " .. op.op, 0) end
  return price(steps, op, rows)
end

-- Attention queries: heads of the whole model, because the lookup divides them by tp -------------------------

--- An attention query of the model. The step model writes batch and tokens into it before each lookup.
function ops.attention_query(model, deployment, decode)
  local mla = model.mla
  local query = {
    op = decode and "attention_decode" or "attention_prefill", heads = model.heads, tp = deployment.tp,
    kv_dtype = deployment.kv, batch = 1, context_tokens = 0,
  }
  if not decode then query.new_tokens = 1 end
  if not mla then
    query.kv_heads, query.head_dim = model.kv_heads, model.head_dim
    return query
  end
  query.qk_rope_head_dim = mla.qk_rope_head_dim
  if decode then
    query.op, query.kv_lora_rank = "mla_decode", mla.kv_lora_rank
  else
    query.op, query.qk_nope_head_dim, query.v_head_dim = "mla_prefill", mla.qk_nope_head_dim, mla.v_head_dim
  end
  return query
end

--- The shape of a decode call as text, for --explain.
function ops.decode_text(query, n, tokens)
  local heads = query.kv_heads and ("%d/%d"):format(query.heads, query.kv_heads) or ("%d"):format(query.heads)
  return ("batch=%.14g context=%.14g heads=%s tp=%d"):format(n, tokens / n, heads, query.tp)
end

--- Flop of one query-key pair over the heads of a rank, in decode and in prefill. Latent attention is absorbed in
--- decode and expanded in prefill.
function ops.pair_flop(model, op)
  local mla = model.mla
  if not mla then return 4 * op.heads * op.head_dim, 4 * op.heads * op.head_dim end
  return 2 * op.heads * (2 * mla.kv_lora_rank + mla.qk_rope_head_dim),
         2 * op.heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim + mla.v_head_dim)
end

--- @param measured boolean whether the tables tell prompts and decodes apart
function ops.linear_query(model, deployment, decode, measured)
  local hybrid, tp = model.hybrid, deployment.tp
  local op = "linear_attention"
  if measured then op = decode and "gdn_decode" or "gdn_prefill" end
  local query = {
    op = op, conv = hybrid.conv_kernel,
    key_heads = hybrid.key_heads / tp, key_head_dim = hybrid.key_head_dim,
    value_heads = hybrid.value_heads / tp, value_head_dim = hybrid.value_head_dim, batch = 1,
  }
  if op ~= "gdn_decode" then query.new_tokens = 1 end
  if not measured then query.decode = decode end
  return query
end

return ops
