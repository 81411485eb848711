--- Latency of decode attention over (requests, tokens of KV): more of either never costs less.
---
--- A kernel does not keep to that, modelled or measured: keys come in blocks, work in waves, rows are noisy,
--- and one long context keeps fewer SMs busy than many short ones. As a GEMM runs with more rows where that is
--- faster (physics.lua), attention is priced as more requests, more tokens or both where that is faster: a
--- kernel could split a context, or read more keys.
---
---     least(n, c) = min over n' >= n, c' >= c of latency(n', c')       on a grid, four points an octave
---
--- where a mean context below 1,024 counts no less than fewer requests of 1,024 with the same tokens: split
--- contexts need a second kernel, and a batch of short ones that are all equal, which does not, is not what is
--- meant by their mean.
---
--- Between its points the price is bilinear, which keeps it monotone. Beyond the grid, requests no longer
--- matter and tokens count in proportion. The grid holds what tables have rows of: powers of two, and
--- 3, 5, 6, 7 of them. It is asked for once, when the first decode is priced.
local cost = require "rooflua.cost"

local monotone = {}
monotone.__index = monotone

local most_requests, fewest_tokens, most_tokens = 2 ^ 12, 2 ^ 7, 2 ^ 24

--- Contexts of one step differ: behind a short mean stand some that are longer. Of 256, 512 and 1,024 the
--- value that moves measured steps least (tests/scripts/steps_truth_test.lua).
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

local powers = {}
for e = 0, 62 do powers[e] = 2 ^ e end

--- Where x lies on an axis: the point at or before it, and what part of the way to the next. Exact: the
--- logarithm only finds the octave, and is put right where it rounds.
local function place(x)
  if x < 4 then
    local i = math.floor(x)
    return i, x - i
  end
  local e = math.floor(math.log(x) * 1.4426950408889634)
  if powers[e] > x then e = e - 1 elseif powers[e + 1] <= x then e = e + 1 end
  local quarters = (x / powers[e] - 1) * 4
  local k = math.floor(quarters)
  return 4 * (e - 1) + k, quarters - k
end

--- The worst of the points of a grid that (i, j) lies between, u and v of the way to the next ones.
--- @param ranks table of evidence, by point
local function worse(ranks, i, j, u, v)
  local few, many = ranks[i], ranks[i + 1]
  if u == 0 and v == 0 then return names[few[j]] end
  local worst = math.max(few[j], 2)
  if v > 0 then worst = math.max(worst, few[j + 1]) end
  if u > 0 then worst = math.max(worst, many[j]) end
  if u > 0 and v > 0 then worst = math.max(worst, many[j + 1]) end
  return names[worst]
end

--- @param latency fun(n: number, tokens: number): number, string seconds and evidence of a call
--- @param block integer keys of a request that cost as much as fewer: tokens >= n * block
function monotone.of(latency, block)
  return setmetatable({ latency = latency, block = block, times = false }, monotone)
end

--- Latency of n requests, no less than that of fewer with `usual_context` each: see above.
function monotone:latency_of(n, computed)
  local latency_s, evidence = self.latency(n, computed)
  if computed >= n * usual_context then return latency_s, evidence end
  local longer_s, longer_evidence = self.latency(math.max(1, computed / usual_context), computed)
  if longer_s > latency_s then return longer_s, longer_evidence end
  return latency_s, evidence
end

--- One row of the grid from its end to its start; `after` is the row of more requests.
function monotone:row(n, after)
  local times, worst = {}, {}
  local least_s, evidence = math.huge, nil
  local asked_tokens, asked_s, asked_evidence
  for j = #tokens, place(fewest_tokens), -1 do
    local computed = math.max(tokens[j], n * self.block)
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

function monotone:ask()
  self.times, self.worst = {}, {}
  local after
  for i = #requests, 1, -1 do
    after = self:row(requests[i], after)
    self.times[i], self.worst[i] = after.times, after.worst
  end
  self.times[#requests + 1], self.worst[#requests + 1] = self.times[#requests], self.worst[#requests]
end

--- @param n number requests, 1 or more
--- @param computed number tokens of KV, at least a block for each request
--- @return number latency_s, string evidence the worst of the grid points it lies between
function monotone:at(n, computed)
  if not self.times then self:ask() end
  local beyond = 1
  if n > most_requests then n = most_requests end
  if computed > most_tokens then computed, beyond = most_tokens, computed / most_tokens end
  local i, u = place(n)
  local j, v = place(computed)
  local few, many = self.times[i], self.times[i + 1]
  local few_s = few[j] + (few[j + 1] - few[j]) * v
  local many_s = many[j] + (many[j + 1] - many[j]) * v
  return beyond * (few_s + (many_s - few_s) * u), worse(self.worst, i, j, u, v)
end

--- What explain says of a price.
function monotone.note(n, computed)
  if not cost.listening() then return nil end
  local i, u = place(math.min(n, most_requests))
  local j, v = place(math.min(computed, most_tokens))
  return ("monotone grid: %.14g to %.14g requests, %.14g to %.14g tokens"):format(requests[i],
    u > 0 and requests[i + 1] or requests[i], tokens[j], v > 0 and tokens[j + 1] or tokens[j])
end

--- For monotone_prefill.lua, which has the same kind of grid.
monotone.axis, monotone.place, monotone.rank, monotone.worse = axis, place, rank, worse

return monotone
