-- The grids of latencies of steps/kernels: values between their points, and prices that never fall with less work.
-- mutations_test.lua takes lines out of them and expects a failure here.
local test = dofile "tests/scripts/harness.lua"
local monotone = require "steps.kernels.monotone"
local monotone_prefill = require "steps.kernels.monotone_prefill"

-- The grid of decode attention -------------------------------------------------------------------

local codes = require("rooflua.cost").evidence_codes()

--- A grid over a given latency function, with blocks of 128 keys.
local function grid(latency)
  return monotone.of(function(n, tokens) return latency(n, tokens), "measured" end, 128)
end

test("between the points of the grid the price is bilinear, beyond its tokens in proportion", function()
  local plain = grid(function(n, tokens) return 1e-6 * n + 1e-9 * tokens end)
  for _, point in ipairs { { 1, 128 }, { 1, 1000 }, { 3, 50000 }, { 9, 11111 }, { 100, 654321 }, { 4095, 16000001 } } do
    test.near(plain:at(point[1], point[2]), 1e-6 * point[1] + 1e-9 * point[2], 1e-12, point[1] .. " requests")
  end
  test.near(plain:at(1, 2 ^ 26), 4 * (1e-6 + 1e-9 * 2 ^ 24), 1e-12)
  test.equal(plain:at(5000, 2 ^ 22), plain:at(4096, 2 ^ 22))
  test.equal(select(2, plain:at(8, 4096)), codes.measured)
  test.equal(select(2, plain:at(9, 4096)), codes.interpolated)
  test.equal(select(2, plain:at(8, 4097)), codes.interpolated)
end)

test("where more requests, or more tokens, are faster, they are the price", function()
  local requests = grid(function(n) return n < 4 and 5e-6 or 3e-6 end)
  test.equal(requests:at(2, 65536), 3e-6)
  local tokens = grid(function(_, count) return count < 2 ^ 22 and 5e-6 or 3e-6 end)
  test.equal(tokens:at(4096, 2 ^ 20), 3e-6)
  local rising = grid(function(n, count) return n >= 4 and count >= 4096 and 5e-6 or 3e-6 end)
  test.equal(rising:at(2, 2 ^ 20), 3e-6)
  test.equal(rising:at(4, 2 ^ 20), 5e-6)
end)

-- The grid of prefill attention ------------------------------------------------------------------

local function prefill_grid(latency)
  return monotone_prefill.of(function(t, p) return latency(t, p), "measured" end)
end

test("a prefill that goes with its work, or with its launch, comes out of the grid as it went in", function()
  local work = prefill_grid(function(t, p) return 8e-6 + 1e-12 * t * (p + t / 2) end)
  for _, point in ipairs { { 1, 0 }, { 1, 1 }, { 11, 0 }, { 700, 0 }, { 700, 333 }, { 2047, 77777 }, { 9, 1000001 } } do
    local t, p = unpack(point)
    test.near(work:at(t, p), 8e-6 + 1e-12 * t * (p + t / 2), 1e-12, t .. " behind " .. p)
  end
  test.near(work:at(2 ^ 21, 0), 4 * (8e-6 + 1e-12 * 2 ^ 39), 1e-12)
  test.near(work:at(16, 2 ^ 21), (8e-6 + 1e-12 * 16 * (2 ^ 20 + 8)) * (2 ^ 21 + 8) / (2 ^ 20 + 8), 1e-12)
  test.equal(select(2, work:at(8, 4096)), codes.measured)
  test.equal(select(2, work:at(8, 0)), codes.measured)
  test.equal(select(2, work:at(9, 4096)), codes.interpolated)
  test.equal(select(2, work:at(8, 4097)), codes.interpolated)
end)

test("where more new tokens, or more before them, are faster, they are the price", function()
  local new = prefill_grid(function(t) return t < 512 and 5e-6 or 3e-6 end)
  test.equal(new:at(100, 0), 3e-6)
  local before = prefill_grid(function(_, p) return p < 4096 and 5e-6 or 3e-6 end)
  test.equal(before:at(100, 0), 3e-6)
  test.equal(before:at(100, 1000), 3e-6)
  local rising = prefill_grid(function(t, p) return t >= 512 and p >= 4096 and 5e-6 or 3e-6 end)
  test.equal(rising:at(100, 2 ^ 20), 3e-6)
  test.equal(rising:at(512, 4096), 5e-6)
end)

test.finish()
