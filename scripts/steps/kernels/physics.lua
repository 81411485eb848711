--- What no kernel can beat, whatever a table says, and that fewer rows never cost more.
---
--- A table may be wrong in both ways: weights that stayed in the cache while they were timed; noise
--- between two rows. What is missing to the first is recorded as a row of its own, so that it shows. For
--- the second a GEMM is priced with more rows where that is faster: it could be run so.
local cost = require "rooflua.cost"

local floor, max = math.floor, math.max

local physics = {}
physics.__index = physics

--- Rows an operation may be padded to: every size a table is likely to have, up to a step's budget,
--- and one more each, where a new tile starts.
--- @param every integer every whole number up to it as well
local function padded_sizes(budget, every)
  local sizes = {}
  local function add(from, to, step)
    for size = from, to, step do
      sizes[#sizes + 1] = size
      sizes[#sizes + 1] = size + 1
    end
  end
  for size = 1, every do sizes[size] = size end
  add(every + 1, 256, 8)
  add(272, 512, 16)
  add(768, max(budget, 768), 256)
  return sizes
end

--- @param hardware rooflua.Hardware
--- @param database rooflua.Database
--- @param budget integer tokens of the largest step
function physics.of(hardware, database, budget)
  return setmetatable({
    bytes_per_s = hardware.memory_bytes_per_s, peaks = hardware.peak_flop_per_s, database = database,
    sizes = padded_sizes(budget, 15), sizes_of_experts = padded_sizes(budget, 255), fastest = {},
  }, physics)
end

--- Tops a time up to its floor: flop over peak, bytes over bandwidth.
--- @param time_s number of `count` runs
--- @param flop number of one run
function physics:at_least(time_s, flop, bytes, dtype, count, name)
  local floor_s = count * max(flop / (self.peaks[dtype] or self.peaks.bf16), bytes / self.bytes_per_s)
  if time_s >= floor_s or count == 0 then return time_s end
  return time_s + cost.record(name, (floor_s - time_s) / count, "modelled", count, 0, 0, nil, "memory",
                              "below flop over peak or bytes over bandwidth", "floor")
end

--- Writes the rows of an operation into its query.
function physics.ask(op, rows, query)
  if query.op == "memory" or query.op == "all_reduce" then
    query.bytes = op.bytes_per_row * rows + op.weight_bytes
  elseif query.op == "linear_attention" then
    query[query.decode and "batch" or "new_tokens"] = rows
  else
    query.tokens = rows
  end
end

--- Latency of one run, straight from the database. All but a GEMM bring their query along.
function physics:latency(op, rows, query)
  local _, estimate
  if query then
    physics.ask(op, rows, query)
    _, estimate = self.database:lookup(query)
  else
    _, estimate = self.database:gemm(rows, op.k, op.n, op.dtype)
  end
  return estimate.latency_s
end

--- Rows of experts in tables are where a benchmark had them: any whole number.
function physics:sizes_of(op)
  return op.op == "grouped_gemm" and self.sizes_of_experts or self.sizes
end

--- For each of the sizes, which size from there on is fastest.
function physics:fastest_of(op, query)
  if self.fastest[op] then return self.fastest[op] end
  local sizes = self:sizes_of(op)
  local found, best_s, best = {}, math.huge, nil
  for i = #sizes, 1, -1 do
    local latency_s = self:latency(op, sizes[i], query)
    if latency_s < best_s then best_s, best = latency_s, sizes[i] end
    found[i] = best
  end
  self.fastest[op] = found
  return found
end

--- The rows, as many as given or more, with which this operation is fastest.
function physics:rows_to_run(op, rows, query)
  local sizes = self:sizes_of(op)
  local low, high = 1, #sizes + 1  -- the first size that holds the rows
  while low < high do
    local middle = floor((low + high) / 2)
    if sizes[middle] < rows then low = middle + 1 else high = middle end
  end
  if low > #sizes then return rows end
  local padded = self:fastest_of(op, query)[low]
  if self:latency(op, padded, query) < self:latency(op, rows, query) then return padded end
  return rows
end

--- A GEMM, floored and monotone in its rows.
--- @param op table one of cost.layers
function physics:gemm(op, m)
  local rows = self:rows_to_run(op, m)
  local time_s = cost.gemm(self.database, rows, op.k, op.n, op.dtype, op.count, op.name)
  return self:at_least(time_s, op.flop_per_row * m, op.weight_bytes + op.bytes_per_row * m, op.dtype, op.count, op.name)
end

return physics
