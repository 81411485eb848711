-- Mean, median and quantiles of lists of numbers, as in numpy: quantiles are linear between ranks.
local statistics = {}

--- The mean; nil of an empty list.
function statistics.mean(values)
  local sum = 0
  for i = 1, #values do sum = sum + values[i] end
  return #values > 0 and sum / #values or nil
end

local function itself(value) return value end

--- The value below which the share `q` of sorted values lies; nil of an empty list.
--- @param map (fun(value: number): number)? grows with the values: the quantile is that of what it makes of them
function statistics.of_sorted(sorted, q, map)
  if #sorted == 0 then return nil end
  local at = (#sorted - 1) * q
  local low = math.floor(at)
  map = map or itself
  local first, second = map(sorted[low + 1]), map(sorted[math.min(low + 2, #sorted)])
  return first + (second - first) * (at - low)
end

--- Like of_sorted, for values in any order.
function statistics.quantile(values, q)
  local sorted = {}
  for i = 1, #values do sorted[i] = values[i] end
  table.sort(sorted)
  return statistics.of_sorted(sorted, q)
end

function statistics.median(values) return statistics.quantile(values, 0.5) end

local rounding = 1e-12 -- of sums of weights

--- The least value with at least the share `q` of all weight at or below it; nil of an empty list.
--- @param list table[] {value, weight}, which are put in order here
function statistics.weighted(list, q)
  table.sort(list, function(a, b) return a[1] < b[1] end)
  local all, sum = 0, 0
  for _, each in ipairs(list) do all = all + each[2] end
  for _, each in ipairs(list) do
    sum = sum + each[2]
    if sum >= q * all * (1 - rounding) then return each[1] end
  end
end

return statistics
