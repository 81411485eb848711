-- Values that are allowed and probably a mistake: milliseconds for seconds, gigabytes for bytes. Each rule looks at one
-- scenario and reports with report(level, key path, message).
local core = require "rooflua.base.core"
local paths = require "rooflua.scenario.paths"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local rules = {}

--- Rates that data sheets give in another unit: key, least plausible value, factor of that unit, and the unit. The
--- loader of hardware checks the rates of a GPU.
local small = {
  { "network.bytes_per_s", 1e6, 1e9, "GB/s" },
}

local function figure(number) return string.format("%.4g", number) end

function rules.sizes(given, report)
  for _, rule in ipairs(small) do
    local path, least, factor, unit = rule[1], rule[2], rule[3], rule[4]
    local value = paths.value(given, path)
    if type(value) == "number" and value > 0 and value < least then
      report("error", path, "%s is implausibly little; as %s that would be %s", figure(value), unit,
        figure(value * factor))
    end
  end
end

function rules.times(given, report)
  for _, entry in ipairs(schema.all()) do
    local value = entry.long_s and paths.value(given, entry.path)
    if type(value) == "number" and value > entry.long_s then
      report("warning", entry.path, "%s s is long; milliseconds would be %s", figure(value), figure(value / 1000))
    end
  end
end

--- A parameter in seconds of 500 times its default or more was probably given in milliseconds.
local function times_of(report, slot, instance)
  local declared, values = policy.definition(instance).params, policy.parameters(instance)
  for _, name in ipairs(core.sorted_keys(declared)) do
    local value, default = values[name], declared[name].default
    local time = declared[name].unit == "s" and type(value) == "number" and type(default) == "number"
    if time and default > 0 and default < 1 and value >= 500 * default and value > 0.5 then
      report("warning", slot .. "." .. name, "%s s is %s times the default (%s s); milliseconds would be %s",
        figure(value), figure(value / default), figure(default), figure(value / 1000))
    end
    if policy.is_instance(value) then times_of(report, slot .. "." .. name, value) end
  end
end

function rules.policy_times(given, report)
  for _, slot in ipairs { "steps", "scheduler", "router" } do
    if policy.is_instance(given[slot]) then times_of(report, slot, given[slot]) end
  end
  if type(given.corrections) ~= "table" then return end
  for i, each in ipairs(core.plain(given.corrections)) do
    if policy.is_instance(each) then times_of(report, "corrections[" .. i .. "]", each) end
  end
end

function rules.load(given, report)
  local workload = given.workload
  if not policy.is_instance(workload) then return end
  local values = policy.parameters(workload)
  if type(values.rate_per_s) == "number" and values.rate_per_s >= 1e5 then
    report("warning", "workload.rate_per_s", "%s requests/s is more than any service gets", figure(values.rate_per_s))
  end
  local count = values.num_requests -- 0: as many as another workload has
  if type(count) == "number" and count > 0 and count < 100 and given.kind ~= "plan" then -- a plan says its own
    report("warning", "workload.num_requests",
      "p99 of %d requests is about their maximum; 100 are the least that have one", count)
  end
end

function rules.budget(given, report)
  local scheduler = given.scheduler
  if not policy.is_instance(scheduler) then return end
  local values = policy.parameters(scheduler)
  local budget, seats = values.max_num_batched_tokens, values.max_num_seqs
  if type(budget) == "number" and type(seats) == "number" and budget > 0 and seats > 0 and budget < seats then
    report("warning", "scheduler.max_num_batched_tokens",
      "a step of %d tokens cannot hold a token for each of max_num_seqs = %d requests", budget, seats)
  end
end

local order = { "sizes", "times", "policy_times", "load", "budget" }

--- Every rule on the table of one variant.
function rules.apply(given, report)
  for _, name in ipairs(order) do rules[name](given, report) end
end

return rules
