--- DeepSeek's expert-parallel load balancer: copies go to the experts with most tokens per copy, and slots are packed
--- onto ranks by falling load, each on the least loaded rank that has room. With groups of experts that divide evenly
--- over nodes, groups are packed onto nodes first, and experts stay within the node of their group.
---
--- The packing is greedy: with so many slots per rank at most, its fullest rank is near the least that is possible, and
--- no law says that it is below that of any other placement (tests/scripts/experts/experts_test.lua counts).
local policy = require "rooflua.policy"

---@class balancers.Eplb: rooflua.Balancer
---@field step_interval integer
---@field window_size integer
---@field head_start number
---@field layers_per_chunk integer
---@field use_async string
---@field groups integer
---@field max_utilization number
---@field host_s number
local Eplb = policy.define {
  name = "eplb",
  doc = "Copies for the experts with most tokens, and slots packed onto the least loaded ranks.",
  source = "github.com/deepseek-ai/EPLB; vLLM vllm/distributed/eplb; SGLang python/sglang/srt/eplb",
  params = {
    step_interval = {
      default = 0, unit = "steps", min = 0, max = 1e9, integer = true,
      source = "scripts/engines; vLLM step_interval, SGLang --eplb-rebalance-num-iterations",
      doc = "Steps between two rebalancings; 0 = the engine's own.",
    },
    window_size = {
      default = 0, unit = "steps", min = 0, max = 1e9, integer = true,
      source = "scripts/engines; vLLM window_size, SGLang --expert-distribution-recorder-buffer-size",
      doc = "Last steps whose tokens are counted; 0 = the engine's own.",
    },
    head_start = {
      default = -1, unit = "1", min = -1, max = 1, source = "scripts/engines",
      doc = "Part of the first interval that has passed at the start; -1 = the engine's own.",
    },
    layers_per_chunk = {
      default = 0, unit = "layers", min = 0, integer = true,
      source = "SGLang --eplb-rebalance-layers-per-chunk; vLLM use_async moves layer by layer",
      doc = "Layers that move in front of one step, further ones in front of the next; 0 = all at once.",
    },
    use_async = {
      default = "own", values = { "own", "yes", "no" }, source = "scripts/engines; vLLM use_async",
      doc = "yes: experts move while steps go on, which do not wait, a layer each; their traffic slows nothing down.",
    },
    groups = {
      default = 0, unit = "groups", min = 0, integer = true,
      source = "n_group of the model's config; DeepSeek-V3: 8",
      doc = "Groups of experts that stay on one node, where nodes divide them evenly; 0 = none.",
    },
    max_utilization = {
      default = 1, unit = "1", min = 0, max = 1, source = "SGLang --eplb-min-rebalancing-utilization-threshold",
      doc = "Mean over fullest load in the window above which experts stay.",
    },
    host_s = {
      default = 0, unit = "s", min = 0, source = "not measured",
      doc = "What a rebalancing takes on the host, which the engine waits for; not with use_async.",
    },
  },
}

--- A parameter, or what the engine of the scenario has in its place.
local function or_own(self, shape, name, open)
  if self[name] ~= open then return self[name] end
  local own = shape.engine["eplb_" .. name]
  if own == nil then
    error(("eplb: %s: no default of the engine and release is known (scripts/engines); state it"):format(name), 0)
  end
  return own
end

--- Refuses groups that cannot be packed onto the nodes, and would change nothing.
local function check_groups(groups, shape)
  if groups == 0 then return end
  if shape.experts % groups ~= 0 then
    error(("eplb: groups: %d experts do not divide into %d groups; a divisor, or 0 for none, is right"):format(
      shape.experts, groups), 0)
  end
  if groups % shape.nodes ~= 0 or shape.ranks % shape.nodes ~= 0 then
    error(("eplb: groups: has no effect: %d groups on %d ranks do not divide over %d nodes; say 0"):format(groups,
      shape.ranks, shape.nodes), 0)
  end
end

