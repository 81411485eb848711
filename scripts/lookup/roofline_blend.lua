--- Lookup: how far a kernel is from a line through its floor and its roofline, blended from the nearest
--- measured shapes.
---
---     latency(x) = line(x) 2^( sum_i w_i log2( latency_i / line(x_i) ) / sum_i w_i )
---     line(x)    = floor + best * roofline(x),     roofline = max( flop, ridge * bytes )
---     w_i        = 1 / distance_i^power            distance in doublings, Euclidean over all axes
---
--- best is the least time per roofline of any row of the table, floor what its fastest row takes beyond
--- that. Latency changes by orders of magnitude from row to row, the factor to this line by some percent:
--- that is what is safe to blend, also between shapes that differ in every axis. A row that was measured
--- is returned as it is. For GEMM, attention and latent decode; other operations have no roofline here.
---
--- Rows left out one by one, and shapes left out whole: tests/scripts/tables/roofline_blend_test.lua, docs/MODELS.md.
local cost = require "rooflua.cost"
local policy = require "rooflua.policy"
local mfu = require "rooflua.mfu"

---@class lookup.RooflineBlend
---@field neighbours integer
---@field power number
---@field ridge_flop_per_byte number
local RooflineBlend = policy.define {
  name = "roofline_blend",
  doc = "Blends how far the nearest measured shapes are from a roofline with a floor, in log space.",
  source = "inverse distance weighting: Shepard 1968",
  returns = "latency_s",
  params = {
    neighbours = { default = 4, unit = "rows", min = 1, integer = true, doc = "Measured shapes in a blend." },
    power = { default = 2.0, unit = "1", min = 0, doc = "Of the distance; 0 weighs all neighbours alike." },
    ridge_flop_per_byte = {
      default = 100.0, unit = "flop/byte", min = 0,
      doc = "Peak over bandwidth, where memory stops to bind: H20 37, H200 206, twice that in FP8. "
            .. "It matters for shapes far from all rows.",
    },
  },
}

local element_bytes = {}
for _, format in ipairs(mfu.formats()) do element_bytes[format.name] = format.bits / 8 end

--- Flop and bytes of a shape on one rank, by op.
local work = {}
function work.gemm(x, dtype)
  local e = element_bytes[dtype]
  return 2 * x.m * x.k * x.n, e * (x.m * x.k + x.k * x.n + x.m * x.n)
end
function work.attention_decode(x, _, kv_dtype)
  local tokens = x.batch * x.context_tokens
  return 4 * x.heads * x.head_dim * tokens, 2 * element_bytes[kv_dtype] * x.kv_heads * x.head_dim * tokens
end
function work.attention_prefill(x, _, kv_dtype)
  local t, p = x.new_tokens, x.context_tokens or 0
  return 4 * x.heads * x.head_dim * (t * p + t * (t + 1) / 2),
         2 * element_bytes[kv_dtype] * (x.kv_heads * (p + t) + x.heads * t) * x.head_dim
end
--- Bytes of one kernel, up to its passes over memory: they are the same in the line and in the rows of the kernel.
function work.elementwise(x) return 0, x.tokens * x.width end
function work.all_reduce(x) return 0, x.bytes end
function work.moe_layer(x, dtype)
  local width = x.hidden_size * x.intermediate_size / x.tp
  local touched = cost.bytes.touched_experts(x.experts, x.experts_per_token, x.tokens) / x.ep
  return 6 * x.tokens * x.experts_per_token * width / x.ep, 3 * element_bytes[dtype] * width * touched
end
function work.mla_decode(x, _, kv_dtype)
  local tokens, width = x.batch * x.context_tokens, 2 * x.kv_lora_rank + x.qk_rope_head_dim
  return 2 * x.heads * width * tokens, element_bytes[kv_dtype] * (x.kv_lora_rank + x.qk_rope_head_dim) * tokens
end

--- What the tables hold per rank and a query per model.
local sharded = { heads = true, kv_heads = true }

--- The query as a row of the table would say it.
local function shape_of(query, axes)
  local shape = {}
  for _, axis in ipairs(axes) do
    local value = query[axis] or 0
    if sharded[axis] then value = math.max(1, math.floor(value / query.tp)) end
    shape[axis] = value
  end
  return shape
end

--- Between neighbours on every axis: interpolated. Beyond them: extrapolated; on an axis on which the
--- table has one value only (heads, mostly), another kernel stands in.
local function evidence_of(found, shape, table_of)
  local evidence = "interpolated"
  for _, axis in ipairs(table_of.axes) do
    local least, most = math.huge, -math.huge
    for _, near in ipairs(found) do
      local value = near[axis] or 0
      least, most = math.min(least, value), math.max(most, value)
    end
    if type(shape[axis]) == "number" and (shape[axis] < least or shape[axis] > most) then
      evidence = "extrapolated"
      local range = table_of.ranges[axis]
      if range.least == range.most then return "stand_in" end
    end
  end
  return evidence
end

--- Work in flop: arithmetic, or the traffic that takes as long.
function RooflineBlend:roofline(table_of, query, shape)
  local flop, bytes = work[query.op](shape, table_of.dtype, query.kv_dtype)
  return math.max(flop, self.ridge_flop_per_byte * bytes)
end

--- The line: seconds at no work, and seconds per flop. It is kept for each table and format of the KV cache.
function RooflineBlend:line(table_of, query, kv_dtype)
  local of_tables = rawget(self, "lines") or {}
  self.lines = of_tables
  local lines = of_tables[table_of] or {}
  of_tables[table_of] = lines
  local line = lines[kv_dtype]
  if line then return line.floor_s, line.best end
  local fastest, best = nil, math.huge
  for _, row in ipairs(table_of.rows) do
    if row.kv_dtype == kv_dtype and row.latency_s > 0 then
      if not fastest or row.latency_s < fastest.latency_s then fastest = row end
      best = math.min(best, row.latency_s / self:roofline(table_of, query, row))
    end
  end
  local floor_s = math.max(0, fastest.latency_s - best * self:roofline(table_of, query, fastest))
  lines[kv_dtype] = { floor_s = floor_s, best = best }
  return floor_s, best
end

---@param table_of rooflua.Table
---@param query table
---@return number latency_s, string evidence
function RooflineBlend:lookup(table_of, query)
  local axes = table_of.axes
  if not work[query.op] then error("roofline_blend has no roofline of " .. query.op, 0) end
  local found = table_of:near(query, self.neighbours)
  if #found == 0 then error(("roofline_blend: %s has no rows of %s"):format(table_of.name, query.kv_dtype), 0) end
  if found[1].distance == 0 then return found[1].latency_s, "measured" end
  local shape = shape_of(query, axes)
  local floor_s, best = self:line(table_of, query, found[1].kv_dtype)
  local sum, weights = 0, 0
  for _, near in ipairs(found) do
    local weight = math.exp(-self.power * math.log(near.distance))
    local line_s = floor_s + best * self:roofline(table_of, query, near)
    sum, weights = sum + weight * math.log(near.latency_s / line_s), weights + weight
  end
  local latency_s = (floor_s + best * self:roofline(table_of, query, shape)) * math.exp(sum / weights)
  if not (latency_s > 0 and latency_s < math.huge) then
    error(("roofline_blend: power = %g, ridge_flop_per_byte = %g: no finite time follows"):format(self.power,
      self.ridge_flop_per_byte), 0)
  end
  return latency_s, evidence_of(found, shape, table_of)
end

return RooflineBlend
