--- Length distributions of prompts and answers, as a workload declares them:
---
---     prompt_tokens = 512
---     prompt_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, min = 1, max = 8192 }
---
--- | distribution | fields | |
--- |---|---|---|
--- | fixed | tokens | always that many |
--- | uniform | min, max | whole numbers, both included |
--- | normal | mean, deviation | clamped to min, max |
--- | lognormal | mean, sigma | `mean` of the tokens, sigma of their logarithm |
--- | zipf | exponent, min, max | min + rank - 1, rank 1 the likeliest |
--- | pareto | shape, min | heavy tail from min on |
--- | empirical | values, weights | as counted |
---
--- Samples are rounded to whole tokens and clamped to [min, max], at least 1.
local native = require "rooflua.native"

local lengths = {}

local fields = {
  fixed = { "tokens" },
  uniform = { "min", "max" },
  normal = { "mean", "deviation" },
  lognormal = { "mean", "sigma" },
  zipf = { "exponent", "min", "max" },
  pareto = { "shape", "min" },
  empirical = { "values" },
}
local optional = { distribution = true, min = true, max = true, weights = true }
local names = { "fixed", "uniform", "normal", "lognormal", "zipf", "pareto", "empirical" }

local function fail(where, message)
  native.fail(tostring(where or "a length distribution") .. ": " .. message)
end

local most_ranks = 1e6  -- of a zipf distribution

local positive = { lognormal = { "mean" }, pareto = { "shape", "min" } }
local whole = { uniform = { "min", "max" }, zipf = { "min", "max" } }

local function check_values(values, where)
  if type(values) ~= "table" or #values == 0 then fail(where, "expected a list of token counts") end
  for i = 1, #values do
    local value = values[i]
    if not (type(value) == "number" and value >= 1 and value < math.huge) then
      fail(where .. "[" .. i .. "]", "expected a number of tokens >= 1, found " .. tostring(value))
    end
  end
end

local function check_numbers(spec, where)
  for _, key in ipairs { "tokens", "mean", "deviation", "sigma", "exponent", "shape", "min", "max" } do
    local value = spec[key]
    if value ~= nil and not (type(value) == "number" and value >= 0 and value < math.huge) then
      fail(tostring(where) .. "." .. key, "expected a number >= 0, found " .. tostring(value))
    end
  end
  for _, key in ipairs(positive[spec.distribution] or {}) do
    if spec[key] == 0 then fail(where .. "." .. key, "expected a number > 0, found 0") end
  end
  for _, key in ipairs(whole[spec.distribution] or {}) do
    if spec[key] % 1 ~= 0 then fail(where .. "." .. key, "expected a whole number, found " .. spec[key]) end
  end
  if spec.distribution == "empirical" then check_values(spec.values, where .. ".values") end
  if spec.min and spec.max and spec.min > spec.max then
    fail(where, "min " .. spec.min .. " is above max " .. spec.max)
  end
end

--- Checks a declaration and fills it in. @param where its key path, for errors
function lengths.check(spec, where)
  if type(spec) == "number" then spec = { distribution = "fixed", tokens = spec } end
  if type(spec) ~= "table" then
    fail(where, "expected a number of tokens or { distribution = ... }, found " .. type(spec))
  end
  local wanted = fields[spec.distribution]
  if not wanted then fail(where, native.unknown_name("distribution", tostring(spec.distribution), names)) end
  local known = {}
  for key in pairs(optional) do known[key] = true end
  for _, key in ipairs(wanted) do
    known[key] = true
    if spec[key] == nil then fail(where, spec.distribution .. " needs " .. key) end
  end
  for key in pairs(spec) do
    if not known[key] then fail(where, native.unknown_name("field", tostring(key), wanted)) end
  end
  check_numbers(spec, where)
  if spec.distribution == "fixed" and (spec.tokens < 1 or spec.tokens % 1 ~= 0) then
    fail(where, "expected a whole number of tokens >= 1, found " .. tostring(spec.tokens))
  end
  return spec
end

--- Cumulative weights, for inverse-CDF draws.
local function cumulative(weights, where)
  local sum, out = 0, {}
  for i = 1, #weights do
    local weight = weights[i]
    if type(weight) ~= "number" or not (weight >= 0) then fail(where, "a weight must be a number >= 0") end
    sum = sum + weight
    out[i] = sum
  end
  if not (sum > 0) then fail(where, "the weights must not all be 0") end
  return out, sum
end

local function search(sums, x)
  local low, high = 1, #sums
  while low < high do
    local middle = math.floor((low + high) / 2)
    if sums[middle] > x then high = middle else low = middle + 1 end
  end
  return low
end

local function table_sampler(values, weights, where)
  local sums, total = cumulative(weights, where)
  return function(stream) return values[search(sums, stream:uniform() * total)] end
end

local samplers = {
  fixed = function(spec) return function() return spec.tokens end end,
  uniform = function(spec) return function(stream) return stream:integer(spec.min, spec.max) end end,
  normal = function(spec)
    return function(stream) return stream:normal(spec.mean, spec.deviation) end
  end,
  lognormal = function(spec)
    local sigma = spec.sigma
    local mu = math.log(spec.mean) - 0.5 * sigma * sigma
    return function(stream) return stream:lognormal(mu, sigma) end
  end,
  zipf = function(spec, where)
    if spec.max - spec.min >= most_ranks then
      fail(where, ("zipf keeps a weight for each of max - min + 1 = %.0f lengths; at most %.0f"):format(
        spec.max - spec.min + 1, most_ranks))
    end
    local values, weights = {}, {}
    for rank = 1, spec.max - spec.min + 1 do
      values[rank], weights[rank] = spec.min + rank - 1, rank ^ -spec.exponent
    end
    return table_sampler(values, weights, where)
  end,
  pareto = function(spec) return function(stream) return stream:pareto(spec.shape, spec.min) end end,
  empirical = function(spec, where)
    local weights = spec.weights
    if not weights then
      weights = {}
      for i = 1, #spec.values do weights[i] = 1 end
    end
    if #weights ~= #spec.values or #weights == 0 then fail(where, "as many weights as values, at least one") end
    return table_sampler(spec.values, weights, where)
  end,
}

--- A function of a random stream that draws whole token counts. It keeps no state of its own.
function lengths.sampler(spec, where)
  spec = lengths.check(spec, where)
  local draw = samplers[spec.distribution](spec, where)
  if spec.distribution == "fixed" then return draw end
  local low, high = math.max(1, spec.min or 1), spec.max or 2147483647
  local floor = math.floor
  return function(stream)
    local tokens = floor(draw(stream) + 0.5)
    if tokens < low then return low end
    if tokens > high then return high end
    return tokens
  end
end

--- Mean of the declared distribution before clamping, for reports and closed forms.
function lengths.mean(spec)
  if type(spec) == "number" then return spec end
  lengths.check(spec, "lengths.mean")
  if spec.distribution == "uniform" then return (spec.min + spec.max) / 2 end
  return spec.tokens or spec.mean
end

return lengths
