--- The price of routed experts: a whole layer or its GEMMs, whichever was measured nearer to the shape.
---
--- Blocks of rows: where fewer than 8 tensor-parallel ranks divide block-scaled FP8 experts, vLLM runs them on
--- Hopper with DeepGEMM (scripts/engines), whose GEMMs work on blocks of 128 rows of one expert. The engine does
--- not know the rows of each expert when it launches them, so it runs a block for every expert of the rank. A block
--- without rows skips its arithmetic, but not its weights and its output. Hence
---
---     time = rows that reach every expert + empty rows * traffic of a row / bandwidth
---     empty rows = (block - 1) * experts of the rank
---     traffic of a row = output, gate and up written and read (2 bytes each), their product written (1 byte)
---
--- Published rows of such experts were timed with another kernel, which reads only the experts that have tokens.
---
--- Drafts touch some experts that other tokens of their requests touch, too. Their step costs a share of what it costs
--- with as many independent tokens:
---
---     touched(tokens - draft_overlap x drafts) / touched(rows),     touched(t) = E (1 - (1 - top / E)^t)
---
--- It is 1 where every expert is touched anyway, so that arithmetic is not made cheaper.
--- Source: vLLM's DeepGemmExperts (compute_aligned_M, expert_ids -1) and DeepGEMM's scheduler (is_computation_valid);
--- docs/records/fitted.md, "Blocks of experts".
local bounds = require "steps.kernels.bounds"
local cost = require "rooflua.cost"
local marlin = require "steps.kernels.marlin"
local moving = require "steps.kernels.moving"

local experts = {}

--- The experts of a kind of MLPs. Latent experts see tokens of their own width.
--- @return table moe
--- @return integer width of a token
function experts.of(steps, op)
  local moe = steps.model.mlp[op.kind].moe
  return moe, moe.latent_size or steps.model.hidden_size
end

--- What a query says of experts without a gate; nil of others.
local function ungated(steps, op)
  if not steps.model.mlp[op.kind].gated then return false end
end

--- The query for routed experts: the GEMMs of one rank. A rank of whole experts (ep) has all tokens.
local function grouped_query(steps, op)
  local moe, width = experts.of(steps, op)
  return {
    op = "grouped_gemm", dtype = op.dtype, experts = moe.experts, experts_per_token = moe.experts_per_token,
    hidden_size = width, intermediate_size = moe.intermediate_size,
    tp = steps.moe_tp, ranks = steps.moe_tp * steps.ep, tokens = 1, decode = true,
    gated = ungated(steps, op),
  }
end

--- The query for routed experts that are measured as a whole layer. Its tokens are those of all ranks.
local function layer_query(steps, op)
  local moe, width = experts.of(steps, op)
  return {
    op = "moe_layer", dtype = op.dtype, experts = moe.experts, experts_per_token = moe.experts_per_token,
    hidden_size = width, intermediate_size = moe.intermediate_size, tp = steps.moe_tp, ep = steps.ep, tokens = 1,
    gated = ungated(steps, op),
  }
end

--- Whether whole MoE layers of this shape, or of one near it, were measured, and their GEMMs alone were not or worse.
local function measured_whole(steps, op)
  if not steps.experts_database:measures "moe_layer" then return false end
  local _, estimate = steps.experts_database:lookup(layer_query(steps, op))
  local whole = estimate.evidence
  if whole == "modelled" then return false end
  if not steps.experts_database:measures "grouped_gemm" then return true end
  _, estimate = steps.experts_database:lookup(grouped_query(steps, op))
  return whole ~= estimate.evidence and cost.mixed(whole, estimate.evidence) == estimate.evidence
end

--- Whether an operation is priced as a whole MoE layer; decided once.
local function is_whole_layer(steps, op)
  local known = steps.whole_moe_layers[op]
  if known == nil then
    known = measured_whole(steps, op)
    steps.whole_moe_layers[op] = known
  end
  return known
end

--- An error if the kernels that are asked for do not run the format of a model's experts.
--- @param kernels string the parameter experts_kernels
function experts.check(kernels, layers)
  if kernels ~= "marlin" then return end
  for _, op in ipairs(layers) do
    if op.op == "grouped_gemm" and not marlin.runs[op.dtype] then
      error(("steps.kernels: experts_kernels = \"marlin\" runs %s, and the experts of this model are %s"):format(
        table.concat(marlin.formats, ", "), op.dtype), 0)
    end
  end
end

--- Which rows answer for routed experts. An engine may run another one's kernels: TensorRT-LLM with the MoE backend
--- TRTLLM runs those that FlashInfer gives to vLLM and SGLang.
function experts.bind(steps, budget)
  steps.experts_database, steps.experts_bounds = steps.database, steps.bounds
  local kernels = steps.experts_kernels
  if kernels == "own" or kernels == "marlin" or kernels == steps.database.engine then return end
  steps.experts_database = steps.database:of_engine(steps.experts_kernels)
  steps.experts_bounds = bounds.of(steps.hardware, steps.experts_database, budget)
