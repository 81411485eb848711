--- What no kernel can beat, whatever a table says, and that fewer rows never cost more.
---
--- A table may be wrong in both ways: weights that stayed in the cache while they were timed; noise
--- between two rows. What is missing to the first is recorded as a row of its own, so that it shows. For
--- the second a GEMM is priced with more rows where that is faster: it could be run so.
local cost = require "rooflua.cost"

local physics = {}
physics.__index = physics

--- Rows a GEMM may be padded to: every size a table is likely to have, up to a step's budget.
local function padded_sizes(budget)
  local sizes = {}
  for size = 1, 8 do sizes[#sizes + 1] = size end
  for size = 16, 256, 8 do sizes[#sizes + 1] = size end
  for size = 272, 512, 16 do sizes[#sizes + 1] = size end
  for size = 768, math.max(budget, 768), 256 do
    sizes[#sizes + 1] = size - 255  -- a new tile starts
    sizes[#sizes + 1] = size
  end
  return sizes
end

--- @param hardware rooflua.Hardware
--- @param database rooflua.Database
--- @param budget integer tokens of the largest step
function physics.of(hardware, database, budget)
  return setmetatable({
    bytes_per_s = hardware.memory_bytes_per_s, peaks = hardware.peak_flop_per_s, database = database,
    sizes = padded_sizes(budget), fastest = {},
  }, physics)
end

--- Tops a time up to its floor: flop over peak, bytes over bandwidth.
--- @param time_s number of `count` runs
--- @param flop number of one run
function physics:at_least(time_s, flop, bytes, dtype, count, name)
  local floor_s = count * math.max(flop / (self.peaks[dtype] or self.peaks.bf16), bytes / self.bytes_per_s)
  if time_s >= floor_s or count == 0 then return time_s end
  return time_s + cost.record(name, (floor_s - time_s) / count, "modelled", count, 0, 0, nil, "memory",
                              "below flop over peak or bytes over bandwidth", "floor")
end

function physics:latency(m, k, n, dtype)
  local _, estimate = self.database:gemm(m, k, n, dtype)
  return estimate.latency_s
end

--- For each of the sizes, which size from there on is fastest.
function physics:fastest_of(k, n, dtype)
  local of_dtype = self.fastest[dtype] or {}
  self.fastest[dtype] = of_dtype
  local key = k * 16777216 + n
  if of_dtype[key] then return of_dtype[key] end
  local sizes = self.sizes
  local found, best_s, best = {}, math.huge, nil
  for i = #sizes, 1, -1 do
    local latency_s = self:latency(sizes[i], k, n, dtype)
    if latency_s < best_s then best_s, best = latency_s, sizes[i] end
    found[i] = best
  end
  of_dtype[key] = found
  return found
end

--- The rows, m or more, with which this GEMM is fastest.
function physics:rows_to_run(m, k, n, dtype)
  local sizes = self.sizes
  local low, high = 1, #sizes + 1  -- the first size that holds m
  while low < high do
    local middle = math.floor((low + high) / 2)
    if sizes[middle] < m then low = middle + 1 else high = middle end
  end
  if low > #sizes then return m end
  local padded = self:fastest_of(k, n, dtype)[low]
  if self:latency(padded, k, n, dtype) < self:latency(m, k, n, dtype) then return padded end
  return m
end

--- A GEMM, floored and monotone in its rows.
--- @param op table one of cost.layers
function physics:gemm(op, m)
  local rows = self:rows_to_run(m, op.k, op.n, op.dtype)
  local time_s = cost.gemm(self.database, rows, op.k, op.n, op.dtype, op.count, op.name)
  return self:at_least(time_s, op.flop_per_row * m, op.weight_bytes + op.bytes_per_row * m, op.dtype, op.count, op.name)
end

return physics
