--- GEMMs whose weights are in a format that the GPU does not multiply: the kernel expands them to 16 bits inside of the
--- GEMM, and activations stay in 16 bits (Marlin, Machete).
---
---     time = max( bytes / (weight_only_bandwidth x bandwidth),  rows x time of a row in bf16 / weight_only_rate )
---
--- The time of a row in bf16 is that of 4,096 rows of the same shape. Rows of the format, where a table has them,
--- stand in place of the first term. Which engine runs such kernels on which GPU, and both constants:
--- engines/rules/weight_only.lua.
local cost = require "rooflua.cost"

local weight_only = {}
weight_only.__index = weight_only

local many = 4096  -- rows at which the rate of bf16 is taken
local sixteen_bits = { bf16 = true, fp16 = true, fp32 = true }

--- @param bounds table steps.kernels.bounds
--- @param engine table values of an engine
--- @return table? nil where the engine has no such kernels
function weight_only.of(bounds, engine)
  if not engine.weight_only_rate then return nil end
  return setmetatable({ bounds = bounds, rate = engine.weight_only_rate, computes_in = bounds.hardware.computes_in,
    bytes_per_s = engine.weight_only_bandwidth * bounds.bytes_per_s, rows = {}, tables = {} }, weight_only)
end

--- Whether weights of a format are expanded to 16 bits.
function weight_only:expands(dtype) return self.computes_in[dtype] == "bf16" and not sixteen_bits[dtype] end

--- Least time of an operation over m rows: that of the arithmetic.
function weight_only:arithmetic_s(op, m)
  local row_s = self.rows[op]
  if not row_s then
    local _, estimate = self.bounds.database:gemm(many, op.k, op.n, "bf16")
    row_s = estimate.latency_s / many / self.rate
    self.rows[op] = row_s
  end
  return m * row_s
end

--- Whether no table has rows of the format.
function weight_only:is_modelled(op)
  local modelled = self.tables[op]
  if modelled == nil then
    local _, estimate = self.bounds.database:gemm(1, op.k, op.n, op.dtype)
    modelled = estimate.evidence == "modelled"
    self.tables[op] = modelled
  end
  return modelled
end

--- The price of an operation without rows of its format.
function weight_only:price(op, m)
  local bytes, arithmetic_s = op.weight_bytes + op.bytes_per_row * m, self:arithmetic_s(op, m)
  local time_s = math.max(bytes / self.bytes_per_s, arithmetic_s)
  local shape = cost.shapes_wanted() and ("m=%.14g k=%.14g n=%.14g %s"):format(m, op.k, op.n, op.dtype) or nil
  return cost.record(op.name, time_s, "modelled", op.count, op.flop_per_row * m, bytes,
    op.flop_per_row * m / (time_s * self.bounds:peak "bf16"), time_s > arithmetic_s and "memory" or "compute",
    "weights are expanded to 16 bits inside of the GEMM (kernels/weight_only.lua)", "gemm", shape)
end

return weight_only
