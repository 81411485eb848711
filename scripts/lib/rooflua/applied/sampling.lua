-- Points of a parameter space: random, Latin hypercube, Sobol.
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local random = require "rooflua.random"
local sobol = require "rooflua.scenario.sobol"
local schema = require "rooflua.scenario.schema"
local variants = require "rooflua.scenario.variants"

local sampling = {}
local most_points = 100000

-- Places in [0, 1)^d -------------------------------------------------------------------------------------

local methods = {}

function methods.random(n, dimensions, streams)
  local points = {}
  for i = 1, n do points[i] = {} end
  for d = 1, dimensions do
    local stream = streams:stream("sample", d)
    for i = 1, n do points[i][d] = stream:uniform() end
  end
  return points
end

--- Each of n equal slices of every dimension holds exactly one point.
function methods.latin_hypercube(n, dimensions, streams)
  local points = {}
  for i = 1, n do points[i] = {} end
  for d = 1, dimensions do
    local stream, order = streams:stream("latin_hypercube", d), {}
    for i = 1, n do order[i] = i - 1 end
    for i = n, 2, -1 do
      local j = stream:integer(1, i)
      order[i], order[j] = order[j], order[i]
    end
    for i = 1, n do points[i][d] = (order[i] + stream:uniform()) / n end
  end
  return points
end

function methods.sobol(n, dimensions, streams)
  if dimensions > sobol.most_dimensions then
    core.fail("sobol has %d dimensions, found %d parameters; latin_hypercube has no limit", sobol.most_dimensions,
      dimensions)
  end
  local shift = {}
  for d = 1, dimensions do shift[d] = streams:stream("sobol", d):integer(0, 4294967295) end
  return sobol.points(n, dimensions, shift)
end

-- Values ---------------------------------------------------------------------------------------------------

--- Whether a parameter is one of a list of values. Two numbers are a range, {min, max}, and so are true and a table
--- with `min` or `max`.
local function is_choice(spec)
  if type(spec) ~= "table" then return false end
  local plain = core.plain(spec)
  if plain.min ~= nil or plain.max ~= nil or #plain == 0 then return false end
  return not (#plain == 2 and type(plain[1]) == "number" and type(plain[2]) == "number")
end

local function dimensions_of(reader, given, params, what)
  local list = {}
  if type(params) ~= "table" then reader:fail(what, "expected parameters, found %s", core.describe(params)) end
  for key, value in core.sorted_pairs(params) do
    local path, spec = key, value
    if type(key) == "number" then path, spec = value, true end
    if is_choice(spec) then
      declared.find(reader, given, path, what, true)
      list[#list + 1] = { path = declared.name(reader, given, path), values = core.plain(spec) }
    else
      local range = declared.range(reader, given, path, spec, what)
      list[#list + 1] = { path = range.path, range = range }
    end
  end
  if #list == 0 then reader:fail(what, "expected at least one parameter") end
  return list
end

local function value_of(dimension, place)
  if dimension.values then return dimension.values[math.floor(place * #dimension.values) + 1] end
  return declared.value(dimension.range, place)
end

local keys = schema.names "sweep"

--- The points of a scenario's `sweep`, as variants.
function sampling.points(reader, given)
  local options = given.sweep
  if type(options) ~= "table" then reader:fail("sweep", "expected a table, found %s", core.describe(options)) end
  options = core.plain(options)
  reader:at("sweep", core.check_keys, options, keys, "sweep")
  local method = options.method or schema.entry("sweep.method").default
  if type(method) ~= "string" or not methods[method] then
    reader:fail("sweep.method", "%s", core.unknown_name("method", method, core.sorted_keys(methods)))
  end
  local n = reader:at("sweep.n", core.whole, options.n, "sweep.n", 1)
  if n > most_points then reader:fail("sweep.n", "at most %d points, found %d", most_points, n) end
  local seed = reader:at("sweep.seed", core.whole, options.seed or 0, "sweep.seed")
  local list = dimensions_of(reader, given, options.params, "sweep.params")
  local places = reader:at("sweep", methods[method], n, #list, random.streams(seed))
  local out = {}
  for i, place in ipairs(places) do
    local variant = variants.base()
    for d, dimension in ipairs(list) do
      local value = value_of(dimension, place[d])
      variant = variants.with(variant, dimension.path, value, type(value) == "number" and ("%.4g"):format(value) or nil)
    end
    out[i] = variant
  end
  return out
end

return sampling
