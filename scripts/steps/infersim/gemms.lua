--- Times of one layer's GEMMs in InferSim (docs/MODELS.md 3.5, 3.6), in three groups: projections of full
--- attention, of linear attention, and shared experts. A group depends on m alone, so that a record per m
--- is remembered, exactly.
---
--- A GEMM has no weight-load floor of its own: bandwidth is inside the MFU.
---
--- Source: alibaba/InferSim f2293da.

local apart = require("rooflua.cost").apart
local sizes = require "steps.infersim.sizes"

local gemms = {}

local most_records = 65536  -- of one group; then it forgets

---@class infersim.GemmGroup
---@field known table<number, infersim.GemmTimes> by -m

---@class infersim.GemmTimes
---@field total_s number all GEMMs of the group; they follow by name
---@field evidence string of the last one

local Group = {}
Group.__index = Group

--- @param mfu rooflua.Database
--- @param gflop_per_s number peak
function gemms.group(mfu, dtype, gflop_per_s)
  return setmetatable({ mfu = mfu, dtype = dtype, gflop_per_s = gflop_per_s, known = {}, count = 0 }, Group)
end

--- One more GEMM. `factor` scales its time.
function Group:add(name, k, n, factor)
  self[#self + 1] = { name = name, k = k, n = n, factor = factor or 1 }
  return self
end

local function price(group, m)
  local times, total_s, last = {}, 0, nil
  for i = 1, #group do
    local gemm = group[i]
    local mfu, estimate = group.mfu:gemm(m, gemm.k, gemm.n, group.dtype)
    local gflop = 2 * m * gemm.k * gemm.n / 1e9
    local time_s = sizes.divide(gflop, group.gflop_per_s * mfu, "the MFU of a GEMM") * gemm.factor
    times[gemm.name], total_s, last = time_s, total_s + time_s, estimate
  end
  times.total_s, times.evidence = total_s, last.evidence
  return times
end

local function learn(group, m)
  local times = price(group, m)
  if group.count >= most_records then group.known, group.count = {}, 0 end
  group.known[-m], group.count = times, group.count + 1
  return times
end

--- @param group infersim.GemmGroup
--- @param m number rows
--- @return infersim.GemmTimes times of one layer, seconds
function gemms.at(group, m)
  local times = group.known[-m]  -- -m: see lookups.of_one
  if times then return times end
  return (apart(learn, group, m))
end

--- The groups of a model on a rank.
--- @param run infersim.Run sizes known
--- @return infersim.GemmGroup projections, infersim.GemmGroup|nil linear, infersim.GemmGroup|nil shared
function gemms.of(run, dtype)
  local s, h, H = run.shape, run.heads, run.shape.hidden_size
  local function group() return gemms.group(run.mfu, dtype, run.gemm_gflop_per_s) end
  local projections, linear, shared = group(), nil, nil
  if s.mla then
    projections:add("q_down_s", H, s.q_lora_rank):add("q_up_s", s.q_lora_rank, h * (s.nope + s.rope))
      :add("kv_down_s", H, s.kv_lora_rank + s.rope)
      :add("q_wk_s", h * s.nope, s.kv_lora_rank)  -- batched in truth: one GEMM of K = h' nope
      :add("o_wv_s", h * s.kv_lora_rank, s.v_head_dim):add("o_s", h * s.v_head_dim, H)
  else
    projections:add("qkv_s", H, (h + 2 * run.kv_heads) * s.head_dim):add("o_s", h * s.head_dim, H)
  end
  if s.hybrid then
    local v = s.value_heads * s.value_head_dim
    local n = 2 * s.key_heads * s.key_head_dim + 2 * v
    linear = group():add("qkvz_s", H, n, (n + 2 * s.value_heads) / n):add("linear_o_s", v, H)  -- b and a: time only
  end
  if s.shared_experts > 0 then
    local width = run.intermediate_size * s.shared_experts
    shared = group():add("up_s", H, 2 * width):add("down_s", width, H)
  end
  return projections, linear, shared
end

return gemms
