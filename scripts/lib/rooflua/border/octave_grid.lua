-- Latencies on a grid whose axes are 1, 2, 3 and then four points an octave. The grid is memory of the library, which
-- the engine searches (engine/cost/work/octave_grid.h); scripts get numbers.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local border = require "rooflua.border.abi"

local ffi, find_cell = border.ffi, border.functions.find_cell
local fail, type = core.fail, type

-- What a script sees of a cell: read-only, and of the same layout.
ffi.cdef [[
typedef struct {
  const double x, next_x, y, next_y, u, v, few_few, few_many, many_few, many_many;
  const int32_t evidence;
} rooflua_seen_cell;
]]
assert(ffi.sizeof "rooflua_seen_cell" == ffi.sizeof "rooflua_grid_cell")

local octave_grid = {}
local memory = setmetatable({}, { __mode = "k" }) -- function of a grid, or its cell -> what must live as long

--- The points of an axis: 1, 2, 3 and then four an octave, up to `most`, a power of two from 4 to 2^26.
--- @return number[]
function octave_grid.points(most)
  local points, octave = { 1, 2, 3 }, 4
  if type(most) ~= "number" or not (most >= 4 and most <= 67108864) or math.frexp(most) ~= 0.5 then
    fail("cost.octaves: expected a power of two from 4 to 2^26, found %s", core.describe(most))
  end
  while octave < most do
    for k = 0, 3 do points[#points + 1] = octave * (1 + k / 4) end
    octave = 2 * octave
  end
  points[#points + 1] = most
  return points
end

local function is_time(latency_s) return type(latency_s) == "number" and latency_s >= 0 and latency_s < math.huge end
local function is_code(evidence)
  return type(evidence) == "number" and evidence >= 0 and evidence < 6 and evidence % 1 == 0
end

local function refuse(row, column, expected, found)
  fail("cost.octave_grid: row %d, column %d: expected %s, found %s", row, column, expected, core.describe(found))
end

--- The grid in memory: the engine's view of it, and the lists that it points to.
local function pack(most_x, most_y, latency_s, evidence)
  local rows, width = #octave_grid.points(most_x), #octave_grid.points(most_y) + 1
  local seconds, codes = ffi.new("double[?]", rows * width), ffi.new("uint8_t[?]", rows * width)
  for i = 1, rows do
    local times, worst = latency_s[i] or {}, evidence[i] or {}
    for j = 0, width - 1 do
      local at = (i - 1) * width + j
      if not is_time(times[j]) then refuse(i, j, "seconds >= 0", times[j]) end
      if not is_code(worst[j]) then refuse(i, j, "a code of cost.evidence_codes", worst[j]) end
      seconds[at], codes[at] = times[j], worst[j]
    end
  end
  local grid = ffi.new "rooflua_octave_grid"
  grid.most_x, grid.most_y, grid.width, grid.latency_s, grid.evidence = most_x, most_y, width, seconds, codes
  return grid, { seconds, codes }
end

local function not_numbers(x, y)
  fail("a grid: expected two numbers, found %s and %s", core.describe(x), core.describe(y))
end

--- A grid over x and y. Row i is that of the i-th point of x; its columns are that of y = 0, which has index 0, and one
--- for every point of y.
--- @param most_x number last point of x
--- @param most_y number last point of y
--- @param latency_s number[][] seconds by row and column
--- @param evidence integer[][] codes of cost.evidence_codes, alike
--- @return fun(x: number, y: number): rooflua.GridCell the cell around a place, which the next call changes
function octave_grid.new(most_x, most_y, latency_s, evidence)
  -- Apart: what is compiled of its loops must not lead here, because compiled code cannot make a function.
  local grid, lists = native.call_apart(pack, most_x, most_y, latency_s, evidence)
  local own = ffi.new "rooflua_grid_cell"
  local at, out = ffi.cast("const rooflua_octave_grid *", grid), ffi.cast("rooflua_grid_cell *", own)
  local cell = ffi.cast("rooflua_seen_cell *", own)[0] -- a reference: compiled code takes it as constant
  local function cell_at(x, y)
    if type(x) ~= "number" or type(y) ~= "number" or x ~= x or y ~= y then not_numbers(x, y) end
    find_cell(at, x, y, out)
    return cell
  end
  memory[cell_at], memory[cell] = { grid, lists }, own
  return cell_at
end
if jit then jit.off(octave_grid.new) end

return octave_grid
