--- Length distributions of prompts and answers, as a workload declares them:
---
---     prompt_tokens = 512
---     prompt_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, min = 1, max = 8192 }
---
--- | distribution | fields | |
--- |---|---|---|
--- | fixed | tokens | always this number |
--- | uniform | min, max | whole numbers, both included |
--- | normal | mean, deviation | |
--- | lognormal | mean, sigma | `mean` of the tokens, sigma of their logarithm |
--- | zipf | exponent, min, max | min + rank - 1; rank 1 is the likeliest |
--- | pareto | shape, min | heavy tail from min on |
--- | empirical | values, weights | drawn by their weights |
--- | listed | values | one after the other, from the first again after the last (workloads.closed_loop) |
---
--- normal, lognormal, pareto and empirical take min and max as well. Samples are rounded to whole tokens and
--- clamped to [min, max], at least 1.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local is_stream = require("rooflua.random").is_stream

local lengths = {}

local fields = {
  fixed = { "tokens" },
  uniform = { "min", "max" },
  normal = { "mean", "deviation" },
  lognormal = { "mean", "sigma" },
  zipf = { "exponent", "min", "max" },
  pareto = { "shape", "min" },
  empirical = { "values" },
  listed = { "values" },
}
local optional = {
  fixed = {},
  uniform = {},
  normal = { "min", "max" },
  lognormal = { "min", "max" },
  zipf = {},
  pareto = { "max" },
  empirical = { "weights", "min", "max" },
  listed = {},
}
local names = { "fixed", "uniform", "normal", "lognormal", "zipf", "pareto", "empirical", "listed" }

--- An error about a key of a scenario names the key; any other error gets the line of the caller in front.
local function fail(where, message)
  local text = where .. ": " .. message
  if text:find "^workload%." then error(text, 0) end
  native.fail(text)
end

local most_ranks = 1e6         -- of a zipf distribution
local most_tokens = 2147483647 -- of a request
local largest = { tokens = most_tokens, min = most_tokens, max = most_tokens, sigma = 30 } -- e^30 is 10^13

local positive = { lognormal = { "mean" }, pareto = { "shape", "min" } }

local function check_values(values, where)
  if type(values) ~= "table" or #values == 0 then fail(where, "expected a list of token counts") end
  for i = 1, #values do
    local value = values[i]
    if not (type(value) == "number" and value >= 1 and value <= most_tokens) then
      fail(where .. "[" .. i .. "]", ("expected a number of tokens from 1 to %.0f, found %s"):format(most_tokens,
        tostring(value)))
    end
  end
end

local function check_weights(weights, count, where)
  if type(weights) ~= "table" then fail(where, "expected a list of numbers, found " .. core.describe(weights)) end
  if #weights ~= count then fail(where, ("expected %d, as many as values, found %d"):format(count, #weights)) end
  for i = 1, #weights do
    local weight = weights[i]
    if not (type(weight) == "number" and weight >= 0 and weight <= 1e300) then
      fail(where .. "[" .. i .. "]", "expected a number >= 0, found " .. tostring(weight))
    end
  end
end

