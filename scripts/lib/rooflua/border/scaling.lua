--- What an autoscaler sees of its pool: counts of engines, what the pool did lately, and its ready engines.
local core = require "rooflua.base.core"
local native = require "rooflua.native"

local scaling = {}
local fail = core.fail

local counts = { "now_s", "ready", "starting", "draining", "failed", "min", "max", "wanted", "held" }

local function check_window(self, window_s, method)
  local longest = rawget(self, "longest_s")
  if type(window_s) ~= "number" or not (window_s > 0) then
    fail("pool:%s: expected a window in seconds, found %s", method, core.describe(window_s))
  end
  if window_s > longest then
    fail("pool:%s: a window of %g s is longer than the %g s that the policy declares (window_s)", method, window_s,
      longest)
  end
end

local methods = {}

--- The mean of a series over the last window_s; nil where there is none.
function methods.mean(self, series, window_s)
  check_window(self, window_s, "mean")
  return native.pool_history("mean", series, window_s)
end

--- How often or how much per second over the last window_s.
function methods.rate(self, series, window_s)
  check_window(self, window_s, "rate")
  return native.pool_history("rate", series, window_s)
end

--- The value that the share q of requests, or seconds, does not exceed; nil where there is none.
function methods.quantile(self, series, q, window_s)
  check_window(self, window_s, "quantile")
  if type(q) ~= "number" or q < 0 or q > 1 then
    fail("pool:quantile: expected a share from 0 to 1, found %s", core.describe(q))
  end
  return native.pool_history("quantile", series, window_s, q)
end

--- The engines that are ready: a list of {replica, waiting, running, outstanding, waiting_tokens, kv_used_frac}.
function methods.replicas() return native.pool_members() end

local known = {}
for _, name in ipairs(counts) do known[#known + 1] = name end
for name in pairs(methods) do known[#known + 1] = name end
table.sort(known)

local pool_meta = {
  __index = function(_, key)
    local method = methods[key]
    if method then return method end
    fail("a pool: %s", native.unknown_name("field", tostring(key), known))
  end,
  __newindex = function() fail "a pool is read-only; return how many replicas are wanted" end,
}

local function new_pool(instance)
  local _, window_s = scaling.times_of(instance)
  return setmetatable({ longest_s = window_s }, pool_meta)
end

local function fill(pool, ...)
  for i, name in ipairs(counts) do rawset(pool, name, (select(i, ...))) end
end

--- How often an autoscaler is asked, and how far back it may look: its parameters interval_s and window_s, or its
--- method window().
function scaling.times_of(instance)
  local interval_s = instance.interval_s
  if type(interval_s) ~= "number" or not (interval_s > 0) then
    fail("autoscaler %s: expected a parameter interval_s above 0, found %s", tostring(instance.name),
      core.describe(interval_s))
  end
  local window_s = type(instance.window) == "function" and instance:window() or instance.window_s or interval_s
  if type(window_s) ~= "number" or not (window_s > 0) or window_s > 86400 then
    fail("autoscaler %s: expected a window above 0 and up to a day, found %s", tostring(instance.name),
      core.describe(window_s))
  end
  return interval_s, window_s
end

local function checked(instance, method, answer)
  if type(answer) ~= "number" or answer ~= answer or answer < 0 or answer > 2 ^ 31 - 1 then
    fail("autoscaler %s: %s(pool) must return a number from 0 on, found %s", tostring(instance.name), method,
      core.describe(answer))
  end
  return math.ceil(answer)
end

--- What the engine calls with the counts of a pool: how many engines are wanted.
function scaling.scale_of(instance)
  local pool = new_pool(instance)
  return function(...)
    fill(pool, ...)
    return checked(instance, "scale", instance:scale(pool))
  end
end

--- The same: which of pool:replicas() goes; 0 where the policy does not say.
function scaling.drain_of(instance)
  local pool = new_pool(instance)
  return function(...)
    fill(pool, ...)
    local place = instance:drain(pool, native.pool_members())
    return place == nil and 0 or checked(instance, "drain", place)
  end
end

return scaling
