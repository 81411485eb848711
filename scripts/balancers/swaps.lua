--- Few experts move: slots of the fullest rank change places with slots of others, as long as that lowers the load of
--- the fullest rank. Copies stay as they are.
local policy = require "rooflua.policy"

---@class balancers.Swaps: rooflua.Balancer
---@field step_interval integer
---@field window_size integer
---@field most_swaps integer
---@field least_gain number
local Swaps = policy.define {
  name = "swaps",
  doc = "Slots of the fullest rank change places with others while that lowers its load; copies stay.",
  source = "local search; moves at most two experts per swap and layer",
  params = {
    step_interval = { default = 3000, unit = "steps", min = 1, max = 1e9, integer = true,
      source = "as balancers.eplb", doc = "Steps between two rebalancings." },
    window_size = { default = 1000, unit = "steps", min = 1, max = 1e9, integer = true, source = "as balancers.eplb",
      doc = "Last steps whose tokens are counted." },
    most_swaps = { default = 4, unit = "swaps", min = 0, integer = true, source = "a choice",
      doc = "Most swaps of a layer and rebalancing." },
    least_gain = { default = 0.01, unit = "1", min = 0, max = 1, source = "a choice",
      doc = "Part of the fullest load that a swap must save." },
  },
}

function Swaps:schedule()
  return { interval_steps = self.step_interval, window_steps = self.window_size, layers_per_chunk = 0,
    first_steps = self.step_interval, hidden = false, host_s = 0 }
end

--- Loads of slots and of ranks.
local function loads_of(counts, shape, slots)
  local copies, of_slot, of_rank, per_rank = {}, {}, {}, shape.slots / shape.ranks
  for i = 1, #slots do copies[slots[i]] = (copies[slots[i]] or 0) + 1 end
  for rank = 1, shape.ranks do of_rank[rank] = 0 end
  for i = 1, #slots do
    of_slot[i] = counts[slots[i]] / copies[slots[i]]
    local rank = math.ceil(i / per_rank)
    of_rank[rank] = of_rank[rank] + of_slot[i]
  end
  return of_slot, of_rank
end

--- The swap after which the fuller of both ranks has least: places of two slots, and that load.
local function best_swap(of_slot, of_rank, full, per_rank)
  local a, b, least = nil, nil, of_rank[full]
  for i = (full - 1) * per_rank + 1, full * per_rank do
    for j = 1, #of_slot do
      local other = math.ceil(j / per_rank)
      local shift = of_slot[i] - of_slot[j]
      local after = math.max(of_rank[full] - shift, of_rank[other] + shift)
      if other ~= full and after < least then a, b, least = i, j, after end
    end
  end
  return a, b, least
end

---@param counts number[] tokens of each expert of a layer
---@param shape rooflua.ExpertShape
---@param before integer[] expert by slot
---@return integer[] slots
function Swaps:place(counts, shape, before)
  local slots, per_rank = {}, shape.slots / shape.ranks
  for i = 1, #before do slots[i] = before[i] end
  for _ = 1, self.most_swaps do
    local of_slot, of_rank = loads_of(counts, shape, slots)
    local full = 1
    for rank = 2, shape.ranks do if of_rank[rank] > of_rank[full] then full = rank end end
    local a, b, least = best_swap(of_slot, of_rank, full, per_rank)
    if not a or of_rank[full] - least < self.least_gain * of_rank[full] then break end
    slots[a], slots[b] = slots[b], slots[a]
  end
  return slots
end

return Swaps
