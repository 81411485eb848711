--- Low-rank adapters: each target module [T, k] x [k, n] gets two thin GEMMs for the T tokens that have an adapter, of
--- d different ones, at the largest rank r that a slot has room for:
---
---     shrink  [T, k] x [k, r]   2 T k r slices flop;  2 T k + 2 d r k slices + 4 T r slices bytes
---     expand  [T, r] x [r, n]   2 T r n flop;         4 T r slices + 2 d r n + 4 T n bytes
---
--- r is small, so both move bytes: the weights of every adapter once, and activations. What is between them is in 32
--- bits, and the sum is read and written. Their time is that of a small kernel (small_kernel_bandwidth, a graph node),
--- and not below flop at the peak. No table measures them. A copy into a slot takes time of its step, where it does.
--- Source: vLLM vllm/lora/ops/triton_ops/lora_shrink_op.py, lora_expand_op.py, lora/punica_wrapper/punica_gpu.py
local cost = require "rooflua.cost"

local adapters = {}

local max, record = math.max, cost.record

--- One kernel: its time is a bound of bytes or flop, and a graph node.
local function price(steps, name, module, tokens, count, flop, bytes)
  local bandwidth = steps.hardware.memory_bytes_per_s * steps.small_kernel_bandwidth
  local flop_s, bytes_s = flop / steps.bounds:peak(steps.dtype), bytes / bandwidth
  local time_s = max(flop_s, bytes_s) + steps.elementwise.node_s
  local shape = cost.shapes_wanted() and ("m=%.14g k=%.14g n=%.14g adapters=%.14g"):format(tokens, module.k, module.n,
    count) or nil
  return record(name, time_s, "modelled", module.count, flop, bytes, nil, flop_s > bytes_s and "compute" or "memory",
    "bytes over bandwidth, and a graph node", "adapter", shape)
end

--- The two kernels of one module.
local function price_module(steps, module, rank, tokens, count)
  local inner, weights = rank * module.slices, 2 * rank * count
  local shrink_s = price(steps, module.name .. "_lora_shrink", module, tokens, count, 2 * tokens * module.k * inner,
    2 * tokens * module.k + weights * module.slices * module.k + 4 * tokens * inner)
  return shrink_s + price(steps, module.name .. "_lora_expand", module, tokens, count, 2 * tokens * rank * module.n,
    4 * tokens * inner + weights * module.n + 4 * tokens * module.n)
end

--- The price of a step's adapters as {gemms = function(tokens, adapters), in_step}; false where there are none.
--- @param steps steps.Kernels
--- @param given table? of machine/adapters.lua
function adapters.of(steps, given)
  if not given then return false end
  local function gemms(tokens, count)
    local time_s = 0
    for _, module in ipairs(given.modules) do
      time_s = time_s + price_module(steps, module, given.rank, tokens, count)
    end
    return time_s
  end
  return { gemms = given.gemms and cost.memoize2(gemms) or false, in_step = given.load == "step" }
end

--- Time of a step's adapters.
--- @param self table of adapters.of
function adapters.time(self, batch)
  local time_s = 0
  if self.gemms and batch.adapter_tokens > 0 then time_s = self.gemms(batch.adapter_tokens, batch.adapters) end
  if not self.in_step or batch.adapter_load_s == 0 then return time_s end
  return time_s + record("adapter_load", batch.adapter_load_s, "modelled", 1, 0, 0, nil, "link",
    ("%d adapters into slots"):format(batch.adapter_loads), "adapter")
end

return adapters