---@param shape rooflua.ExpertShape
function Eplb:schedule(shape)
  check_groups(self.groups, shape)
  if self.head_start < 0 and self.head_start ~= -1 then
    error(("eplb: head_start: expected a part from 0 to 1, or -1, found %g"):format(self.head_start), 0)
  end
  local interval, async = or_own(self, shape, "step_interval", 0), or_own(self, shape, "use_async", "own")
  local hidden, chunk = async == true or async == "yes", self.layers_per_chunk
  if hidden and self.host_s > 0 then
    error("eplb: host_s: has no effect where experts move while steps go on; say use_async = \"no\", or leave it "
      .. "out", 0)
  end
  if hidden and chunk == 0 then chunk = 1 end
  return { interval_steps = interval, window_steps = or_own(self, shape, "window_size", 0), layers_per_chunk = chunk,
    first_steps = math.max(1, interval - math.floor(or_own(self, shape, "head_start", -1) * interval)),
    hidden = hidden, host_s = self.host_s }
end

---@param utilization number mean over fullest load, of the tokens in the window where experts are now
function Eplb:wants(utilization) return utilization <= self.max_utilization end

--- Places of a list by falling value, first places first among equal ones.
local function by_falling(values)
  local order = {}
  for i = 1, #values do order[i] = i end
  table.sort(order, function(a, b)
    if values[a] ~= values[b] then return values[a] > values[b] end
    return a < b
  end)
  return order
end

--- Packs items into bins of the same number of items, each into the least loaded bin that has room.
---@return integer[][] bins items of each bin
local function pack(values, count)
  local room, bins, loads = #values / count, {}, {}
  for b = 1, count do bins[b], loads[b] = {}, 0 end
  for _, item in ipairs(by_falling(values)) do
    local best
    for b = 1, count do
      if #bins[b] < room and (not best or loads[b] < loads[best]) then best = b end
    end
    bins[best][#bins[best] + 1] = item
    loads[best] = loads[best] + values[item]
  end
  return bins
end

--- So many slots for some experts: one each, and the others to whichever has most tokens per copy.
---@return integer[] slots experts
---@return number[] loads of the slots
local function replicate(counts, experts, slots)
  local copies, out, loads = {}, {}, {}
  for i = 1, #experts do copies[i] = 1 end
  for _ = #experts + 1, slots do
    local best = 1
    for i = 2, #experts do
      if counts[experts[i]] / copies[i] > counts[experts[best]] / copies[best] then best = i end
    end
    copies[best] = copies[best] + 1
  end
  for i, expert in ipairs(experts) do
    for _ = 1, copies[i] do out[#out + 1], loads[#loads + 1] = expert, counts[expert] / copies[i] end
  end
  return out, loads
end

--- Adds the slots of some ranks to a placement.
local function add(placed, counts, experts, slots, ranks)
  local chosen, loads = replicate(counts, experts, slots)
  for _, bin in ipairs(pack(loads, ranks)) do
    for _, item in ipairs(bin) do placed[#placed + 1] = chosen[item] end
  end
end

--- Experts of each node: its groups, packed by their tokens.
local function experts_of_nodes(counts, groups, nodes)
  local size, sums, out = #counts / groups, {}, {}
  for g = 1, groups do
    sums[g] = 0
    for e = (g - 1) * size + 1, g * size do sums[g] = sums[g] + counts[e] end
  end
  for n, bin in ipairs(pack(sums, nodes)) do
    out[n] = {}
    for _, g in ipairs(bin) do
      for e = (g - 1) * size + 1, g * size do out[n][#out[n] + 1] = e end
    end
  end
  return out
end

---@param counts number[] tokens of each expert of a layer
---@param shape rooflua.ExpertShape
---@return integer[] slots expert by slot
function Eplb:place(counts, shape)
  local placed = {}
  if self.groups == 0 or shape.nodes == 1 then
    local all = {}
    for e = 1, shape.experts do all[e] = e end
    add(placed, counts, all, shape.slots, shape.ranks)
    return placed
  end
  for _, experts in ipairs(experts_of_nodes(counts, self.groups, shape.nodes)) do
    add(placed, counts, experts, shape.slots / shape.nodes, shape.ranks / shape.nodes)
  end
  return placed
end

return Eplb
