--- The GEMMs of one layer in the MFU roofline: their shapes, their MFUs and their times.
local cost = require "rooflua.cost"

local gemms = {}

local least_mfu = 1e-4    -- below this a table cell counts as empty
local widest_search = 20  -- doublings that `nearest` and `first_nonzero` try

--- Shapes (k, n) of one layer. With ranks > 1, the columns of q, k, v, gate, up and the rows of o, down are split.
--- @param dims {hidden: number, q: number, kv: number, mlp: number}
--- @return {name: string, k: number, n: number}[]
function gemms.layer(dims, fused, ranks)
  local H, q, kv, I = dims.hidden, dims.q / ranks, dims.kv / ranks, dims.mlp / ranks
  if fused then
    return {
      { name = "qkv", k = H, n = q + 2 * kv }, { name = "o", k = q, n = H },
      { name = "gate_up", k = H, n = 2 * I }, { name = "down", k = I, n = H },
    }
  end
  return {
    { name = "q", k = H, n = q }, { name = "k", k = H, n = kv }, { name = "v", k = H, n = kv },
    { name = "o", k = q, n = H },
    { name = "gate", k = H, n = I }, { name = "up", k = H, n = I }, { name = "down", k = I, n = H },
  }
end

--- `question` names a method of the step model that asks the database. Its first argument, x, is the position
--- on the main axis of the table.
local function nearest(steps, question, x, ...)
  local factor = 2
  for _ = 1, widest_search do
    local mfu = steps[question](steps, math.max(1, math.floor(x / factor)), ...)
    if gemms.usable(mfu) then return mfu end
    mfu = steps[question](steps, x * factor, ...)
    if gemms.usable(mfu) then return mfu end
    factor = factor * 2
  end
end

local function first_nonzero(steps, question, ...)
  local at = 1
  for _ = 1, widest_search do
    local mfu = steps[question](steps, at, ...)
    if gemms.usable(mfu) then return mfu end
    at = at * 2
  end
end

--- The MFU for an empty cell, as zero_mfu says.
--- @param question string ask_gemm, ask_prefill, ask_decode
--- @param v1_mfu number the constant of roofline_v1
--- @param x number position of the empty cell; the other arguments of the question follow
function gemms.instead_of_zero(steps, question, v1_mfu, x, ...)
  local rule, mfu = steps.zero_mfu, nil
  if rule == "v1" then return v1_mfu, "assumed" end
  if rule == "nearest" then mfu = nearest(steps, question, x, ...) end
  if rule == "first_nonzero" then mfu = first_nonzero(steps, question, ...) end
  if mfu then return mfu, "stand_in" end
  error(("roofline_v2: %s at %g: the table has an MFU of 0 there and zero_mfu = '%s' found nothing instead")
    :format(question, x, rule), 0)
end

function gemms.usable(mfu) return mfu ~= nil and mfu >= least_mfu end

--- MFU of a GEMM; an empty cell is replaced.
function gemms.mfu(steps, m, k, n)
  local mfu, estimate = steps:ask_gemm(m, k, n)
  if gemms.usable(mfu) then return mfu, estimate end
  return gemms.instead_of_zero(steps, "ask_gemm", steps.v1_mfu, m, k, n)
end

--- Time of one GEMM. A GEMM that is looked up with the shape of the whole model is divided by its ranks here.
---
---     max( 2 m k n / (peak mfu),  k n bytes / bandwidth )
---
function gemms.time(steps, name, m, k, n, count)
  local mfu, estimate = gemms.mfu(steps, m, k, n)
  local flop, bytes = 2 * m * k * n, k * n * steps.element_bytes
  local time_s, bound = flop / (steps.peak_flop_per_s * mfu), "compute"
  if steps.gemm_memory_floor then
    local floor_s = bytes / steps.bytes_per_s
    if floor_s > time_s then time_s, bound, estimate = floor_s, "memory", "modelled" end
  end
  local ranks = steps.spread_ranks
  local shape = cost.shapes_wanted() and ("m=%.14g k=%.14g n=%.14g %s"):format(m, k, n, steps.dtype) or nil
  return (cost.record(name, time_s / ranks, estimate, count, flop / ranks, bytes / ranks, mfu, bound, nil, "gemm",
                      shape))
end

return gemms
