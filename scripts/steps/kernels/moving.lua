--- Experts that move between ranks (docs/EXPERT_DRIFT.md): the load of the fullest rank is that of the step
--- (batch.expert_load), where `expert_imbalance` is one number for all steps. The sums of operations that see experts
--- are remembered for one load at a time: it is the same in many steps.
---
--- Copies of experts are weights that a rank reads besides. A layer takes longer by what they add to its roofline,
---
---     max(flop / peak, (bytes + copies) / bandwidth) - max(flop / peak, bytes / bandwidth)
---
--- where bytes are those of the experts that the tokens touch, and copies their share for R of E experts. Rows of
--- tables know no copies. A step waits for experts that move in front of it (batch.expert_stall_s).
local cost = require "rooflua.cost"

local moving = {}

local max, record = math.max, cost.record

--- What copies add to a layer of experts.
--- @param op table the routed experts of cost.layers
--- @param moe table {experts, experts_per_token}
--- @param rows number tokens of all ranks
function moving.copies(steps, op, moe, rows)
  local touched = cost.bytes.touched_experts(moe.experts, moe.experts_per_token, rows) / moe.experts
  local bandwidth = steps.hardware.memory_bytes_per_s
  local flop = op.flop_per_row * rows * steps.fullest * op.rows_per_token / steps.ep
  local bytes, more = op.weight_bytes * touched, op.weight_bytes * touched * steps.copies
  local flop_s = flop / steps.bounds:peak(op.dtype)
  local time_s = max(flop_s, (bytes + more) / bandwidth) - max(flop_s, bytes / bandwidth)
  if time_s <= 0 then return 0 end
  return record(op.name .. "_copies", time_s, "modelled", op.count, 0, more, nil, "memory",
    "weights of copies over bandwidth", "grouped_gemm")
end

--- Sums of operations for the load at hand.
local function follow(steps, load)
  if load == steps.fullest then return end
  steps.fullest = load
  steps:bind_sums(steps.seen)
end

local function rows_time(steps, batch)
  follow(steps, max(1, batch.expert_load))
  local time_s, most = steps:rows_time_of_experts(batch)
  if batch.expert_stall_s == 0 then return time_s, most end
  return time_s + record("expert_moves", batch.expert_stall_s, "modelled", 1, 0, 0, nil, "link",
    "the step waits for experts that move", "experts"), most
end

local function never_settles() return nil end

--- Makes a bound step model follow the load of its batches.
--- @param given table? of machine/experts.lua
function moving.bind(steps, given)
  steps.copies = given and given.shape.redundant / given.shape.experts or 0
  if not given then return end
  steps.rows_time_of_experts, steps.rows_time, steps.settles = steps.rows_time, rows_time, never_settles
end

return moving
