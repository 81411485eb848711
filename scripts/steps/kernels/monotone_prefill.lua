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

local prefill = {}
prefill.__index = prefill

local most = 2 ^ 20  -- largest t and p of the grid
local points, code_of = cost.octaves(most), cost.evidence_codes()
local listening, min = cost.listening, math.min

--- @param latency fun(t: number, p: number): number, string seconds and evidence of a call
--- @param kept? table where a grid that was filled is kept (kernels/grids.lua)
function prefill.of(latency, kept)
  return setmetatable({ latency = latency, cell_at = false, kept = kept, at = prefill.at }, prefill)
end

--- Cached tokens of column j: column 0 is p = 0, the others are the points.
local function context_at(j) return j == 0 and 0 or points[j] end

--- The grid: every row of it.
function prefill:filled()
  local last = #points
  local all_times, all_worst = {}, {}
  for i = last, 1, -1 do
    local times, worst, after, after_worst = {}, {}, all_times[i + 1], all_worst[i + 1]
    for j = last, 0, -1 do
      local least_s, evidence = self.latency(points[i], context_at(j))
      evidence = code_of[evidence]
      if j < last and times[j + 1] < least_s then least_s, evidence = times[j + 1], worst[j + 1] end
      if after and after[j] < least_s then least_s, evidence = after[j], after_worst[j] end
      times[j], worst[j] = least_s, evidence
    end
    all_times[i], all_worst[i] = times, worst
  end
  return cost.octave_grid(most, most, all_times, all_worst)
end

--- Nothing of it changes once it is filled.
function prefill:settles() return self.cell_at and {} end

function prefill:ask()
  local grid = self.kept and self.kept:known()
  if not grid then
    grid = cost.apart(self.filled, self)
    if self.kept then self.kept:keep(grid) end
  end
  self.cell_at = grid
  return grid
end

--- @param t number new tokens, 1 or more
--- @param p number cached tokens before them
--- @return number latency_s
--- @return integer evidence the code of the worst of the grid points around it
function prefill:at(t, p)
  local beyond = 1
  if t > most or p > most then
    local near_t, near_p = min(t, most), min(p, most)
    beyond = t * (p + t / 2) / (near_t * (near_p + near_t / 2))
    t, p = near_t, near_p
  end
  local c = (self.cell_at or self:ask())(t, p)
  local few_s, many_s = c.few_few + (c.few_many - c.few_few) * c.v, c.many_few + (c.many_many - c.many_few) * c.v
  local part = (t - c.x) * (p + (t + c.x) / 2) / ((c.next_x - c.x) * (p + (c.next_x + c.x) / 2))
  return beyond * (few_s + (many_s - few_s) * part), c.evidence
end

--- The note that --explain shows beside a price.
function prefill:note(t, p)
  if not listening() then return nil end
  local cell = (self.cell_at or self:ask())(t, p)
  return ("monotone grid: %.14g to %.14g new tokens after %.14g to %.14g"):format(cell.x,
    cell.u > 0 and cell.next_x or cell.x, cell.y, cell.v > 0 and cell.next_y or cell.y)
end

return prefill
