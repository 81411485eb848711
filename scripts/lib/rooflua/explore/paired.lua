-- Differences between variants over seeds. Runs of one seed share their random numbers, so a variant is compared with
-- the baseline seed by seed, and the noise that both share cancels.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local metrics = require "rooflua.measure.metrics"
local random = require "rooflua.random"
local statistics = require "rooflua.base.statistics"

local paired = {}
local fail, sqrt, mean_of = core.fail, math.sqrt, statistics.mean

-- Student's t ----------------------------------------------------------------------------------------------

--- Regularised incomplete beta function by its continued fraction (Lentz).
local function beta_fraction(x, a, b)
  local tiny, c, d = 1e-300, 1, 1 - (a + b) * x / (a + 1)
  if math.abs(d) < tiny then d = tiny end
  d = 1 / d
  local h = d
  for m = 1, 300 do
    local even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 + even * d
    c = 1 + even / c
    d, c = 1 / (math.abs(d) < tiny and tiny or d), math.abs(c) < tiny and tiny or c
    h = h * d * c
    local odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 + odd * d
    c = 1 + odd / c
    d, c = 1 / (math.abs(d) < tiny and tiny or d), math.abs(c) < tiny and tiny or c
    h = h * d * c
    if math.abs(d * c - 1) < 1e-15 then break end
  end
  return h
end

local function log_gamma(x) -- Lanczos, g = 7
  local g = { 0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7 }
  local sum = g[1]
  for i = 2, 9 do sum = sum + g[i] / (x + i - 2) end
  local t = x + 6.5
  return 0.91893853320467274178 + (x - 0.5) * math.log(t) - t + math.log(sum)
end

local function incomplete_beta(x, a, b)
  if x <= 0 then return 0 end
  if x >= 1 then return 1 end
  local front = math.exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * math.log(x) + b * math.log(1 - x))
  if x < (a + 1) / (a + b + 2) then return front * beta_fraction(x, a, b) / a end
  return 1 - front * beta_fraction(1 - x, b, a) / b
end

--- Probability that |t| with that many degrees of freedom exceeds `t`.
function paired.two_sided(t, freedom) return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) end

--- The t with which `level` of the distribution lies between -t and t.
function paired.quantile(level, freedom)
  local low, high = 0, 1
  while paired.two_sided(high, freedom) > 1 - level do high = high * 2 end
  for _ = 1, 200 do
    local middle = (low + high) / 2
    if paired.two_sided(middle, freedom) > 1 - level then low = middle else high = middle end
  end
  return (low + high) / 2
end

-- Intervals --------------------------------------------------------------------------------------------------

local function by_t(differences, level)
  local n, mean, squares = #differences, mean_of(differences), 0
  for _, each in ipairs(differences) do squares = squares + (each - mean) * (each - mean) end
  local half = paired.quantile(level, n - 1) * sqrt(squares / (n - 1) / n)
  return mean - half, mean + half
end

local resamples = 2000

--- Percentiles of the means of resampled differences. The resampling has a random stream of its own.
local function by_bootstrap(differences, level)
  local stream, means, n = random.streams(0):stream "measure.compare", {}, #differences
  for i = 1, resamples do
    local sum = 0
    for _ = 1, n do sum = sum + differences[stream:integer(1, n)] end
    means[i] = sum / n
  end
  table.sort(means)
  local tail = (1 - level) / 2
  return statistics.of_sorted(means, tail), statistics.of_sorted(means, 1 - tail)
end

local methods = { t = by_t, bootstrap = by_bootstrap }
paired.methods = { "bootstrap", "t" }

--- Mean difference of pairs and its confidence interval (nil with fewer than two pairs).
function paired.interval(differences, level, method)
  local mean = mean_of(differences)
  if #differences < 2 then return mean end
  return mean, methods[method](differences, level)
end

-- Variants -----------------------------------------------------------------------------------------------------

local function text_of(value)
  return type(value) == "number" and native.number_text(value) or tostring(value)
end

local function key_of(run)
  local parts = {}
  for path, value in core.sorted_pairs(run.parameters or {}) do
    if path ~= "seed" then parts[#parts + 1] = tostring(path):match "[^.]+$" .. "=" .. text_of(value) end
  end
  return #parts > 0 and table.concat(parts, ", ") or run.parameters and "base" or run.name
end

local function seed_of(run) return run.parameters and run.parameters.seed or run.seed end

--- Runs by variant and seed: {{name, by_seed = {seed = run}, seeds = {...}}, ...} in order of appearance.
function paired.groups(runs)
  local list, by_name = {}, {}
  for i, run in ipairs(runs) do
    local name = key_of(run) or "run " .. i
    local seed = seed_of(run) or 0
    if not by_name[name] then
      by_name[name] = { name = name, by_seed = {}, seeds = {} }
      list[#list + 1] = by_name[name]
    end
    local group = by_name[name]
    if group.by_seed[seed] then fail("measure.compare: two runs of '%s' have seed %s", name, tostring(seed)) end
    group.by_seed[seed] = run
    group.seeds[#group.seeds + 1] = seed
  end
  return list
end

--- {metric, variant, baseline, mean, difference, low, high, seeds, clear} for every variant but the first.
function paired.compare(runs, options)
  local groups, out = paired.groups(runs), {}
  local base = groups[1]
  for _, metric in ipairs(options.metrics) do
    for i = 2, #groups do
      local group, differences, own, theirs = groups[i], {}, {}, {}
      for _, seed in ipairs(base.seeds) do
        local a = metrics.value(base.by_seed[seed], metric)
        local b = group.by_seed[seed] and metrics.value(group.by_seed[seed], metric)
        if a and b then
          differences[#differences + 1], own[#own + 1], theirs[#theirs + 1] = b - a, b, a
        end
      end
      if #differences > 0 then
        local mean, low, high = paired.interval(differences, options.level, options.method)
        out[#out + 1] = { metric = metric, variant = group.name, baseline = mean_of(theirs), mean = mean_of(own),
          difference = mean, low = low, high = high, seeds = #differences,
          clear = low ~= nil and (low > 0 or high < 0) }
      end
    end
  end
  return out
end

return paired
