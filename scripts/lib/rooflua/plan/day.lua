-- A day of a plan's load, as `plan.day` states it: which autoscalers are tried, and the rates of its hours.
local core = require "rooflua.base.core"
local load = require "rooflua.machine.load"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local day = {}

local hours_of_day, busiest = 24, 14

--- Relative rates of 24 hours whose largest is `peak` times their mean: a cosine, as steep as that needs.
local function hours_of(peak)
  local function shape(power)
    local out, sum = {}, 0
    for h = 1, hours_of_day do
      out[h] = ((1 + math.cos(2 * math.pi * (h - 1 - busiest) / hours_of_day)) / 2) ^ power
      sum = sum + out[h]
    end
    return out, hours_of_day / sum -- the largest is 1
  end
  local low, high = 0, 1e4
  for _ = 1, 200 do
    local middle = (low + high) / 2
    local _, found = shape(middle)
    if found < peak then low = middle else high = middle end
  end
  return (shape(low))
end

local steepest = 20 -- of a peak over the mean of a day: hours would be idle

--- The hours that are given, and how far their largest is above their mean.
local function given_hours(reader, hours)
  local sum, most = 0, 0
  if type(hours) ~= "table" or #hours ~= hours_of_day then
    reader:fail("plan.day.hours", "expected a list of 24 relative rates, that of midnight first, found %s",
      core.describe(hours))
  end
  for i = 1, hours_of_day do
    local rate = hours[i]
    if type(rate) ~= "number" or not (rate >= 0 and rate < 1e9) then
      reader:fail("plan.day.hours", "expected a relative rate from 0 on at %d, found %s", i, core.describe(rate))
    end
    sum, most = sum + rate, math.max(most, rate)
  end
  if sum == 0 then reader:fail("plan.day.hours", "all rates are 0") end
  return hours, most * hours_of_day / sum
end

local function autoscaler_of(reader, i, given)
  local where = ("plan.day.autoscalers[%d]"):format(i)
  if policy.is_class(given) then given = given {} end
  if type(given) == "string" then
    given = reader:at(where, named_policies.instance, "autoscalers", given)
      or reader:fail(where, "%s", named_policies.unknown("autoscalers", given))
  end
  if not policy.is_instance(given) or type(given.scale) ~= "function" then
    reader:fail(where, "expected an autoscaler, as in \"hpa\" or require \"autoscalers.hpa\" {}, found %s",
      core.describe(given))
  end
  return given
end

--- {autoscalers, hours, least, start} of `plan.day`; nil where it is not given.
---@param asked table the question, with its load
function day.read(reader, given, asked)
  if given == nil then return nil end
  if type(given) ~= "table" then
    reader:fail("plan.day", "expected a table, as in { autoscalers = { \"hpa\" } }, found %s", core.describe(given))
  end
  given = core.plain(given)
  reader:at("plan.day", core.check_keys, given, schema.names "plan.day", "plan.day")
  if asked.load.kind ~= "rate" or not load.has_count(asked.workload) then
    reader:fail("plan.day", "a day has a rate of requests: plan.load = { rate_per_s = N, peak = F } and a workload "
      .. "with a number of requests")
  end
  if given.start ~= nil and type(given.start) ~= "table" then
    reader:fail("plan.day.start", "expected a table, as in { init_s = 60 }, found %s", core.describe(given.start))
  end
  if asked.buy == "node" then
    reader:fail("plan.day", "an autoscaler gives GPUs back, and with buy = \"node\" whole nodes are paid; "
      .. "say buy = \"gpu\"")
  end
  local out = { autoscalers = {}, least = reader:whole("plan.day.min", given.min or 1, 0, 2048), start = given.start }
  if type(given.autoscalers) ~= "table" or #core.plain(given.autoscalers) == 0 then
    reader:fail("plan.day.autoscalers", "expected a list, as in { \"hpa\" }, found %s",
      core.describe(given.autoscalers))
  end
  for i, each in ipairs(core.plain(given.autoscalers)) do out.autoscalers[i] = autoscaler_of(reader, i, each) end
  local peak = asked.load.peak
  if given.hours ~= nil then
    local own
    out.hours, own = given_hours(reader, core.plain(given.hours))
    if math.abs(own - peak) > 0.005 * peak then
      reader:fail("plan.day.hours", "their largest is %.4g times their mean, and plan.load.peak is %.4g, for which the "
        .. "GPUs are counted; say peak = %.4g", own, peak, own)
    end
  else
    if peak <= 1.001 or peak > steepest then
      reader:fail("plan.day", "without `hours` the day is a cosine whose largest rate is plan.load.peak times the "
        .. "mean: expected a peak from 1.01 to %d, found %g", steepest, peak)
    end
    out.hours = hours_of(peak)
  end
  return out
end

return day
