--- Bounds on the price of an operation, because measured tables can be wrong in two ways.
---
--- Below: no kernel beats flop / peak or bytes / bandwidth. A table does where the weights stayed in the cache during
--- the timing. The missing time is recorded as a row of its own, so that reports show it.
--- Above: fewer rows never cost more. A table breaks this through noise between its rows. An operation is priced with
--- more rows where that is faster, because the engine could pad it to them.
local cost = require "rooflua.cost"
local blockscale = require "steps.kernels.blockscale"

local floor, max, record = math.floor, math.max, cost.record

local bounds = {}
bounds.__index = bounds

--- The numbers of rows that an operation may be padded to: the sizes that tables usually have, up to the token budget
--- of a step, and each size plus one, where a new tile starts.
--- @param every integer all whole numbers up to this one are sizes
--- @param wide integer between sizes above 512
local function padded_sizes(budget, every, wide)
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
  add(512 + wide, 768, wide)
  add(1024, max(budget, 768), 256)
  return sizes
end

--- @param hardware rooflua.Hardware
--- @param database rooflua.Database
--- @param budget integer tokens of the largest step
--- @param block_gemm string? which back end runs GEMMs in block-scaled FP8 (blockscale.lua); default as in the tables
function bounds.of(hardware, database, budget, block_gemm)
  return setmetatable({
    block_time = blockscale.of(hardware, block_gemm or "own"),
    bytes_per_s = hardware.memory_bytes_per_s, hardware = hardware, peaks = {}, database = database,
    sizes = padded_sizes(budget, 15, 256), sizes_of_experts = padded_sizes(budget, 255, 64), fastest = {},
  }, bounds)
end

--- The peak of a format on this GPU; formats that it cannot multiply are expanded to 16 bits.
function bounds:peak(dtype)
  local peak = self.peaks[dtype]
  if not peak then
    local peaks = self.hardware.peak_flop_per_s
    peak = peaks[self.hardware.computes_in[dtype]] or peaks.bf16
    self.peaks[dtype] = peak
  end
  return peak
end

--- Bytes per second of the host's link, which an operation crosses.
function bounds:host_bandwidth(op)
  local link = self.hardware.host_bytes_per_s
  if link and link > 0 then return link end
  error(("steps.kernels: %s states no link to its host (host_gb_per_s), which %s crosses"):format(
    self.hardware.name, op), 0)
end

--- Raises a time to its lower bound.
--- @param time_s number time of `count` runs
--- @param least_s number lower bound of one run
--- @param note string? where the bound is another one than that of the GPU
--- @return number time_s
function bounds.raised(time_s, least_s, count, name, note)
  if time_s >= count * least_s or count == 0 then return time_s end
  least_s = least_s * cost.work_left()
  if time_s >= count * least_s then return time_s end
  return time_s + record(name, (count * least_s - time_s) / count, "modelled", count, 0, 0, nil, "memory",
                         note or "below flop over peak or bytes over bandwidth", "floor")
end
local raised = bounds.raised

--- Raises a time to flop over peak and bytes over bandwidth.
--- @param flop number work of one run
function bounds:at_least(time_s, flop, bytes, dtype, count, name)
  return (raised(time_s, max(flop / self:peak(dtype), bytes / self.bytes_per_s), count, name))
end

--- Recurrent layers have a row for each request in decode, and for each token of a prompt.
local one_token = { gdn_decode = true, kda_decode = true }
local prompts = { gdn_prefill = true, kda_prefill = true }

--- Writes the rows of an operation into its query.
function bounds.ask(op, rows, query)
  if query.op == "memory" or query.op == "all_reduce" or query.op == "collective" then
    query.bytes = op.bytes_per_row * rows + op.weight_bytes
  elseif one_token[query.op] or query.op == "linear_attention" and query.decode then
    query.batch = rows
  elseif prompts[query.op] or query.op == "linear_attention" then
    query.new_tokens = rows
  else
    query.tokens = rows
  end
end