end

--- Rows of a block of experts in block-scaled FP8; 0 without blocks.
--- @param engine table values of the engine whose kernels run the experts
--- @param ranks integer tensor-parallel ranks of the experts
function experts.block(engine, ranks)
  if engine.expert_block_below and ranks >= engine.expert_block_below then return 0 end
  return engine.expert_block
end

--- Rows with which nearly every expert has one: 4 rows per expert in the mean leave out 2 %.
local function rows_for_all(moe)
  return math.ceil(4 * moe.experts / moe.experts_per_token)
end

--- Time of the rows that fill the blocks up, per layer of experts.
local function empty_rows(steps, op, moe, width)
  local rows = (steps.block_rows - 1) * moe.experts / steps.ep
  local bytes = rows * (2 * width + (2 * 2 * 2 + 1) * moe.intermediate_size / steps.moe_tp)
  local time_s = bytes / (steps.hardware.memory_bytes_per_s * steps.small_kernel_bandwidth)
  return cost.record(op.name .. "_empty_rows", time_s, "modelled", op.count, 0, bytes, nil, "memory",
                     "bytes of empty rows over bandwidth")
end

--- The share of experts that a batch with drafts touches.
--- @param tokens integer rows without padding
local function touched_share(steps, moe, rows, drafts, tokens)
  local touched = cost.bytes.touched_experts
  return touched(moe.experts, moe.experts_per_token, tokens - steps.draft_overlap * drafts)
    / touched(moe.experts, moe.experts_per_token, rows)
end

--- The price of tokens without drafts over that of all: the share below which drafts would make a step cheaper.
local function least_share(steps, op, query, all, without)
  local own = steps.experts_bounds
  return own:latency(op, own:rows_to_run(op, without, query), query) / own:latency(op, all, query)
end

--- The work of the tokens that there are, in the row that was entered last.
--- @param there number tokens of all ranks
--- @param share number of the runs that count
--- @param mine number tokens in the terms of the rows that answered, which were asked for `asked`
local function count(steps, op, moe, there, share, mine, asked)
  local touched = cost.bytes.touched_experts(moe.experts, moe.experts_per_token, there) / moe.experts
  cost.counted { flop = op.flop_per_row * there * steps.fullest * op.rows_per_token / steps.ep / share,
    bytes = op.weight_bytes * touched, field = "tokens", there = mine * steps.fullest, asked = asked }
end

--- Routed experts. They cost at least the weights of the experts that the tokens touch. Experts see the tokens of all
--- data-parallel ranks. A rank of whole experts gets its share of the rows; the fullest rank gets more and sets the
--- time.
--- @param drafts integer? how many of the rows are drafts
--- @param unpadded integer? rows without padding, where there are drafts
--- @param there number? rows that there are, which explanations count
function experts.price(steps, op, rows, drafts, unpadded, there)
  local moe, width = experts.of(steps, op)
  there = there or rows
  local share, without = 1, rows
  if drafts and steps.draft_overlap > 0 then
    share, without = touched_share(steps, moe, rows, drafts, unpadded), unpadded - drafts
  end
  if steps.experts_kernels == "marlin" and marlin.runs[op.dtype] then
    return marlin.price(steps, op, moe, rows, share, without, there)
  end
  local sorted = steps.travels and steps.travels:experts(rows)
  if sorted then
    local sorted_s = sorted:price(op, rows, there)
    return steps.copies > 0 and sorted_s + moving.copies(steps, op, moe, rows) or sorted_s
  end
  local in_blocks = steps.block_rows > 1 and op.dtype == "fp8_block"
  local empty_s = in_blocks and empty_rows(steps, op, moe, width) or 0
  local whole = is_whole_layer(steps, op)
  local query = whole and layer_query(steps, op) or grouped_query(steps, op)
  local most = (in_blocks and math.max(rows, rows_for_all(moe)) or rows) * steps.fullest
  local tokens = whole and most or math.max(1, most / steps.ep)
  local run = steps.experts_bounds:rows_to_run(op, tokens, query)
  if in_blocks then share = 1 end
  if share < 1 then share = math.max(share, least_share(steps, op, query, run, tokens * without / rows)) end
  query.tokens = run
  local time_s = cost.lookup(steps.experts_database, query, op.count * share, op.name)
  if cost.listening() then count(steps, op, moe, there, share, whole and there or there / steps.ep, query.tokens) end
  if steps.copies > 0 then time_s = time_s + moving.copies(steps, op, moe, rows) end
  local touched = share * cost.bytes.touched_experts(moe.experts, moe.experts_per_token, rows) / moe.experts
  return empty_s + steps.experts_bounds:at_least(time_s, op.flop_per_row * rows * steps.fullest * op.rows_per_token
                                                 / steps.ep, op.weight_bytes * touched, op.dtype, op.count, op.name)
end

return experts
