--- Routed experts in four bits whose weights a Marlin kernel expands to 16 bits inside of the GEMM, as vLLM runs MXFP4
--- on GPUs that cannot multiply it (VLLM_MXFP4_USE_MARLIN), and INT4 always.
---
---     time = fixed_s + max( weights of the touched experts / (bandwidth share x bandwidth),  flop / (mfu x peak) )
---     touched = E (1 - (1 - top / E)^tokens)
---
--- The constants are those of two families of measured rows on H200, of vLLM's Marlin experts: MXFP4 with 896 experts
--- and INT4 with 384. Against these rows of both kinds of routing the mean error is a fifth. No rows of other models
--- exist, so that every price is modelled.
--- Source: bench_data/h200-sxm, moe_layer_mxfp4_vllm (hidden_size 3584) and moe_layer_int4_wo_vllm.
local cost = require "rooflua.cost"

local marlin = {}

--- Formats that it expands.
marlin.runs = { mxfp4 = true, int4 = true, int4_wo = true }

local fixed_s = 40e-6          -- INT4, tp 8, one token: 40 us of which 8 are traffic
local bandwidth_share = 0.60   -- 16 to 512 tokens: 2.4 to 3.4 TB/s of 4.8
local mfu = 0.20               -- MXFP4, 8,192 tokens: 195 of 989 TFLOP/s
local max = math.max

--- Time of all layers.
--- @param moe table {experts, experts_per_token} of the kind of MLPs
--- @param rows number tokens that experts see
function marlin.price(steps, op, moe, rows)
  local touched = cost.bytes.touched_experts(moe.experts, moe.experts_per_token, rows) / moe.experts
  local flop, bytes = op.flop_per_row * rows * steps.fullest * op.rows_per_token / steps.ep, op.weight_bytes * touched
  local compute_s = flop / (mfu * steps.peak_flop_per_s)
  local memory_s = bytes / (bandwidth_share * steps.hardware.memory_bytes_per_s)
  local shape = cost.shapes_wanted() and ("tokens=%.14g experts=%d"):format(rows, moe.experts) or nil
  return cost.record(op.name, fixed_s + max(compute_s, memory_s), "modelled", op.count, flop, bytes, mfu,
                     compute_s > memory_s and "compute" or "memory", "Marlin: expands four bits in the GEMM",
                     "grouped_gemm", shape)
end

return marlin
