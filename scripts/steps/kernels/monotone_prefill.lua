--- Latency of measured prefill attention as a function of (new tokens t, cached tokens p) that never falls in
--- either. Measured rows are noisy and were taken at other contexts; they are made monotone as in monotone.lua: a
--- kernel could run with more tokens.
---
---     least(t, p) = min over t' >= t, p' >= p of latency(t', p')       on a grid, four points an octave
---
--- Between two points of t the price grows with the work t p + t^2 / 2, between two points of p linearly. The price
--- of exact work is then exact, and both ways keep it monotone, because the share of the next t grows with p. Beyond
--- the grid the price is proportional to the work. The points are the sizes that tables have rows of: powers of two,
--- and 3, 5, 6, 7 times a power of two. The grid is filled when the first prefill chunk is priced.
local cost = require "rooflua.cost"
local monotone = require "steps.kernels.monotone"

local prefill = {}
prefill.__index = prefill

local most = 2 ^ 20  -- largest t and p of the grid
local points, place, worse = monotone.axis(most), monotone.place, monotone.worse
local listening, min = cost.listening, math.min

--- @param latency fun(t: number, p: number): number, string seconds and evidence of a call
--- @param kept? table where a grid that was filled is kept (kernels/grids.lua)
function prefill.of(latency, kept)
  return setmetatable({ latency = latency, times = false, kept = kept, at = prefill.at }, prefill)
end

--- Cached tokens of column j: column 0 is p = 0, the others are the points.
local function context_at(j) return j == 0 and 0 or points[j] end

--- {times, worst}: every row of the grid.
function prefill:filled()
  local last = #points
  local all_times, all_worst = {}, {}
  for i = last, 1, -1 do
    local times, worst, after, after_worst = {}, {}, all_times[i + 1], all_worst[i + 1]
    for j = last, 0, -1 do
      local least_s, evidence = self.latency(points[i], context_at(j))
      evidence = monotone.rank[evidence]
      if j < last and times[j + 1] < least_s then least_s, evidence = times[j + 1], worst[j + 1] end
      if after and after[j] < least_s then least_s, evidence = after[j], after_worst[j] end
      times[j], worst[j] = least_s, evidence
    end
    times[last + 1], worst[last + 1] = times[last], worst[last]
    all_times[i], all_worst[i] = times, worst
  end
  all_times[last + 1], all_worst[last + 1] = all_times[last], all_worst[last]
  return { times = all_times, worst = all_worst }
end

function prefill:ask()
  local grid = self.kept and self.kept:known()
  if not grid then
    grid = self:filled()
    if self.kept then self.kept:keep(grid) end
  end
  self.times, self.worst = grid.times, grid.worst
end

--- @param t number new tokens, 1 or more
--- @param p number cached tokens before them
--- @return number latency_s
--- @return string evidence the worst of the grid points around it
function prefill:at(t, p)
  if not self.times then self:ask() end
  local beyond = 1
  if t > most or p > most then
    local near_t, near_p = min(t, most), min(p, most)
    beyond = t * (p + t / 2) / (near_t * (near_p + near_t / 2))
    t, p = near_t, near_p
  end
  local i, part = place(t)
  local j, v = 0, 0
  if p >= 1 then j, v = place(p) end
  local few, many = self.times[i], self.times[i + 1]
  local few_s = few[j] + (few[j + 1] - few[j]) * v
  local many_s = many[j] + (many[j + 1] - many[j]) * v
  if part > 0 then
    local low, high = points[i], points[i + 1]
    part = (t - low) * (p + (t + low) / 2) / ((high - low) * (p + (high + low) / 2))
  end
  return beyond * (few_s + (many_s - few_s) * part), worse(self.worst, i, j, part, v)
end

--- The note that --explain shows beside a price.
function prefill.note(t, p)
  if not listening() then return nil end
  local i, u = place(min(t, most))
  local j, v = 0, 0
  if p >= 1 then j, v = place(min(p, most)) end
  return ("monotone grid: %.14g to %.14g new tokens behind %.14g to %.14g"):format(points[i],
    points[u > 0 and i + 1 or i], context_at(j), context_at(v > 0 and j + 1 or j))
end

return prefill
