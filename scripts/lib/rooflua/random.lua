--- Named random streams: number i of a stream depends on (seed, name, index, i) and nothing else.
local border = require "rooflua.border.abi"
local native = require "rooflua.native"

local ffi, type = border.ffi, type
local istype, cast, pointer = ffi.istype, ffi.cast, ffi.typeof "rooflua_draws *"

-- Scripts hold streams. For them a stream consists of constant numbers: a list could be read beyond its end.
local numbers = {}
for i = 1, ffi.sizeof "rooflua_draws" / 8 do numbers[i] = "n" .. i end
ffi.cdef("typedef struct { const double " .. table.concat(numbers, ", ") .. "; } rooflua_random_handle;")

local C = border.table_at("rooflua_random_table", native.random_table())

local UNIFORM, EXPONENTIAL, WEIBULL, NORMAL, LOGNORMAL, PARETO = 1, 2, 3, 4, 5, 6 -- Distribution

local function checked(value, name, ...)
  if value == value then return value end
  local parameters = {}
  for i = 1, select("#", ...) do parameters[i] = tostring((select(i, ...))) end
  native.fail(name .. "(" .. table.concat(parameters, ", ") .. "): a parameter is outside its range")
end

local function number(value)
  if type(value) == "number" then return value end
  return 0 / 0
end

---@class rooflua.RandomStream
local methods = {}
local Stream = ffi.typeof "rooflua_random_handle"

--- The state of a stream. Any other value is refused here, before it can reach the engine.
local function own(stream)
  if not istype(Stream, stream) then native.fail("expected a random stream, found " .. type(stream)) end
  return cast(pointer, stream)
end

--- The next value of a distribution that takes one draw; NaN: a parameter is outside its range. Values of the
--- distribution that was asked for before were made ahead (engine/base/random/ahead.h).
local function draw(draws, distribution, first, second)
  local taken = draws.taken
  if taken < draws.count and draws.distribution == distribution and draws.first == first and draws.second == second then
    draws.taken = taken + 1
    return draws.values[taken]
  end
  return C.draw(draws, distribution, number(first), number(second))
end

--- Uniform in [low, high); without arguments in [0, 1).
function methods:uniform(low, high)
  return checked(draw(own(self), UNIFORM, low or 0, high or 1), "uniform", low, high)
end
--- Draw number i of the stream, from 0, as uniform() gives it, whatever was drawn before.
function methods:at(i)
  if not (type(i) == "number" and i >= 0 and i <= 9007199254740992 and i % 1 == 0) then checked(0 / 0, "at", i) end
  return C.uniform_at(own(self), i)
end
--- Exponential; `rate` is in events per unit, the mean is 1 / rate.
function methods:exponential(rate)
  if not (type(rate) == "number" and rate > 0) then checked(0 / 0, "exponential", rate) end
  return checked(draw(own(self), EXPONENTIAL, 1 / rate, 0), "exponential", rate)
end
--- Gamma distribution with mean shape * scale.
function methods:gamma(shape, scale)
  return checked(C.gamma(own(self), number(shape), number(scale)), "gamma", shape, scale)
end
--- Weibull distribution: P(X > x) = exp(-(x / scale)^shape).
function methods:weibull(shape, scale)
  return checked(draw(own(self), WEIBULL, shape, scale), "weibull", shape, scale)
end
function methods:normal(mean, deviation)
  return checked(draw(own(self), NORMAL, mean, deviation), "normal", mean, deviation)
end
--- Lognormal distribution: exp(normal(mu, sigma)).
function methods:lognormal(mu, sigma)
  return checked(draw(own(self), LOGNORMAL, mu, sigma), "lognormal", mu, sigma)
end
--- Pareto distribution: P(X > x) = (minimum / x)^shape.
function methods:pareto(shape, minimum)
  return checked(draw(own(self), PARETO, shape, minimum), "pareto", shape, minimum)
end
--- Poisson distribution: a number of events with this mean.
function methods:poisson(mean)
  return checked(C.poisson(own(self), number(mean)), "poisson", mean)
end
--- A whole number from low to high, both included.
function methods:integer(low, high)
  return checked(C.integer(own(self), number(low), number(high)), "integer", low, high)
end

-- Compiled code takes what it finds in this table as constant.
setmetatable(methods, {
  __index = function(_, key) native.fail("a random stream has no method " .. tostring(key)) end,
})

ffi.metatype(Stream, {
  __index = methods,
  __newindex = function() native.fail("a random stream is read-only") end,
  __metatable = false,
})

local random = {}

--- The streams of one seed: random.streams(42):stream("arrivals").
function random.streams(seed)
  local streams = {}
  function streams:stream(name, index)
    local handle = Stream()
    native.random_open(handle, seed, name, index or 0)
    return handle
  end
  return streams
end

function random.is_stream(value)
  return istype(Stream, value)
end

--- A copy that gives the same numbers from this point on; drawing from one does not advance the other.
function random.copy(stream)
  own(stream)
  return Stream(stream)
end

return random
