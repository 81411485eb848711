--- The GEMMs of one layer as the MFU roofline sees them, and where it gets an MFU from.
local cost = require "rooflua.cost"

local gemms = {}

local least_mfu = 1e-4    -- below this a table cell counts as empty
local widest_search = 20  -- doublings that `nearest` and `first_nonzero` try

--- Shapes (k, n) of one layer. Sharded: columns of q, k, v, gate, up and rows of o, down over tp.
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

--- An MFU for an empty cell.
--- @param rule string nearest, first_nonzero, v1, error
--- @param ask fun(x: number): number|nil, any  the lookup along its main axis
--- @param x number where the cell was empty
--- @param v1_mfu number what the calibrated roofline would take
function gemms.instead_of_zero(rule, ask, x, v1_mfu, what)
  if rule == "v1" then return v1_mfu, "assumed" end
  if rule == "nearest" then
    local factor = 2
    for _ = 1, widest_search do
      for _, at in ipairs { math.max(1, math.floor(x / factor)), x * factor } do
        local mfu = ask(at)
        if mfu and mfu >= least_mfu then return mfu, "stand_in" end
      end
      factor = factor * 2
    end
  elseif rule == "first_nonzero" then
    local at = 1
    for _ = 1, widest_search do
      local mfu = ask(at)
      if mfu and mfu >= least_mfu then return mfu, "stand_in" end
      at = at * 2
    end
  end
  error(("%s at %g: the table has an MFU of 0 there and zero_mfu = '%s' found nothing instead"):format(what, x, rule), 0)
end

function gemms.usable(mfu) return mfu ~= nil and mfu >= least_mfu end

--- MFU of a GEMM, empty cells replaced.
function gemms.mfu(steps, m, k, n)
  local database = steps.database
  local mfu, estimate = database:gemm(m, k, n, steps.dtype)
  if gemms.usable(mfu) then return mfu, estimate end
  local function ask(x) return (database:gemm(x, k, n, steps.dtype)) end
  return gemms.instead_of_zero(steps.zero_mfu, ask, m, steps.v1_mfu, "gemm")
end

--- Time of one GEMM, divided by the ranks it is spread over without being looked up so.
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
  return cost.record(name, time_s / ranks, estimate, count, flop / ranks, bytes / ranks, mfu, bound, nil, "gemm")
end

return gemms