local function check_numbers(spec, where)
  for _, key in ipairs { "tokens", "mean", "deviation", "sigma", "exponent", "shape", "min", "max" } do
    local value = spec[key]
    if value ~= nil and not (type(value) == "number" and value >= 0 and value < math.huge) then
      fail(where .. "." .. key, "expected a number >= 0, found " .. tostring(value))
    end
    if value and value > (largest[key] or math.huge) then
      fail(where .. "." .. key, ("expected at most %.0f, found %.14g"):format(largest[key], value))
    end
  end
  for _, key in ipairs(positive[spec.distribution] or {}) do
    if spec[key] == 0 then fail(where .. "." .. key, "expected a number > 0, found 0") end
  end
  for _, key in ipairs(spec.distribution == "pareto" and { "max" } or { "min", "max" }) do
    if spec[key] and spec[key] % 1 ~= 0 then
      fail(where .. "." .. key, "expected a whole number, found " .. spec[key])
    end
  end
  if spec.values ~= nil then
    check_values(spec.values, where .. ".values")
    if spec.weights ~= nil then check_weights(spec.weights, #spec.values, where .. ".weights") end
  end
  if spec.distribution == "normal" and spec.mean == 0 and (spec.min or 0) < 1 then
    fail(where .. ".mean", "expected a number > 0, or a min of at least 1; found 0")
  end
  if spec.max and spec.max < 1 then fail(where .. ".max", "expected at least 1 token, found " .. spec.max) end
  if spec.min and spec.max and spec.min > spec.max then
    fail(where, "min " .. spec.min .. " is above max " .. spec.max)
  end
end

--- The key path of a declaration, as errors call it.
local function called(where)
  if where == nil then return "a length distribution" end
  return core.text(where, "lengths: where")
end

--- Checks a declaration and fills in its defaults. @param where its key path, for errors
function lengths.check(spec, where)
  where = called(where)
  if type(spec) == "number" then spec = { distribution = "fixed", tokens = spec } end
  if type(spec) ~= "table" then
    fail(where, "expected a number or { distribution = ... }, found " .. core.describe(spec))
  end
  local wanted = spec.distribution ~= nil and fields[spec.distribution] or nil
  if not wanted then fail(where, core.unknown_name("distribution", spec.distribution, names)) end
  local known, takes = { distribution = true }, {}
  for _, list in ipairs { wanted, optional[spec.distribution] } do
    for _, key in ipairs(list) do
      known[key], takes[#takes + 1] = true, key
    end
  end
  for key in pairs(spec) do
    if not known[key] then
      fail(where, core.unknown_name("field of " .. spec.distribution, key, takes))
    end
  end
  for _, key in ipairs(wanted) do
    if spec[key] == nil then fail(where, spec.distribution .. " needs " .. key) end
  end
  check_numbers(spec, where)
  if spec.distribution == "fixed" and (spec.tokens < 1 or spec.tokens % 1 ~= 0) then
    fail(where, "expected a whole number >= 1, found " .. tostring(spec.tokens))
  end
  return spec
end

--- Cumulative weights, for inverse-CDF draws.
local function cumulative(weights, where)
  local sum, out = 0, {}
  for i = 1, #weights do
    sum = sum + weights[i]
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

--- The values that an empirical distribution draws from, and their weights.
local function zipf_table(spec, where)
  if spec.max - spec.min >= most_ranks then
    fail(where, ("zipf keeps a weight for each of max - min + 1 = %.0f lengths; at most %.0f"):format(
      spec.max - spec.min + 1, most_ranks))
  end
  local values, weights = {}, {}
  for rank = 1, spec.max - spec.min + 1 do
    values[rank], weights[rank] = spec.min + rank - 1, rank ^ -spec.exponent
  end
  return values, weights
end

local function empirical_table(spec)
  local weights = spec.weights or {}
  if not spec.weights then
    for i = 1, #spec.values do weights[i] = 1 end
  end
  return spec.values, weights
end

local function mean_of_table(values, weights)
  local sum, total = 0, 0
  for i = 1, #values do
    sum, total = sum + values[i] * weights[i], total + weights[i]
  end
  return sum / total
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
    local values, weights = zipf_table(spec, where)
    return table_sampler(values, weights, where)
  end,
  pareto = function(spec) return function(stream) return stream:pareto(spec.shape, spec.min) end end,
  empirical = function(spec, where)
    local values, weights = empirical_table(spec)
    return table_sampler(values, weights, where)
  end,
  listed = function(spec, where)
    return function(_, number)
      if not number then fail(where, "listed lengths need workloads.closed_loop, which counts its requests") end
      return spec.values[(number - 1) % #spec.values + 1]
    end
  end,
}

--- Returns a function of a random stream, and of the number of the request from 1 where lengths are listed, that draws
--- whole token counts. The function has no state.
function lengths.sampler(spec, where)
  where = called(where)
  spec = lengths.check(spec, where)
  local draw = samplers[spec.distribution](spec, where)
  if spec.distribution == "fixed" then return draw end
  local low, high = math.max(1, math.ceil(spec.min or 1)), spec.max or most_tokens
  local floor, max, min = math.floor, math.max, math.min
  return function(stream, number)
    if not is_stream(stream) then fail(where, "expected a random stream, found " .. core.describe(stream)) end
    return (min(max(floor(draw(stream, number) + 0.5), low), high))
  end
end

local means = {
  uniform = function(spec) return (spec.min + spec.max) / 2 end,
  zipf = function(spec) return mean_of_table(zipf_table(spec, "lengths.mean")) end,
  pareto = function(spec) return spec.shape > 1 and spec.shape * spec.min / (spec.shape - 1) or math.huge end,
  empirical = function(spec) return mean_of_table(empirical_table(spec)) end,
  listed = function(spec) return mean_of_table(empirical_table { values = spec.values }) end,
}

--- Mean of the declared distribution before clamping and rounding, for reports and closed forms; infinite for a
--- Pareto distribution of shape 1 or less.
function lengths.mean(spec)
  spec = lengths.check(spec, "lengths.mean")
  local mean = means[spec.distribution]
  if mean then return mean(spec) end
  return spec.tokens or spec.mean
end

--- The most tokens that a declared distribution can give; nil where it has no bound.
function lengths.most(spec)
  spec = lengths.check(spec, "lengths.most")
  if spec.tokens or spec.max then return spec.tokens or spec.max end
  local most = nil
  for _, value in ipairs(spec.values or {}) do most = math.max(most or value, value) end
  return most
end

return lengths
