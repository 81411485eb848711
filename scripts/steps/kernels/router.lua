--- The GEMM of a router whose weights stay in 32 bits, as some engines keep them for some models (`router_gemm` of
--- scripts/engines). The activations are converted first, which is part of the times.
---
---     time of a run = fixed + (time of the rows below - fixed) x k / 6,144
---
---     fp32    cuBLAS without tensor cores, by experts
---     tf32    cuBLAS with them, which PyTorch's precision "high" allows; never longer than fp32
---     few     a kernel of the engine for up to 32 tokens
---
--- Other numbers of experts have the rows of the nearest one, at as many tokens x experts. The kernels loop over k;
--- fixed is a launch of two of them. Where rows are faster than smaller ones, the median of these stands for all. What
--- a step with k = 3,072 and 256 experts gains by a GEMM in 16 bits (vLLM pull request 41332, B200, 62 layers) is 7 to
--- 9 us a layer up to 16 requests, 23 at 32 and 34 to 36 from 64 on; by these rows 9 to 10, 31, 31 to 34.
--- Source: vLLM pull requests 47973 (GB200, 256 experts), 44343 and 55899 (B200 and GB300, 128 experts).
local cost = require "rooflua.cost"

local router = {}

local of_k = 6144
local launches = 2 -- the conversion and the GEMM, which may be two kernels itself
local most_few = 32 -- tokens of the engine's own kernel

-- Tokens, and microseconds of one run.
local fp32 = {
  [128] = { { 1, 6.92 }, { 2, 13.6 }, { 64, 15.36 }, { 256, 21.95 }, { 1024, 53.66 }, { 4096, 174.43 },
    { 16384, 438.72 } },
  [256] = { { 1, 7.52 }, { 2, 20.2 }, { 8, 20.2 }, { 16, 22.3 }, { 32, 63.2 }, { 64, 63.3 }, { 128, 69.3 },
    { 256, 77.8 }, { 512, 96.8 }, { 1024, 111 }, { 2048, 174.43 }, { 8192, 438.72 } },
}
local tf32 = { { 1, 10.9 }, { 2, 12 }, { 16, 12.2 }, { 32, 19.9 }, { 64, 20.1 }, { 128, 20.2 }, { 256, 22.6 },
  { 512, 25.8 }, { 1024, 32.8 } }
local few = { { 1, 1.96 }, { 2, 2.03 }, { 4, 2.21 }, { 8, 2.61 }, { 16, 3.88 }, { 32, 5.57 } }

--- Seconds at so many tokens: linear between points, on the last slope beyond them.
local function at(points, tokens)
  local i = 1
  while i < #points - 1 and points[i + 1][1] < tokens do i = i + 1 end
  local a, b = points[i], points[i + 1]
  local part = math.max(0, (tokens - a[1]) / (b[1] - a[1]))
  return 1e-6 * (a[2] + part * (b[2] - a[2]))
end

--- Seconds of one run of an operation over so many rows.
--- @param launch_s number of a small kernel
--- @param way string as `router_gemm`: fp32 or tf32, behind few_ with the engine's own kernel
function router.seconds(op, way, rows, launch_s)
  if way:find "^few_" and rows <= most_few then return at(few, rows) end
  local experts = op.n * op.n < 128 * 256 and 128 or 256 -- the nearest in logarithms
  local time_s = at(fp32[experts], rows * op.n / experts)
  if way:find "tf32$" then time_s = math.min(time_s, at(tf32, rows * op.n / 256)) end
  local fixed_s = math.min(time_s, launches * launch_s)
  return fixed_s + (time_s - fixed_s) * op.k / of_k
end

--- Marks the routers among the operations of cost.layers.
function router.bind(steps, layers)
  local way = steps.engine_values.router_gemm
  steps.routers = {}
  if way == nil or way == "weights" then return end
  for _, op in ipairs(layers) do
    if op.name:find "^router" then
      op.op, op.way = "router", way
      table.insert(steps.routers, op)
    end
  end
end

--- Seconds of all marked operations in a step of so many tokens.
function router.sum(steps, rows)
  local time_s = 0
  for _, op in ipairs(steps.routers) do
    time_s = time_s + op.count * router.seconds(op, op.way, rows, steps.small_kernel_s)
  end
  return time_s
end

--- The price of a marked operation.
--- @param there number? rows without padding
function router.price(steps, op, rows, there)
  local time_s = router.seconds(op, op.way, rows, steps.small_kernel_s)
  local shape = cost.shapes_wanted() and ("m=%.14g k=%.14g n=%.14g fp32"):format(rows, op.k, op.n) or nil
  local flop, bytes = op.flop_per_row * rows, 2 * op.weight_bytes + op.bytes_per_row * rows
  time_s = cost.record(op.name, time_s, "stand_in", op.count, flop, bytes, flop / (time_s * steps.peak_flop_per_s),
    "compute", "in 32 bits (kernels/router.lua)", "gemm", shape)
  if cost.listening() and there and there ~= rows then
    cost.counted { flop = op.flop_per_row * there, bytes = 2 * op.weight_bytes + op.bytes_per_row * there, field = "m",
      there = there, asked = rows }
  end
  return time_s
end

return router
