-- Sobol points: low-discrepancy sequences in up to 21 dimensions.
-- Direction numbers of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional
-- projections", SIAM J. Sci. Comput. 30 (2008), file new-joe-kuo-6.21201: degree s, coefficients a, m_1..m_s.
local bit = require "bit"
local bxor, lshift, rshift, band = bit.bxor, bit.lshift, bit.rshift, bit.band

local sobol = {}

local table_ = { -- dimensions 2 to 21
  { 1, 0, 1 }, { 2, 1, 1, 3 }, { 3, 1, 1, 3, 1 }, { 3, 2, 1, 1, 1 }, { 4, 1, 1, 1, 3, 3 }, { 4, 4, 1, 3, 5, 13 },
  { 5, 2, 1, 1, 5, 5, 17 }, { 5, 4, 1, 1, 5, 5, 5 }, { 5, 7, 1, 1, 7, 11, 19 }, { 5, 11, 1, 1, 5, 1, 1 },
  { 5, 13, 1, 1, 1, 3, 11 }, { 5, 14, 1, 3, 5, 5, 31 }, { 6, 1, 1, 3, 3, 9, 7, 49 },
  { 6, 13, 1, 1, 1, 15, 21, 21 }, { 6, 16, 1, 3, 1, 13, 27, 49 }, { 6, 19, 1, 1, 1, 15, 7, 5 },
  { 6, 22, 1, 3, 1, 15, 13, 25 }, { 6, 25, 1, 1, 5, 5, 19, 61 }, { 7, 1, 1, 3, 7, 11, 23, 15, 103 },
  { 7, 4, 1, 3, 7, 13, 13, 15, 69 },
}
sobol.most_dimensions = #table_ + 1

--- 32 direction numbers of one dimension, each scaled by 2^32.
local function directions(dimension)
  local v = {}
  if dimension == 1 then
    for i = 1, 32 do v[i] = lshift(1, 32 - i) end
    return v
  end
  local row = table_[dimension - 1]
  local s, a = row[1], row[2]
  for i = 1, 32 do
    if i <= s then
      v[i] = lshift(row[2 + i], 32 - i)
    else
      local value = bxor(v[i - s], rshift(v[i - s], s))
      for k = 1, s - 1 do
        if band(rshift(a, s - 1 - k), 1) == 1 then value = bxor(value, v[i - k]) end
      end
      v[i] = value
    end
  end
  return v
end

--- n points in [0, 1)^dimensions: point[i][d]. `shift` (per dimension, whole numbers below 2^32) is a digital
--- shift: the points stay evenly spread, and the first one is no longer in the corner.
function sobol.points(n, dimensions, shift)
  local points = {}
  for i = 1, n do points[i] = {} end
  for d = 1, dimensions do
    local v, x = directions(d), 0
    for i = 1, n do
      local moved = bxor(x, shift and shift[d] or 0)
      points[i][d] = (moved % 4294967296) / 4294967296
      local position, index = 1, i - 1 -- of the lowest zero bit of i - 1
      while band(index, 1) == 1 do
        index = rshift(index, 1)
        position = position + 1
      end
      x = bxor(x, v[position])
    end
  end
  return points
end

return sobol