--- Latency and evidence of a GEMM. Where the engine fuses the quantisation that its rows contain into the kernel in
--- front, it is left out. At least half of the row is left, because rows of different runs are subtracted.
function bounds:gemm_latency(op, rows)
  local _, estimate = self.database:gemm(rows, op.k, op.n, op.dtype)
  local row_s, evidence = estimate.latency_s, estimate.evidence
  if op.dtype ~= "fp8" or not self.fused_quantize then return row_s, evidence end
  _, estimate = self.database:lookup(self.fused_quantize(rows, op.k))
  return max(row_s - estimate.latency_s, 0.5 * row_s), evidence
end

--- Latency of one run from the database. A GEMM needs no query; every other operation has one.
function bounds:latency(op, rows, query)
  if not query then return (self:gemm_latency(op, rows)) end
  bounds.ask(op, rows, query)
  local _, estimate = self.database:lookup(query)
  return estimate.latency_s
end

--- Tables of experts have rows at any whole number of tokens, and those of other experts stand in at sizes between;
--- tables of other operations have rows at round sizes.
function bounds:sizes_of(op)
  return (op.op == "grouped_gemm" or op.op == "moe_layer") and self.sizes_of_experts or self.sizes
end

--- For each size, the fastest size that is no smaller.
function bounds:fastest_of(op, query)
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

--- The number of rows, `rows` or more, with which the operation is fastest.
function bounds:rows_to_run(op, rows, query)
  local sizes = self:sizes_of(op)
  local low, high = 1, #sizes + 1  -- search for the first size that holds the rows
  while low < high do
    local middle = floor((low + high) / 2)
    if sizes[middle] < rows then low = middle + 1 else high = middle end
  end
  if low > #sizes then return rows end
  local padded = self:fastest_of(op, query)[low]
  if self:latency(op, padded, query) < self:latency(op, rows, query) then return padded end
  return rows
end

--- Time of a GEMM without the quantisation that its rows contain.
function bounds:gemm_alone(op, rows)
  local time_s, evidence = self:gemm_latency(op, rows)
  local shape = cost.shapes_wanted() and ("m=%.14g k=%.14g n=%.14g %s"):format(rows, op.k, op.n, op.dtype) or nil
  return cost.record(op.name, time_s, evidence, op.count, op.flop_per_row * rows,
                     op.weight_bytes + op.bytes_per_row * rows, nil, "memory",
                     "less the quantisation, which is fused into the kernel in front", "gemm", shape)
end

--- The work of `there` rows of the operation that was entered last, whose price asked for others.
--- @param op table one of cost.layers
--- @param field string of the shape
function bounds.counted(op, field, there, asked)
  if not cost.listening() or there == asked then return end
  cost.counted { flop = op.flop_per_row * there, bytes = op.weight_bytes + op.bytes_per_row * there, field = field,
    there = there, asked = asked }
end

local expanded = "weights are expanded inside of the GEMM (kernels/weight_only.lua)"
local slow_blocks = "FlashInfer's kernels for block-scaled FP8 (kernels/blockscale.lua)"

--- Time of a GEMM within both bounds.
--- @param op table one of cost.layers
--- @param m number rows that run
--- @param there number? of these, rows that there are
function bounds:gemm(op, m, there)
  local expands = self.weight_only and self.weight_only:expands(op.dtype)
  if expands and self.weight_only:is_modelled(op) then
    local time_s = self.weight_only:price(op, m)
    bounds.counted(op, "m", there or m, m)
    return time_s
  end
  local rows = self:rows_to_run(op, m)
  local time_s
  if op.dtype == "fp8" and self.fused_quantize then
    time_s = self:gemm_alone(op, rows)
  else
    time_s = cost.gemm(self.database, rows, op.k, op.n, op.dtype, op.count, op.name)
  end
  bounds.counted(op, "m", there or m, rows)
  if expands then time_s = raised(time_s, self.weight_only:arithmetic_s(op, m), op.count, op.name, expanded) end
  if self.block_time then time_s = raised(time_s, self.block_time(op, m), op.count, op.name, slow_blocks) end
  return self:at_least(time_s, op.flop_per_row * m, op.weight_bytes + op.bytes_per_row * m, op.dtype, op.count, op.name)
end

return bounds
