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

local floor, max, min = math.floor, math.max, math.min
local listening = cost.listening

local monotone = {}
monotone.__index = monotone

local most_requests, fewest_tokens, most_tokens = 2 ^ 12, 2 ^ 7, 2 ^ 24

--- Mean context from which a batch is priced as it is. Of 256, 512 and 1,024, this value changes the price of
--- measured steps least (tests/scripts/steps_truth_test.lua).
local usual_context = 1024

local rank, names = {}, cost.evidence_names()
for i, name in ipairs(names) do rank[name] = i end

--- 1, 2, 3 and then four points an octave, up to `most`.
local function axis(most)
  local points = { 1, 2, 3 }
  local octave = 4
  while octave < most do
    for k = 0, 3 do points[#points + 1] = octave * (1 + k / 4) end
    octave = 2 * octave
  end
  points[#points + 1] = most
  return points
end

local requests, tokens = axis(most_requests), axis(most_tokens)

--- Points up to 2^26, for every axis: the distance to the next one is a power of two.
local points, per_gap = axis(2 ^ 26), {}
for i = 1, #points - 1 do per_gap[i] = 1 / (points[i + 1] - points[i]) end

-- The index of the last point at or before every whole number below 2^14. A larger number is twelve octaves, which have
-- 48 points, behind its 4,096th part.
local direct, octaves_12 = 2 ^ 14, 48
local index_of = {}
for i = 1, #points do
  for x = points[i], min(points[i + 1] or direct, direct) - 1 do index_of[x] = i end
end

--- The place of x on an axis: the index of the point at or before x, and the part of the way to the next point. The
--- result is exact.
--- @param x number from 1 to 2^26 (without)
local function place(x)
  local i
  if x < direct then i = index_of[floor(x)] else i = index_of[floor(x / 4096)] + octaves_12 end
  return i, (x - points[i]) * per_gap[i]
end

--- The worst evidence of the grid points around a place: indices i and j, u and v of the way to the next points.
--- @param ranks table rank of the evidence, by point
local function worse(ranks, i, j, u, v)
  local few, many = ranks[i], ranks[i + 1]
  if u == 0 and v == 0 then return names[few[j]] end
  local worst = max(few[j], 2)
  if v > 0 then worst = max(worst, few[j + 1]) end
  if u > 0 then worst = max(worst, many[j]) end
  if u > 0 and v > 0 then worst = max(worst, many[j + 1]) end
  return names[worst]
end

--- @param latency fun(n: number, tokens: number): number, string seconds and evidence of a call
--- @param block integer keys that a kernel loads at once: a request counts at least as many tokens
--- @param kept? table where a grid that was filled is kept (kernels/grids.lua)
function monotone.of(latency, block, kept)
  return setmetatable({ latency = latency, block = block, times = false, kept = kept, at = monotone.at }, monotone)
end

--- Latency of n requests; at least that of fewer requests with `usual_context` tokens each.
function monotone:latency_of(n, computed)
  local latency_s, evidence = self.latency(n, computed)
  if computed >= n * usual_context then return latency_s, evidence end
  local longer_s, longer_evidence = self.latency(max(1, computed / usual_context), computed)
  if longer_s > latency_s then return longer_s, longer_evidence end
  return latency_s, evidence
end

--- One row of the grid, from most to fewest tokens. `after` is the row of the next larger number of requests.
function monotone:row(n, after)
  local times, worst = {}, {}
  local least_s, evidence = math.huge, nil
  local asked_tokens, asked_s, asked_evidence
  for j = #tokens, place(fewest_tokens), -1 do
    local computed = max(tokens[j], n * self.block)
    if computed ~= asked_tokens then
      asked_tokens = computed
      asked_s, asked_evidence = self:latency_of(n, computed)
    end
    if asked_s < least_s then least_s, evidence = asked_s, rank[asked_evidence] end
    if after and after.times[j] < least_s then least_s, evidence = after.times[j], after.worst[j] end
    times[j], worst[j] = least_s, evidence
  end
  times[#tokens + 1], worst[#tokens + 1] = times[#tokens], worst[#tokens]
  return { times = times, worst = worst }
end

--- {times, worst}: every row of the grid.
function monotone:filled()
  local times, worst, after = {}, {}, nil
  for i = #requests, 1, -1 do
    after = self:row(requests[i], after)
    times[i], worst[i] = after.times, after.worst
  end
  times[#requests + 1], worst[#requests + 1] = times[#requests], worst[#requests]
  return { times = times, worst = worst }
end

function monotone:ask()
  local grid = self.kept and self.kept:known()
  if not grid then
    grid = self:filled()
    if self.kept then self.kept:keep(grid) end
  end
  self.times, self.worst = grid.times, grid.worst
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
--- @return string evidence the worst of the grid points around it
function monotone:at(n, computed)
  if not self.times then self:ask() end
  local beyond = 1
  if n > most_requests then n = most_requests end
  if computed > most_tokens then computed, beyond = most_tokens, computed / most_tokens end
  local i, u = place(n)
  local j, v = place(computed)
  local few, many = self.times[i], self.times[i + 1]
  return beyond * between(few[j], few[j + 1], many[j], many[j + 1], u, v), worse(self.worst, i, j, u, v)
end

--- Writes the grid around a place to `into`, for steps whose tokens grow. While they stay below `next_tokens`, the
--- latency is between(a, b, c, d, u, (tokens - from_tokens) * per_token). The evidence is that of the place.
--- @param computed number where it is more than the most tokens, the latency is proportional to it
function monotone:around(n, computed, into)
  if not self.times then self:ask() end
  computed = min(computed, most_tokens)
  local i, u = place(min(n, most_requests))
  local j, v = place(computed)
  into.evidence = worse(self.worst, i, j, u, v)
  into.from_tokens, into.per_token, into.next_tokens, into.u = points[j], per_gap[j], tokens[j + 1], u
  local few, many = self.times[i], self.times[i + 1]
  into.a, into.b, into.c, into.d = few[j], few[j + 1], many[j], many[j + 1]
end

--- The note that --explain shows beside a price.
function monotone.note(n, computed)
  if not listening() then return nil end
  local i, u = place(min(n, most_requests))
  local j, v = place(min(computed, most_tokens))
  return ("monotone grid: %.14g to %.14g requests, %.14g to %.14g tokens"):format(requests[i],
    u > 0 and requests[i + 1] or requests[i], tokens[j], v > 0 and tokens[j + 1] or tokens[j])
end

-- monotone_prefill.lua has the same kind of grid.
monotone.axis, monotone.place, monotone.rank, monotone.worse = axis, place, rank, worse
monotone.requests, monotone.most_tokens, monotone.between = requests, most_tokens, between

return monotone
