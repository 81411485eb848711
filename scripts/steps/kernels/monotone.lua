--- Latency of decode attention as a function of (requests, tokens of KV) that never falls in either.
---
--- A kernel's latency is not monotone, modelled or measured: keys are loaded in blocks, work runs in waves, measured
--- rows are noisy, and one long context keeps fewer SMs busy than many short ones. Attention is therefore priced as
--- more requests, more tokens or both where that is faster: a kernel could split a context, or read more keys.
---
---     least(n, c) = min over n' >= n, c' >= c of latency(n', c')       on a grid, four points an octave
---
--- A mean context below 1,024 costs at least as much as fewer requests of 1,024 with the same tokens. Splitting long
--- contexts takes a second kernel. A batch of equal short contexts needs none, but a short mean usually comes from a
--- batch with some long contexts, which does.
---
--- Between grid points the price is bilinear, which keeps it monotone. Beyond the grid the number of requests has no
--- effect, and the price is proportional to the tokens. The points are the sizes that tables have rows of: powers of
--- two, and 3, 5, 6, 7 times a power of two. The grid is filled when the first decode is priced.
local cost = require "rooflua.cost"

local max = math.max
local listening = cost.listening

local monotone = {}
monotone.__index = monotone

local most_requests, fewest_tokens, most_tokens = 2 ^ 12, 2 ^ 7, 2 ^ 24

--- Mean context from which a batch is priced as it is. Of 256, 512 and 1,024, this value changes the price of
--- measured steps least (tests/scripts/steps/truth_test.lua).
local usual_context = 1024

local code_of = cost.evidence_codes()
local requests, tokens = cost.octaves(most_requests), cost.octaves(most_tokens)

--- @param latency fun(n: number, tokens: number): number, string seconds and evidence of a call
--- @param block integer keys that a kernel loads at once: a request counts at least as many tokens
--- @param kept? table where a grid that was filled is kept (kernels/grids.lua)
function monotone.of(latency, block, kept)
  return setmetatable({ latency = latency, block = block, cell_at = false, kept = kept, at = monotone.at }, monotone)
end

--- Latency of n requests; at least that of fewer requests with `usual_context` tokens each.
function monotone:latency_of(n, computed)
  local latency_s, evidence = self.latency(n, computed)
  if computed >= n * usual_context then return latency_s, evidence end
  local longer_s, longer_evidence = self.latency(max(1, computed / usual_context), computed)
  if longer_s > latency_s then return longer_s, longer_evidence end
  return latency_s, evidence
end

--- One row of the grid, from most to fewest tokens, which fewer cost, too. `after` is the row of the next larger number
--- of requests.
function monotone:row(n, after)
  local times, worst = {}, {}
  local least_s, evidence = math.huge, nil
  local asked_tokens, asked_s, asked_evidence
  for j = #tokens, 0, -1 do
    local computed = max(tokens[j] or 0, n * self.block, fewest_tokens)
    if computed ~= asked_tokens then
      asked_tokens = computed
      asked_s, asked_evidence = self:latency_of(n, computed)
    end
    if asked_s < least_s then least_s, evidence = asked_s, code_of[asked_evidence] end
    if after and after.times[j] < least_s then least_s, evidence = after.times[j], after.worst[j] end
    times[j], worst[j] = least_s, evidence
  end
  return { times = times, worst = worst }
end

--- The grid: every row of it.
function monotone:filled()
  local times, worst, after = {}, {}, nil
  for i = #requests, 1, -1 do
    after = self:row(requests[i], after)
    times[i], worst[i] = after.times, after.worst
  end
  return cost.octave_grid(most_requests, most_tokens, times, worst)
end

--- Nothing of it changes once it is filled.
function monotone:settles() return self.cell_at and {} end

function monotone:ask()
  local grid = self.kept and self.kept:known()
  if not grid then
    grid = cost.apart(self.filled, self)
    if self.kept then self.kept:keep(grid) end
  end
  self.cell_at = grid
  return grid
end

--- Bilinear between four points: few requests and many, few tokens and many.
--- @param u number of the way to many requests
--- @param v number of the way to many tokens
local function between(few_few, few_many, many_few, many_many, u, v)
  local few_s, many_s = few_few + (few_many - few_few) * v, many_few + (many_many - many_few) * v
  return few_s + (many_s - few_s) * u
end

--- @param n number requests, 1 or more
--- @param computed number tokens of KV, at least a block for each request
--- @return number latency_s
--- @return integer evidence the code of the worst of the grid points around it
function monotone:at(n, computed)
  local beyond = 1
  if computed > most_tokens then beyond = computed / most_tokens end
  local cell = (self.cell_at or self:ask())(n, computed)
  return beyond * between(cell.few_few, cell.few_many, cell.many_few, cell.many_many, cell.u, cell.v), cell.evidence
end

--- The grid around a place, for steps whose tokens grow. While they stay below `next_y`, the latency is
--- between(few_few, few_many, many_few, many_many, u, (tokens - y) / (next_y - y)). The evidence is that of the place.
--- @param computed number where it is more than the most tokens, the latency is proportional to it
--- @return rooflua.GridCell cell x: requests, y: tokens
function monotone:around(n, computed)
  return (self.cell_at or self:ask())(n, computed)
end

--- The note that --explain shows beside a price.
function monotone:note(n, computed)
  if not listening() then return nil end
  local cell = self:around(n, computed)
  return ("monotone grid: %.14g to %.14g requests, %.14g to %.14g tokens"):format(cell.x,
    cell.u > 0 and cell.next_x or cell.x, cell.y, cell.v > 0 and cell.next_y or cell.y)
end

monotone.requests, monotone.most_tokens, monotone.between = requests, most_tokens, between

return monotone
