--- Routed experts in four bits whose weights a Marlin kernel expands to 16 bits inside of the GEMM, as vLLM runs MXFP4
--- on GPUs that cannot multiply it (VLLM_MXFP4_USE_MARLIN), and INT4 always.
---
---     time = fixed_s + padded weights of all experts x seconds_per_byte(rows per expert)
---     rows per expert = tokens x top / experts
---
--- The kernel pads the hidden size to 256 and the width of an expert on its rank to 128. Measured rows of it exist for
--- one shape of each format: MXFP4 with 896 experts of which 16 per token, INT4 with 384 of which 8, on H200 with
--- skewed routing. Their times per byte of weights are similar functions of the rows per expert: below one row, the
--- experts that are touched are read; from about ten rows on, expanding and multiplying count. Evidence is stand_in,
--- because the rows are of other shapes. On another GPU the points are scaled with the peak: on H100, which has the
--- same peak and 70 % of the bandwidth, MXFP4 takes 2 % longer at any number of rows, INT4 15 % below ten rows.
--- Source: bench_data/h200-sxm, moe_layer_mxfp4_vllm (hidden_size 3584), moe_layer_int4_wo_vllm, power_law_1.01;
--- padding: vLLM quantization/mxfp4.py.
local cost = require "rooflua.cost"

local marlin = {}

local fixed_s = 30e-6  -- INT4, tp 8, one token: 40 us of which 8 are traffic

-- Rows per expert, and microseconds per GB of weights without fixed_s.
local of_mxfp4 = { { 0.018, 8.4 }, { 0.036, 14.9 }, { 0.071, 27.9 }, { 0.286, 104 }, { 0.857, 173 }, { 1.71, 247 },
  { 3.43, 323 }, { 8, 473 }, { 27.4, 817 }, { 110, 2142 }, { 219, 3750 }, { 293, 4981 } }
local of_int4 = { { 0.021, 6.7 }, { 0.042, 13 }, { 0.083, 25 }, { 0.167, 49 }, { 0.333, 87 }, { 1, 146 }, { 2, 212 },
  { 5.33, 334 }, { 10.7, 385 }, { 16, 516 }, { 42.7, 915 }, { 64, 1318 }, { 128, 2139 }, { 341, 4855 } }

--- Formats that it expands.
marlin.runs = { mxfp4 = of_mxfp4, int4 = of_int4, int4_wo = of_int4 }
marlin.formats = { "int4", "int4_wo", "mxfp4" }

local of_peak = 989e12  -- of the GPU of the rows
local ceil, log, exp = math.ceil, math.log, math.exp

--- Seconds per byte on the GPU of the rows: linear in logarithms between points, proportional beyond them.
local function seconds_per_byte(points, rows)
  local first, last = points[1], points[#points]
  if rows <= first[1] then return first[2] * 1e-15 * rows / first[1] end
  if rows >= last[1] then return last[2] * 1e-15 * rows / last[1] end
  local i = 1
  while points[i + 1][1] < rows do i = i + 1 end
  local a, b = points[i], points[i + 1]
  local part = log(rows / a[1]) / log(b[1] / a[1])
  return 1e-15 * exp(log(a[2]) + part * log(b[2] / a[2]))
end

--- Padded weights over weights.
local function padding_of(steps, moe)
  local hidden, width = steps.model.hidden_size, moe.intermediate_size / steps.moe_tp
  return 256 * ceil(hidden / 256) / hidden * 128 * ceil(width / 128) / width
end

--- Time of all layers.
--- @param moe table {experts, experts_per_token} of the kind of MLPs
--- @param tokens number that experts see
--- @param share number of the experts that these tokens touch, which drafts share with other tokens
--- @param without number the tokens that are no drafts: drafts never make a step cheaper
--- @param there number tokens without padding
function marlin.price(steps, op, moe, tokens, share, without, there)
  local rows_of_token, points = steps.fullest * moe.experts_per_token / moe.experts, marlin.runs[op.dtype]
  local rows = tokens * rows_of_token
  local byte_s = seconds_per_byte(points, rows)
  if share < 1 then byte_s = math.max(share * byte_s, seconds_per_byte(points, without * rows_of_token)) end
  local scale = of_peak / steps.peak_flop_per_s
  local bytes = op.weight_bytes * padding_of(steps, moe)
  local time_s = fixed_s + bytes * byte_s * scale
  local flop = op.flop_per_row * tokens * op.rows_per_token / steps.ep
  local shape = cost.shapes_wanted() and ("tokens=%.14g experts=%d"):format(tokens, moe.experts) or nil
  local paid_s = cost.record(op.name, time_s, "stand_in", op.count, flop, bytes,
                             flop / (time_s * steps.peak_flop_per_s), rows > 10 and "compute" or "memory",
                             "Marlin rows of other shapes, by rows per expert", "grouped_gemm", shape)
  if cost.listening() then
    local touched = cost.bytes.touched_experts(moe.experts, moe.experts_per_token, there) / moe.experts
    cost.counted { flop = op.flop_per_row * there * op.rows_per_token / steps.ep, bytes = bytes * share * touched,
      field = "tokens", there = there, asked = tokens }
  end
  return paid_s
end

return marlin
