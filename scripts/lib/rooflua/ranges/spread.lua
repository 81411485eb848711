-- How lengths are spread inside of intervals, by the shares that a histogram's buckets have: sigma of lognormals with
-- the means of the intervals, which together have those shares.
local core = require "rooflua.base.core"

local spread = {}

local least, most, steps = 0.02, 3, 60 -- of sigma, and of the search for it
local alike = 1.5 * least -- sigma below which lengths of an interval are alike
local least_counted = 20 -- observations, below which shares say little

--- The share of a standard normal below x. Source: Abramowitz and Stegun, 7.1.26 (error below 2e-7)
local function below(x)
  local t = 1 / (1 + 0.3275911 * math.abs(x) / math.sqrt(2))
  local tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    * math.exp(-x * x / 2)
  return x > 0 and 1 - tail / 2 or tail / 2
end

local function distance(sigma, parts, bounds, buckets, count)
  local sum = 0
  for _, bound in ipairs(bounds) do
    local share = 0
    for _, part in ipairs(parts) do
      share = share + part.count / count * below((math.log(bound / part.mean) + sigma * sigma / 2) / sigma)
    end
    local apart = buckets[bound] / count - share
    sum = sum + apart * apart
  end
  return sum
end

--- {sigma, most}: sigma, 0 where all are in the bucket of the mean, and the bound below which all are, where there is
--- one; nil where no buckets say it.
---@param of table {sum, count, buckets = {bound = cumulative count}} of all intervals
---@param list table[] the same of each interval
function spread.of(of, list)
  if not of or not of.buckets or not of.count or of.count < least_counted or not of.sum or of.sum <= 0 then
    return nil
  end
  local bounds, parts, top, inside = {}, {}, nil, 0
  for _, each in ipairs(list) do
    if each.count and each.count > 0 and each.sum and each.sum > 0 then
      parts[#parts + 1] = { mean = each.sum / each.count, count = each.count }
    end
  end
  for _, bound in ipairs(core.sorted_keys(of.buckets)) do
    if bound < math.huge and bound > 0 then
      bounds[#bounds + 1] = bound
      local count = of.buckets[bound]
      if not top and count >= of.count then top = bound end
      if count > 0 and count < of.count then inside = inside + 1 end
    end
  end
  if #bounds == 0 then return nil end
  if inside == 0 then return { sigma = 0 } end
  local low, high, golden = math.log(least), math.log(most), (math.sqrt(5) - 1) / 2
  for _ = 1, steps do
    local a, b = high - golden * (high - low), low + golden * (high - low)
    if distance(math.exp(a), parts, bounds, of.buckets, of.count)
      < distance(math.exp(b), parts, bounds, of.buckets, of.count) then
      high = b
    else
      low = a
    end
  end
  local sigma = math.exp((low + high) / 2)
  return sigma < alike and { sigma = 0 } or { sigma = sigma, most = top }
end

return spread
