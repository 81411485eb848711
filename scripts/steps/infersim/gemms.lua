--- Times of one layer's GEMMs in InferSim (docs/MODELS.md 3.5, 3.6), in three groups: projections of full
--- attention, of linear attention, and shared experts.
---
--- A GEMM has no minimum time for reading its weights: the measured MFU includes it. The GEMMs are written out
--- without a loop. Compiled-code idiom: docs/LUA_API.md, "Hot paths".
---
--- Source: alibaba/InferSim f2293da.

local sizes = require "steps.infersim.sizes"

local gemms = {}

--- GEMMs [m,k] x [k,n] of a model on a rank, by name.
--- @param run infersim.Run with its sizes
--- @return table<string, {k: number, n: number, flop_per_row: number}>
function gemms.of(run)
  local s, h, H, list = run.shape, run.heads, run.shape.hidden_size, {}
  local function add(name, k, n) list[name] = { k = k, n = n, flop_per_row = 2 * k * n } end
  if s.mla then
    add("q_down", H, s.q_lora_rank)
    add("q_up", s.q_lora_rank, h * (s.nope + s.rope))
    add("kv_down", H, s.kv_lora_rank + s.rope)
    add("q_wk", h * s.nope, s.kv_lora_rank)  -- a batched GEMM in reality; InferSim: one GEMM with K = h' nope
    add("o_wv", h * s.kv_lora_rank, s.v_head_dim)
    add("o", h * s.v_head_dim, H)
  else
    add("qkv", H, (h + 2 * run.kv_heads) * s.head_dim)
    add("o", h * s.head_dim, H)
  end
  if s.hybrid then
    local v = s.value_heads * s.value_head_dim
    add("qkvz", H, 2 * s.key_heads * s.key_head_dim + 2 * v)
    add("linear_o", v, H)
  end
  if s.shared_experts > 0 then
    local width = run.intermediate_size * s.shared_experts
    add("up", H, 2 * width)
    add("down", width, H)
  end
  return list
end

--- Work of the projections of full attention, per row and layer.
function gemms.flop_per_row(run)
  local list, flop = run.gemms, 0
  for _, name in ipairs { "qkv", "q_down", "q_up", "kv_down", "q_wk", "o_wv", "o" } do
    if list[name] then flop = flop + list[name].flop_per_row end
  end
  return flop
end

--- Time of one GEMM with m rows.
local function time_s(run, gemm, m, mfu)
  local gflop = m * gemm.flop_per_row / 1e9
  return sizes.divide(gflop, run.gemm_gflop_per_s * mfu, "the MFU of a GEMM")
end

---@class infersim.GemmTimes
---@field total_s number all GEMMs of the group; each GEMM has its own field beside it, such as qkv_s

--- Projections of full attention.
--- @param mfu table<string, number> MFU of every GEMM, by name
--- @param times infersim.GemmTimes filled in
--- @return number total_s
function gemms.projections(run, mfu, m, times)
  local list = run.gemms
  if run.mla then
    times.q_down_s, times.q_up_s = time_s(run, list.q_down, m, mfu.q_down), time_s(run, list.q_up, m, mfu.q_up)
    times.kv_down_s, times.q_wk_s = time_s(run, list.kv_down, m, mfu.kv_down), time_s(run, list.q_wk, m, mfu.q_wk)
    times.o_wv_s, times.o_s = time_s(run, list.o_wv, m, mfu.o_wv), time_s(run, list.o, m, mfu.o)
    times.total_s = times.q_down_s + times.q_up_s + times.kv_down_s + times.q_wk_s + times.o_wv_s + times.o_s
  else
    times.qkv_s, times.o_s = time_s(run, list.qkv, m, mfu.qkv), time_s(run, list.o, m, mfu.o)
    times.total_s = times.qkv_s + times.o_s
  end
  return times.total_s
end

--- Projections of linear attention. The b and a columns of qkvz add to its time, not to the looked-up shape.
function gemms.linear_projections(run, mfu, m, times)
  local list, n = run.gemms, run.gemms.qkvz.n
  times.qkvz_s = time_s(run, list.qkvz, m, mfu.qkvz) * ((n + 2 * run.shape.value_heads) / n)
  times.linear_o_s = time_s(run, list.linear_o, m, mfu.linear_o)
  times.total_s = times.qkvz_s + times.linear_o_s
  return times.total_s
end

function gemms.shared_experts(run, mfu, m, times)
  times.total_s = time_s(run, run.gemms.up, m, mfu.up) + time_s(run, run.gemms.down, m, mfu.down)
  return times.total_s
end

return gemms
