--- The next steps of the same decodes, whose contexts grow by a token each, priced in one call. Every sum is that of
--- Kernels:time, in the same order, so that the bits are the same (tests/scripts/steps/runs_test.lua).
---
--- Between two points of the monotone grid the latency of attention is linear in the tokens: such a stretch is a loop
--- of a few lines. Models whose attention has bounds, an index, further kinds or recurrent layers are priced step by
--- step.
local cost = require "rooflua.cost"
local monotone = require "steps.kernels.monotone"

local between, ceil, floor, max, min = monotone.between, math.ceil, math.floor, math.max, math.min

local most_tokens = monotone.most_tokens
local decode_run = {}

local code_of = cost.evidence_codes()
local modelled, assumed = code_of.modelled, code_of.assumed

local times = {}  -- of attention, by step; numbers, so that two loops share them

-- Three loops over the same steps: the numbers of one loop fit into a processor's registers. One loop with all of them
-- is, in some processes, more than the compiler can assign.

--- Attention of the steps from `first` to `last`, whose tokens stay between two points of the grid.
local function attention_between(same, grid, run, first, last)
  local from, per_token = grid.y, 1 / (grid.next_y - grid.y)
  local n, behind, least, layers = same.n, same.all - from, same.least - from, same.layers
  local a, b, c, d, u = grid.few_few, grid.few_many, grid.many_few, grid.many_many, grid.u
  local code, add = grid.evidence, run.add
  for i = first, last do
    local time_s = between(a, b, c, d, u, max(behind + i * n, least) * per_token) * layers
    add(run, i, code, time_s)
    times[i] = time_s
  end
end

--- The same from the last point of the grid on, where the latency is proportional to the tokens.
local function attention_beyond(same, grid, run, first, last)
  local n, all, least, layers = same.n, same.all, same.least, same.layers
  local at_last_s = grid.few_few + (grid.many_few - grid.few_few) * grid.u
  local code, add = grid.evidence, run.add
  for i = first, last do
    local time_s = max(all + i * n, least) / most_tokens * at_last_s * layers
    add(run, i, code, time_s)
    times[i] = time_s
  end
end

--- Raises the times of attention to what the arithmetic and the traffic of the contexts take at least.
local function raise_to_floor(same, run, first, last)
  local n, all, layers, add = same.n, same.all, same.layers, run.add
  local peak, bandwidth, pair_flop, kv_bytes = same.peak, same.bandwidth, same.pair_flop, same.kv_bytes
  for i = first, last do
    local tokens, time_s = all + i * n, times[i]
    local floor_s = layers * max(tokens * pair_flop / peak, tokens * kv_bytes / bandwidth)
    if time_s < floor_s then
      local missing_s = (floor_s - time_s) / layers * layers
      add(run, i, modelled, missing_s)
      times[i] = time_s + missing_s
    end
  end
end

--- Adds what else a step takes, on the GPU and on the host.
local function complete(same, run, first, last)
  local rows_s, host_s, sampler_s, eager_s = same.rows_s, same.host_s, same.sampler_s, same.eager_s
  local asynchronous, noted, add, put = same.asynchronous, same.noted, run.add, run.put
  for i = first, last do
    if noted then run:add_noted(i) end
    if sampler_s > 0 then add(run, i, assumed, sampler_s) end
    local gpu_s = rows_s + times[i] + sampler_s
    if gpu_s < eager_s then
      local eager_more_s = eager_s - gpu_s
      add(run, i, assumed, eager_more_s)
      gpu_s = gpu_s + eager_more_s
    end
    local more_s = asynchronous and max(host_s - gpu_s, 0) or host_s
    if more_s > 0 then add(run, i, assumed, more_s) end
    put(run, i, gpu_s + more_s)
  end
end

--- The last step that is between the same points of the grid as the first one. The evidence of a point is its own, so
--- that steps at a point stand for themselves.
local function last_beside(same, grid, first)
  local n, least, tokens = same.n, same.least, same.all + first * same.n
  local computed = max(tokens, least)
  if computed >= most_tokens then return same.count end
  if computed ~= grid.y then
    return min(same.count, first + ceil((grid.next_y - tokens) / n) - 1)
  end
  return tokens < least and min(same.count, first + floor((least - tokens) / n)) or first
end

--- Whether the attention of a step model, all of it, is full attention priced on a monotone grid.
local function is_plain(steps)
  local kind = steps.attention
  return not (steps.has_more or kind.tokens or kind.own_window or kind.index or kind.module or steps.dcp > 1
    or steps.expert_gpus > 0)
end

--- Writes what all steps of the run have in common.
local function gather(same, steps, batch, run)
  local kind, n, requests = steps.attention, batch.decodes, batch.requests
  same.n, same.all, same.least, same.count = n, batch.decode_context_tokens, n * kind.block, run:steps()
  same.host_s, same.sampler_s = steps.host_step_s + steps.host_request_s * requests,
    steps.sampler_s + steps.sorted_row_s * requests
  same.asynchronous, same.layers, same.pair_flop = steps.asynchronous, kind.layers, kind.decode_pair_flop
  same.kv_bytes, same.peak = kind.kv_bytes_per_token, kind.bounds:peak(steps.dtype)
  same.bandwidth = kind.bounds.bytes_per_s
  local rows_s, fullest = steps:rows_time(batch)
  run:keep()
  same.noted = steps.decode_rows_time ~= false
  if same.noted then rows_s = rows_s + run:note(steps.decode_rows_time, n) end
  same.rows_s, same.eager_s = rows_s, fullest <= steps.graph_tokens and 0 or steps.eager_s
end

local same = {}  -- of the run at hand

--- @param steps steps.Kernels
--- @param batch rooflua.Batch the first one
--- @param run rooflua.StepRun
function decode_run.price(steps, batch, run)
  if not is_plain(steps) then return end
  gather(same, steps, batch, run)
  local first = 1
  while first <= same.count do
    local grid = steps.attention.decode_calls:around(same.n, max(same.all + first * same.n, same.least))
    local last = last_beside(same, grid, first)
    if grid.y < most_tokens then
      attention_between(same, grid, run, first, last)
    else
      attention_beyond(same, grid, run, first, last)
    end
    first = last + 1
  end
  raise_to_floor(same, run, 1, same.count)
  complete(same, run, 1, same.count)
end

return decode_run
