--- What no kernel can beat, whatever a table says, and that more rows never cost less.
---
--- A table may be wrong in both ways: weights that stayed in the cache while they were timed, noise
--- between two rows. The difference is recorded as a row of its own, so that it shows.
local cost = require "rooflua.cost"

local physics = {}
physics.__index = physics

local coarse = 256  -- tokens between the sizes that are compared above the largest graph

--- @param hardware rooflua.Hardware
--- @param database rooflua.Database
function physics.of(hardware, database)
  return setmetatable({
    bytes_per_s = hardware.memory_bytes_per_s, peaks = hardware.peak_flop_per_s, database = database,
    envelopes = {},
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

--- Sizes up to m at which a table could have been slower than it is at m.
local function sizes_below(list, m)
  if #list == 0 then
    for size = 1, 8 do list[#list + 1] = size end
    for size = 16, 256, 8 do list[#list + 1] = size end
  end
  while list[#list] < m do
    local last = list[#list]
    if last < 512 then list[#list + 1] = last + 16 else
      list[#list + 1] = last + 1          -- a new tile starts
      list[#list + 1] = last + coarse
    end
  end
  return list
end

--- The slowest this GEMM is with fewer rows than m.
function physics:slowest_below(m, k, n, dtype)
  local by_shape = self.envelopes[dtype] or {}
  self.envelopes[dtype] = by_shape
  local key = k * 16777216 + n
  local envelope = by_shape[key] or { sizes = {}, slowest = {} }
  by_shape[key] = envelope
  local sizes, slowest = sizes_below(envelope.sizes, m), envelope.slowest
  local i, worst_s = 1, 0
  while i <= #sizes and sizes[i] < m do
    if not slowest[i] then
      local _, estimate = self.database:gemm(sizes[i], k, n, dtype)
      slowest[i] = math.max(worst_s, estimate.latency_s)
    end
    worst_s = slowest[i]
    i = i + 1
  end
  return worst_s
end

--- A GEMM, floored and monotone in its rows.
--- @param op table one of cost.layers
function physics:gemm(op, m)
  local count = op.count
  local time_s = cost.gemm(self.database, m, op.k, op.n, op.dtype, count, op.name)
  time_s = self:at_least(time_s, op.flop_per_row * m, op.weight_bytes + op.bytes_per_row * m, op.dtype, count, op.name)
  local below_s = count * self:slowest_below(m, op.k, op.n, op.dtype)
  if time_s >= below_s then return time_s end
  return time_s + cost.record(op.name, (below_s - time_s) / count, "modelled", count, 0, 0, nil, nil,
                              "the table is slower with fewer rows", "floor")
end

return physics
