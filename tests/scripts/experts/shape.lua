-- Experts on ranks, for tests.

--- Experts, copies and ranks that divide evenly; links of which the network is slower.
local function shape_of(experts, redundant, ranks, more)
  local out = { experts = experts, redundant = redundant, slots = experts + redundant, ranks = ranks, nodes = 1,
    domain = {}, layers = 3, top = 2, expert_bytes = 1e6, moe_tp = 1, link_bytes_per_s = 1e9,
    network_bytes_per_s = 1e8,
    engine = { eplb_step_interval = 3000, eplb_window_size = 1000, eplb_head_start = 0.75, eplb_use_async = false } }
  for rank = 1, ranks do out.domain[rank] = 0 end
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

return shape_of
