-- Mean, median and quantiles of lists of numbers, as in numpy: quantiles are linear between ranks.
local statistics = {}

--- The mean; nil of an empty list.
function statistics.mean(values)
  local sum = 0
  for i = 1, #values do sum = sum + values[i] end
  return #values > 0 and sum / #values or nil
end

--- The value below which the share `q` of sorted values lies; nil of an empty list.
function statistics.of_sorted(sorted, q)
  if #sorted == 0 then return nil end
  local at = (#sorted - 1) * q
  local low = math.floor(at)
  local first, second = sorted[low + 1], sorted[math.min(low + 2, #sorted)]
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

return statistics
