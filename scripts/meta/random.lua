---@meta rooflua.random
--- Named random streams: number i of a stream depends on the seed, the name, the index and i, and on
--- nothing else. Workloads and routers are given the streams of the scenario's seed.
---@class rooflua.random
local random = {}

--- The streams of one seed.
---@class rooflua.Random
local Random = {}

---@class rooflua.RandomStream
local RandomStream = {}

--- A stream by name; the same name and index give the same numbers.
---@param name string
---@param index integer?
---@return rooflua.RandomStream
function Random:stream(name, index) end

--- Uniform in [low, high); without arguments in [0, 1).
---@param low number?
---@param high number?
---@return number
function RandomStream:uniform(low, high) end
--- Draw number i of the stream, from 0, as uniform() gives it, whatever was drawn before.
---@param i integer
---@return number
function RandomStream:at(i) end
--- Exponential with a rate: mean 1 / rate.
---@param rate number
---@return number
function RandomStream:exponential(rate) end
--- Gamma, mean shape * scale.
---@param shape number
---@param scale number
---@return number
function RandomStream:gamma(shape, scale) end
--- Weibull: P(X > x) = exp(-(x / scale)^shape).
---@param shape number
---@param scale number
---@return number
function RandomStream:weibull(shape, scale) end
--- Normal.
---@param mean number
---@param deviation number
---@return number
function RandomStream:normal(mean, deviation) end
--- Lognormal: exp(normal(mu, sigma)).
---@param mu number
---@param sigma number
---@return number
function RandomStream:lognormal(mu, sigma) end
--- Pareto: P(X > x) = (minimum / x)^shape.
---@param shape number
---@param minimum number
---@return number
function RandomStream:pareto(shape, minimum) end
--- Poisson: a number of events with this mean.
---@param mean number
---@return integer
function RandomStream:poisson(mean) end
--- A whole number from low to high, both included.
---@param low integer
---@param high integer
---@return integer
function RandomStream:integer(low, high) end

--- The streams of a seed.
---@param seed integer
---@return rooflua.Random
function random.streams(seed) end
--- True if `value` is a stream.
---@param value any
---@return boolean
function random.is_stream(value) end
--- A copy that gives the same numbers from this point on; drawing from one does not advance the other.
---@param stream rooflua.RandomStream
---@return rooflua.RandomStream
function random.copy(stream) end

return random
