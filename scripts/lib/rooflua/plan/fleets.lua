-- A day of a plan's load: what the fleet that was sized for the peak costs in a day, and what the same deployment costs
-- with autoscalers between their least and their most replicas.
local chunks = require "rooflua.sandbox.chunks"
local deploy = require "rooflua.plan.deploy"
local evaluate = require "rooflua.plan.evaluate"
local json = require "rooflua.json"
local keep = require "rooflua.plan.keep"
local money = require "rooflua.plan.money"
local policy = require "rooflua.policy"
local search = require "rooflua.plan.search"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local fleets = {}

local hours_of_day = 24
local seconds_of_day = 86400

--- The busiest hour, from 0. A day begins there: its last requests, of which the number is given, then come soon.
local function busiest_of(hours)
  local out = 1
  for h, rate in ipairs(hours) do
    if rate > hours[out] then out = h end
  end
  return out - 1
end

--- The scenario of one day: the workload at its mean rate, moved to the hours.
local function scenario_of(question, candidate, replicas, autoscaler)
  local requests = math.max(1, math.floor(question.load.value * seconds_of_day + 0.5))
  local scenario = deploy.scenario(question, candidate, replicas,
    { requests = requests, scale = 1 / question.load.peak })
  local Day = chunks.shipped "workloads.day"
  scenario.workload = Day { of = scenario.workload, hours = question.day.hours,
    start_hour = busiest_of(question.day.hours) }
  if not autoscaler then return scenario end
  scenario.replicas = deploy.with_encoders(question, candidate, { { count = replicas,
    min = math.min(question.day.least, replicas), max = replicas, autoscaler = autoscaler,
    start = question.day.start } })
  return scenario
end

--- Notes of a run of a day that its rank does not have already: of starts, for example.
local function add_notes(question, ask, notes)
  local known = {}
  for _, list in ipairs { question.notes, ask.item.result.notes or {} } do
    for _, note in ipairs(list) do known[note] = true end
  end
  for _, note in ipairs(notes or {}) do
    local told = "a day: " .. note
    local is_price = note:find("prices.toml", 1, true) -- the plan has prices of its own
    if not is_price and not known[note] and not known[told] then question.notes[#question.notes + 1] = told end
    known[told] = true
  end
end

--- {rank, name, gpu_hours, cost, meets, problem, metrics, pool} of each fleet: of every rank the fixed one, then one
--- per autoscaler. Split deployments have two pools that scale separately, and are left out.
function fleets.of(question, plan)
  local asks, out = {}, {}
  for rank, item in ipairs(plan.ranks) do
    if item.candidate.split then
      question.notes[#question.notes + 1] = ("no day of rank %d: prefill and decode replicas would scale separately")
        :format(rank)
    else
      asks[#asks + 1] = { rank = rank, item = item }
      for _, each in ipairs(question.day.autoscalers) do
        asks[#asks + 1] = { rank = rank, item = item, autoscaler = each }
      end
    end
  end
  local function run_of(ask)
    local item = ask.item
    return evaluate.scenario(question, item.candidate, item.result.replicas,
      scenario_of(question, item.candidate, item.result.replicas, ask.autoscaler), {})
  end
  local found = search.parallel(question, #asks, "day", function(i) return run_of(asks[i]) end,
    function(i)
      local ask = asks[i]
      return { candidate = keep.candidate(ask.item.candidate), replicas = ask.item.result.replicas,
        day = question.day.hours, least = question.day.least, start = question.day.start,
        autoscaler = ask.autoscaler and policy.describe(ask.autoscaler) or "none",
        parameters = ask.autoscaler and policy.parameters(ask.autoscaler) or nil }
    end)
  for i, ask in ipairs(asks) do
    local result, item = found[i], ask.item
    add_notes(question, ask, result.notes)
    local has_price = question.gpus[item.candidate.gpu].price ~= nil
    local hours = result.pool and result.pool.gpu_hours + (item.candidate.encoders or 0) * hours_of_day
      or item.result.paid_gpus * hours_of_day
    out[i] = { rank = ask.rank, name = ask.autoscaler and ask.autoscaler.name or "fixed", gpu_hours = hours,
      cost = has_price and hours * money.price(question, item.candidate) or nil, meets = result.meets,
      problem = result.problem,
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
function fleets.text(question, plan, each)
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
function fleets.document(question, list)
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
function fleets.section(question, plan)
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

return fleets
