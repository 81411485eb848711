-- A day of a plan's load: what the fleet that was sized for the peak costs in a day, and what the same deployment costs
-- with autoscalers between their least and their most replicas. `plan.day` asks for it.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local evaluate = require "rooflua.plan.evaluate"
local json = require "rooflua.json"
local keep = require "rooflua.plan.keep"
local load = require "rooflua.plan.load"
local money = require "rooflua.plan.money"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"
local search = require "rooflua.plan.search"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

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
    reader:fail("plan.day", "a day has a rate of requests: plan.load = { rate_per_s = N, peak = F } and a workload with "
      .. "a number of requests")
  end
  local out = { autoscalers = {}, least = reader:whole("plan.day.min", given.min or 1, 0, 2048), start = given.start }
  if type(given.autoscalers) ~= "table" or #core.plain(given.autoscalers) == 0 then
    reader:fail("plan.day.autoscalers", "expected a list, as in { \"hpa\" }, found %s", core.describe(given.autoscalers))
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
      reader:fail("plan.day", "without `hours` the day is a cosine whose largest rate is plan.load.peak times the mean: "
        .. "expected a peak from 1.01 to %d, found %g", steepest, peak)
    end
    out.hours = hours_of(peak)
  end
  return out
end

local seconds_of_day = 86400

local function most_of(list)
  local out = list[1]
  for _, each in ipairs(list) do out = math.max(out, each) end
  return out
end

--- The scenario of one day: the workload at its mean rate, moved to the hours.
local function scenario_of(question, candidate, replicas, autoscaler)
  local requests = math.max(1, math.floor(question.load.value * seconds_of_day + 0.5))
  local scenario = deploy.scenario(question, candidate, replicas,
    { requests = requests, scale = 1 / question.load.peak })
  local Day = chunks.require "workloads.day"
  scenario.workload = Day { of = scenario.workload, hours = question.day.hours }
  if not autoscaler then return scenario end
  local first = question.day.hours[1] / most_of(question.day.hours)
  scenario.replicas = { { count = math.max(question.day.least, 1, math.ceil(replicas * first)),
    min = question.day.least, max = replicas, autoscaler = autoscaler, start = question.day.start } }
  return scenario
end

