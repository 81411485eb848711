-- Maps of inference-perf's configuration: their keys, and lengths. Source: kubernetes-sigs/inference-perf,
-- inference_perf/config (7de5ef2b) and utils/numeric/distribution.
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local fields = require "rooflua.formats.fields"
local json = require "rooflua.json"
local loads = require "rooflua.bench.loads"

local keys = {}
local fail = core.fail

--- What keys are: {name = "read" and so on, or what its own keys are}.
---     read; none: changes nothing; lost: changes the load, and is not followed; refused: is another load
function keys.of(of)
  local out = {}
  for kind, names in pairs(of) do
    for name in names:gmatch "%S+" do out[name] = kind end
  end
  return out
end

local length = keys.of { read = "mean std_dev variance min max type", none = "total_count", lost = "skew" }

--- The map at a path, whose keys are checked; an empty one where it is missing.
function keys.section(own, map, path, known)
  if map == nil then return {} end
  if not documents.is_map(map) then fail("%s: expected keys with values, found %s", path, core.describe(map)) end
  local out = {}
  for key, value in core.sorted_pairs(core.plain(map)) do
    local name, kind = (path and path .. "." or "") .. tostring(key), known[key] or "unknown"
    if value ~= json.null then
      if kind == "refused" then fail("%s: such a load is not read: give it as a workload of the scenario", name) end
      if own[kind] then table.insert(own[kind], name) end
      out[key] = type(kind) == "table" and keys.section(own, value, name, kind) or value
    end
  end
  return out
end

--- A whole number of a map; nil where it is not stated.
function keys.whole(path, map, key, least)
  return map[key] ~= nil and fields.whole(path, map, key, least) or nil
end

local spreads = core.set { "normal", "lognormal", "poisson" } -- the last as a normal one of its variance

--- A length, its least and its greatest, of a number or of a map with a distribution.
function keys.length(own, given, path)
  if type(given) ~= "table" then given = { type = "fixed", mean = given } end
  local map, most = keys.section(own, given, path, length), fields.most_tokens
  local kind, low, high = map.type or "normal", keys.whole(path, map, "min", 0) or 10, keys.whole(path, map, "max", 1)
  high = high or 1024
  local mean = fields.number(path, map, "mean", most) or 512
  if kind == "fixed" then return math.floor(mean), math.floor(mean), math.floor(mean) end
  if low > high then fail("%s: min %d is above max %d", path, low, high) end
  if kind == "uniform" then return { distribution = "uniform", min = low, max = high }, low, high end
  if not spreads[kind] then
    fail("%s: type: expected normal, lognormal, poisson, uniform or fixed, found %s", path, core.describe(kind))
  end
  if mean < low or mean > high then fail("%s: mean: expected a number from min %d to max %d", path, low, high) end
  local variance, deviation = fields.number(path, map, "variance"), fields.number(path, map, "std_dev", most)
  if variance and (deviation or 0) > 0 then fail("%s: states variance and std_dev: give one of them", path) end
  deviation = kind == "poisson" and math.sqrt(mean) or variance and math.sqrt(variance) or deviation or 200
  if deviation == 0 then return math.floor(mean + 0.5), math.floor(mean + 0.5), math.floor(mean + 0.5) end
  if kind == "lognormal" and mean > 0 then
    local sigma = math.sqrt(math.log(1 + deviation / mean * (deviation / mean)))
    return { distribution = "lognormal", mean = mean, sigma = sigma, min = math.max(1, low), max = high }, low, high
  end
  return loads.normal(mean, deviation, low, high), low, high
end

return keys
