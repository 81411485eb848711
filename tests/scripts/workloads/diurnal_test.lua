-- A day as a workload: its mean rate, and its peak where it is said to be, within four standard errors.
local test = dofile "tests/scripts/harness.lua"
local Diurnal = require "workloads.diurnal"
local random = require "rooflua.random"

local N = 20000

local function arrivals_of(parameters)
  local source = Diurnal(parameters):requests(random.streams(1))
  local out = {}
  for i = 1, N do out[i] = (source.next(source)) end
  return out
end

local function within(found, expected, error_of_it, what)
  test.check(math.abs(found - expected) <= 4 * error_of_it, "%s: expected %g within 4 times %g, found %g",
    what, expected, error_of_it, found)
end

-- Of n arrivals in a whole number of periods the counts of parts are binomial.
test("a day has its mean rate, and its peak where it is said to be", function()
  local arrivals = arrivals_of { rate_per_s = 10, swing = 0.8, period_s = 100, peak_s = 30, num_requests = N }
  within(arrivals[N], N / 10, math.sqrt(N) / 10, "the last arrival")
  local around_peak, around_trough = 0, 0
  for _, at in ipairs(arrivals) do
    local place = (at - 30) % 100
    if place < 5 or place > 95 then around_peak = around_peak + 1 end
    if place > 45 and place < 55 then around_trough = around_trough + 1 end
  end
  local part = 100 / (2 * math.pi) * 0.8 * 2 * math.sin(2 * math.pi * 0.05) -- of the sine's term over ten seconds
  within(around_peak / N, (10 + part) / 100, math.sqrt(0.18 * 0.82 / N), "share around the peak")
  within(around_trough / N, (10 - part) / 100, math.sqrt(0.03 * 0.97 / N), "share around the trough")
end)

test("without a swing it is Poisson, and with a rate that falls to 0 arrivals stay in order", function()
  local even = arrivals_of { rate_per_s = 4, swing = 0, num_requests = N }
  within(even[N], N / 4, math.sqrt(N) / 4, "the last arrival")
  local squares, before = 0, 0
  for _, at in ipairs(even) do
    squares, before = squares + (at - before) ^ 2, at
  end
  within(squares / N, 2 / 16, math.sqrt(20 / N) / 16, "mean square of the gaps")
  local all = arrivals_of { rate_per_s = 10, swing = 1, period_s = 1000, num_requests = N }
  for i = 2, N do
    if all[i] < all[i - 1] then test.check(false, "arrival %d is before the one before it", i) end
  end
end)

test.finish()
