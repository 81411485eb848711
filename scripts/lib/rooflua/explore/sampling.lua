-- Points of a parameter space: random, Latin hypercube, Sobol.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local declared = require "rooflua.scenario.declared"
local paths = require "rooflua.scenario.paths"
local random = require "rooflua.random"
local sobol = require "rooflua.explore.sobol"
local variants = require "rooflua.scenario.variants"
local wrong = paths.wrong

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

--- A parameter is a range ({min, max}, {min =, max =, log =}, true) or a list of three or more values, or
--- of anything but two numbers, one of which is taken.
local function is_choice(spec)
  if type(spec) ~= "table" then return false end
  local plain = core.plain(spec)
  if plain.min ~= nil or plain.max ~= nil or #plain == 0 then return false end
  return not (#plain == 2 and type(plain[1]) == "number" and type(plain[2]) == "number")
end

local function dimensions_of(file, given, params, what)
  local list = {}
  if type(params) ~= "table" then wrong(file, what, "expected parameters, found %s", core.describe(params)) end
  for key, value in core.sorted_pairs(params) do
    local path, spec = key, value
    if type(key) == "number" then path, spec = value, true end
    if is_choice(spec) then
      declared.find(file, given, path, what, true)
      list[#list + 1] = { path = path, values = core.plain(spec) }
    else
      list[#list + 1] = { path = path, range = declared.range(file, given, path, spec, what) }
    end
  end
  if #list == 0 then wrong(file, what, "expected at least one parameter") end
  return list
end

local function value_of(dimension, place)
  if dimension.values then return dimension.values[math.floor(place * #dimension.values) + 1] end
  return declared.value(dimension.range, place)
end

local keys = { "method", "n", "params", "seed" }

--- The points of a scenario's `sweep`, as variants.
function sampling.points(file, given)
  local options = given.sweep
  if type(options) ~= "table" then wrong(file, "sweep", "expected a table, found %s", core.describe(options)) end
  options = core.plain(options)
  paths.at(file, "sweep", core.check_keys, options, keys, "sweep")
  local method = options.method or "sobol"
  if type(method) ~= "string" or not methods[method] then
    wrong(file, "sweep.method", "%s", native.unknown_name("method", tostring(method), core.sorted_keys(methods)))
  end
  local n = paths.at(file, "sweep.n", core.whole, options.n, "sweep.n", 1)
  if n > most_points then wrong(file, "sweep.n", "at most %d points, found %d", most_points, n) end
  local seed = paths.at(file, "sweep.seed", core.whole, options.seed or 0, "sweep.seed")
  local list = dimensions_of(file, given, options.params, "sweep.params")
  local places = paths.at(file, "sweep", methods[method], n, #list, random.streams(seed))
  local out = {}
  for i, place in ipairs(places) do
    local variant = { name = "", parameters = {}, changes = {} }
    for d, dimension in ipairs(list) do
      local value = value_of(dimension, place[d])
      variant = variants.with(variant, dimension.path, value, type(value) == "number" and ("%.4g"):format(value) or nil)
    end
    out[i] = variant
  end
  return out
end

return sampling