--- {rank, name, gpu_hours, cost, meets, problem, metrics, peak, changes} of each fleet: of every rank the fixed one, then one per
--- autoscaler. Split deployments have two pools that scale apart, and are left out with a note.
function day.fleets(question, plan)
  local asks, out = {}, {}
  for rank, item in ipairs(plan.ranks) do
    if not item.candidate.split then
      asks[#asks + 1] = { rank = rank, item = item }
      for _, each in ipairs(question.day.autoscalers) do
        asks[#asks + 1] = { rank = rank, item = item, autoscaler = each }
      end
    end
  end
  local function run_of(ask)
    local item = ask.item
    return evaluate.scenario(question, item.candidate, item.result.replicas,
      scenario_of(question, item.candidate, item.result.replicas, ask.autoscaler), { brief = true })
  end
  local found = search.parallel(question, #asks, "day", function(i) return run_of(asks[i]) end,
    function(i)
      local ask = asks[i]
      return { candidate = keep.candidate(ask.item.candidate), replicas = ask.item.result.replicas,
        day = question.day.hours, autoscaler = ask.autoscaler and policy.describe(ask.autoscaler) or "none",
        parameters = ask.autoscaler and policy.parameters(ask.autoscaler) or nil }
    end)
  for i, ask in ipairs(asks) do
    local result, item = found[i], ask.item
    local hours = result.pool and result.pool.gpu_hours or item.result.paid_gpus * hours_of_day
    out[i] = { rank = ask.rank, name = ask.autoscaler and ask.autoscaler.name or "fixed", gpu_hours = hours,
      cost = hours * money.price(question, item.candidate), meets = result.meets, problem = result.problem,
      metrics = result.metrics, pool = result.pool, requests = result.requests }
  end
  return out
end

--- The fixed fleet of the same rank.
local function fixed_of(list, each)
  for _, other in ipairs(list) do
    if other.rank == each.rank and not other.pool then return other end
  end
end

--- "1 to 4 replicas, 121 GPU-hours, $363 (-37 %): TTFT p99 1.2 s, misses".
function day.text(question, plan, each)
  local fixed, parts = fixed_of(plan.day, each), {}
  for _, bound in ipairs(question.bounds) do
    parts[#parts + 1] = ("%s %s"):format(words.metric(bound.metric), words.value(bound.metric,
      each.metrics[bound.metric]))
  end
  local verdict = each.meets and "meets the SLO" or "misses" .. (each.problem and ": " .. each.problem or " the SLO")
  local saved = fixed ~= each and fixed.gpu_hours > 0
    and (" (%+.0f %%)"):format(100 * (each.gpu_hours / fixed.gpu_hours - 1)) or ""
  local sizes = each.pool and ("%d to %d replicas, "):format(each.pool.replicas_least, each.pool.replicas_peak)
    or units.counted(plan.ranks[each.rank].result.replicas, "replica") .. ", "
  return ("%s: %s%s GPU-hours%s, %s: %s, %s"):format(each.name, sizes, units.significant(each.gpu_hours, 4), saved,
    words.dollars(each.cost), table.concat(parts, ", "), verdict)
end

--- The fleets as a list of the document: {rank, autoscaler, gpu_hours, cost, meets, metrics, fewest, most}.
function day.document(question, list)
  local out = json.array {}
  for i, each in ipairs(list) do
    local metrics = {}
    for _, bound in ipairs(question.bounds) do metrics[bound.metric] = each.metrics[bound.metric] end
    out[i] = { rank = each.rank, autoscaler = each.pool and each.name or nil, gpu_hours = each.gpu_hours,
      cost = each.cost, meets = each.meets, problem = each.problem, metrics = metrics,
      fewest = each.pool and each.pool.replicas_least or nil, most = each.pool and each.pool.replicas_peak or nil }
  end
  return { hours = json.array(question.day.hours), requests_per_s = question.load.value, fleets = out }
end

--- The section of the page.
function day.section(question, plan)
  local rows = json.array {}
  for i, each in ipairs(plan.day) do
    local fixed = fixed_of(plan.day, each)
    local metrics = {}
    for k, bound in ipairs(question.bounds) do
      metrics[k] = ("%s %s"):format(words.metric(bound.metric), words.value(bound.metric, each.metrics[bound.metric]))
    end
    local cells = { tostring(each.rank), each.name, each.pool and ("%d to %d"):format(each.pool.replicas_least,
      each.pool.replicas_peak) or tostring(plan.ranks[each.rank].result.replicas), units.significant(each.gpu_hours, 4),
      words.dollars(each.cost), fixed ~= each and fixed.gpu_hours > 0
        and ("%+.0f %%"):format(100 * (each.gpu_hours / fixed.gpu_hours - 1)) or "" }
    rows[i] = json.array {}
    for k, cell in ipairs(cells) do rows[i][k] = { lines = json.array { cell } } end
    rows[i][#cells + 1] = { lines = json.array(metrics) }
    rows[i][#cells + 2] = { lines = json.array { each.meets and "meets the SLO" or each.problem or "misses the SLO" } }
  end
  return { heading = "A day", cards = { head = json.array { "rank", "autoscaler", "replicas", "GPU-hours", "per day",
    "against the fixed fleet", "SLO metrics", "verdict" }, rows = rows },
    note = ("One day of the load in one run each: %s requests/s on average, %s in the busiest hour. The fixed fleet "
      .. "is the one for the peak. A replica that starts or drains is paid."):format(
      units.significant(question.load.value, 4), units.significant(question.load.value * question.load.peak, 4)) }
end

return day
