-- The question of a plan, read from a scenario: what is asked, of which GPUs, within which SLO. Everything is checked
-- here, before anything runs.
local adapters = require "rooflua.machine.adapters"
local answers = require "rooflua.intervals.answers"
local axes = require "rooflua.plan.axes"
local capabilities = require "rooflua.plan.capabilities"
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local day = require "rooflua.plan.day"
local experts = require "rooflua.machine.experts"
local load = require "rooflua.machine.load"
local own_metrics = require "rooflua.measure.own"
local policies = require "rooflua.scenario.policies"
local prices = require "rooflua.tables.prices"
local schema = require "rooflua.scenario.schema"
local slo = require "rooflua.explore.search.slo"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local words = require "rooflua.plan.words"

local question = {}

local function option(reader, given, name)
  local value = given[name]
  if value == nil then value = schema.entry("plan." .. name).default end
  return schema.check(reader:child "plan", "plan." .. name, value)
end

local gpu_keys = { 1, "most", "per_node", "price_per_hour", "label" }

--- A GPU that may be bought: {index, name, label, hardware, most, per_node, price, watts}.
local function gpu_of(reader, index, given)
  local where = ("plan.gpus[%d]"):format(index)
  if type(given) == "string" then given = { given } end
  if type(given) ~= "table" then reader:fail(where, "expected { \"h100-sxm\", most = 32 }, found %s",
    core.describe(given)) end
  given = core.plain(given)
  for key in pairs(given) do
    local known = false
    for _, each in ipairs(gpu_keys) do known = known or key == each end
    if not known then
      reader:fail(where, "%s", core.unknown_name("key", key, { "most", "per_node", "price_per_hour",
        "label" }))
    end
  end
  local hardware = reader:at(where, spec.hardware, given[1])
  local most = given.most ~= nil and reader:whole(where .. ".most", given.most, 1, 100000) or 1024
  local per_node = given.per_node or math.min(8, hardware.domain_gpus)
  reader:whole(where .. ".per_node", per_node, 1, 100000)
  local price = prices.of(hardware.name)
  if given.price_per_hour ~= nil then
    local value = given.price_per_hour
    if type(value) ~= "number" or not (value >= 0 and value < 1e9) then
      reader:fail(where .. ".price_per_hour", "expected a price from 0 on, found %s", core.describe(value))
    end
    price = { typical = value, low = value, high = value, yours = true }
  end
  return { index = index, name = hardware.name, label = given.label or prices.label(hardware.name),
    given = given[1], hardware = hardware, most = most, per_node = per_node, price = price,
    has_most = given.most ~= nil }
end

local function gpus_of(reader, given)
  local list = {}
  if type(given) ~= "table" or #core.plain(given) == 0 then
    reader:fail("plan.gpus", "expected a list of GPUs, as in { { \"h100-sxm\", most = 32, price_per_hour = 3 } }")
  end
  for i, each in ipairs(core.plain(given)) do list[i] = gpu_of(reader, i, each) end
  local seen = {}
  for _, each in ipairs(list) do -- one GPU at two prices is two families, and reports tell them apart
    seen[each.label] = (seen[each.label] or 0) + 1
    if seen[each.label] > 1 then each.label = ("%s (%d)"):format(each.label, seen[each.label]) end
  end
  return list
end

--- The largest quantile that the SLO bounds: 0.99 of "ttft_s_p99".
local function quantile_of(bounds)
  local largest = 0.5
  for _, bound in ipairs(bounds) do
    local digits = bound.metric:match "_p(%d+)$"
    if digits then largest = math.max(largest, tonumber(digits) / 10 ^ #digits) end
  end
  return largest
end

--- Seconds of a mean answer at the limits of the SLO; without limits at 30 ms per token.
local function answer_s(bounds, drawn)
  local ttft_s, tpot_s = 0, 0.03
  for _, bound in ipairs(bounds) do
    if bound.max and bound.metric:find "^tpot_s" then tpot_s = bound.max end
    if bound.max and bound.metric:find "^ttft_s" then ttft_s = bound.max end
  end
  return ttft_s + drawn.mean_output * tpot_s
end

local answers_in_horizon, fewest_requests, most_requests = 6, 1000, 20000
local fewest_in_tail = 10 -- requests beyond a quantile

--- Requests of a full run, and the seconds of load that they make.
local function requests_of(out, given)
  local drawn = load.drawn(out, load.has_count(out.workload) and fewest_requests or nil)
  out.drawn = drawn
  local least = math.ceil(fewest_in_tail / (1 - quantile_of(out.bounds)) - 1e-6)
  local is_recorded = out.load.kind == "recorded" or out.load.is_recorded
  if not load.has_count(out.workload) or is_recorded and given.requests == nil then
    out.requests = drawn.count
    if load.has_count(out.workload) then
      out.drawn = load.drawn(out)
      out.requests = out.drawn.count
    end
  elseif given.requests then
    out.requests = out.reader:whole("plan.requests", given.requests, 10, 10000000)
  elseif out.load.kind == "clients" then
    out.requests = math.max(fewest_requests, least, math.ceil(answers_in_horizon * out.load.value * out.load.peak))
  else
    out.horizon_s = given.horizon_s or answers_in_horizon * answer_s(out.bounds, drawn)
    --- Requests of a full run at a rate.
    function out.requests_at(rate)
      return math.max(fewest_requests, least, math.min(most_requests, math.ceil(out.horizon_s * rate)))
    end
    out.requests = out.requests_at(out.load.value * out.load.peak)
  end
  if out.requests < least then
    out.notes[#out.notes + 1] = ("%d requests are few for this quantile: %d would leave %d beyond it"):format(
      out.requests, least, fewest_in_tail)
  end
  if not is_recorded or given.requests then out.drawn = load.drawn(out, out.requests) end
end

local keys_of_plan = { kind = true, plan = true, title = true, vary = true, sweep = true, report = true,
  rooflua = true, search = true, engine = true, hardware = true, scheduler = true, replicas = true, price = true,
  static = true }

--- The scenario without what a plan decides.
local function base_of(given)
  local out = {}
  for key, value in pairs(given) do
    if not keys_of_plan[key] then out[key] = value end
  end
  return out
end

local function notes_of(out, given)
  for _, sentence in ipairs(out.reader.shared.told or {}) do out.notes[#out.notes + 1] = sentence end
  if out.load.kind == "rate" and out.drawn.is_constant then
    out.notes[#out.notes + 1] = "all prompts and all answers have one length: tails of real loads are longer"
  end
  local is_recorded = out.load.kind == "recorded" or out.load.is_recorded
  local sets_count = not is_recorded or given.requests ~= nil
  for _, each in ipairs(load.replaced(out.workload, out.load, sets_count)) do
    out.notes[#out.notes + 1] = ("workload.%s: nothing reads it: %s says it"):format(each[1], each[2])
  end
  for _, bound in ipairs(out.bounds) do
    if bound.max and bound.max <= 0 and bound.metric:find "_s_" then
      out.reader:fail("plan.slo." .. bound.metric, "expected a time above 0, found %g", bound.max)
    end
    if bound.metric == "slo_attainment_frac" and out.base.slo == nil then
      out.reader:fail("plan.slo.slo_attainment_frac", "needs limits of single requests: slo = { ttft_s = 0.5 } in "
        .. "the scenario; without them every request misses")
    end
  end
end

--- Keys of the deployment that every candidate has of its own: its widths, and what its scheduler gets.
local of_candidates = {}
for _, axis in ipairs(axes.of_candidates()) do
  if axis.width or axis.of == "scheduler" then of_candidates[axis.name] = axis.name end
end

--- Refuses keys of the scenario that a plan chooses itself, and limits that no bound reads.
local function check_chosen(out)
  local deployment = out.base.deployment
  if deployment ~= nil and (type(deployment) ~= "table" or specs.is(deployment, "Deployment")) then
    out.reader:fail("deployment", "expected a table of keys that all candidates share, found %s",
      core.describe(deployment))
  end
  for _, key in ipairs(core.sorted_keys(core.plain(deployment or {}))) do
    if of_candidates[key] then
      out.reader:fail("deployment." .. key, "a plan chooses it; say which values to try, as in plan = { candidates = "
        .. "require \"candidates.ladder\" { %s = { 1, 2 } } }", of_candidates[key])
    elseif key == "engine" then
      local name = core.plain(deployment).engine
      out.reader:fail("deployment.engine", "a plan chooses it; say engine = %s at the top, or list engines in "
        .. "plan.candidates", type(name) == "string" and '"' .. name .. '"' or "NAME")
    end
  end
  local engine = out.engine and out.engine.engine
  for _, name in ipairs(core.sorted_keys(out.engine and out.engine.options or {})) do
    local about = engine.option[name]
    local axis = of_candidates[about.parameter] or of_candidates[(about.key or ""):match "^deployment%.(.*)$"]
    if axis then
      out.reader:fail("engine", "%s: a plan chooses it; say which values to try, as in plan = { candidates = require "
        .. "\"candidates.ladder\" { %s = { 1, 2 } } }", name, axis)
    end
  end
  if out.base.slo == nil then return end
  for _, bound in ipairs(out.bounds) do
    if bound.metric:find "slo" or bound.metric:find "goodput" then return end
  end
  out.reader:fail("slo", "limits of single requests, which no bound of plan.slo reads; bounds stand in plan.slo, as in "
    .. "plan = { slo = { ttft_s_p99 = 0.5 } }, and slo_attainment_frac = 0.99 there reads these limits")
end

--- The policy of a field of `plan`, with its method.
local function policy_of(reader, given, name, method)
  local value = given[name]
  if value == nil then value = schema.entry("plan." .. name).default end
  return policies.with_method(reader, "plan." .. name, value, method)
end

--- The objective, and that it compares a figure that deployments have.
local function objective_of(reader, plan)
  local objective = policy_of(reader, plan, "objective", "score")
  if objective.figure ~= nil and not words.figures[objective.figure] then
    reader:fail("plan.objective", "%s", core.unknown_name("figure", objective.figure, core.sorted_keys(words.figures)))
  end
  return objective
end

--- Everything that is asked, from a scenario's table.
function question.of(reader, given)
  if type(given.plan) ~= "table" then reader:fail("plan", "expected a table, as in { load = { rate_per_s = 5 }, "
    .. "slo = { ttft_s_p99 = 1 }, gpus = { \"h100-sxm\" } }") end
  local plan = core.plain(given.plan)
  reader:at("plan", core.check_keys, plan, schema.names "plan", "plan")
  local out = { reader = reader, base = base_of(given), notes = {}, seed = given.seed or 0, title = given.title or "",
    says_how_sure = answers.wanted(given) }
  out.model = reader:at("model", spec.model, given.model)
  out.base.model, out.given_model = out.model, given.model
  if given.workload == nil then
    reader:fail("workload", 'is missing; for example require "workloads.presets" { preset = "chatbot" }')
  end
  out.workload = policies.with_method(reader, "workload", given.workload, "requests")
  out.load = load.read(reader, plan.load, out.workload)
  out.own = own_metrics.by_name(reader, out.base)
  out.bounds = reader:at("plan.slo", slo.bounds, plan.slo, "plan.slo", out.own)
  out.gpus = gpus_of(reader, plan.gpus)
  out.confidence = option(reader, plan, "confidence")
  if type(out.confidence) ~= "number" or not (out.confidence >= 0 and out.confidence <= 1) then
    reader:fail("plan.confidence", "expected a probability from 0 to 1, found %s", core.describe(out.confidence))
  end
  out.survive = reader:whole("plan.survive", option(reader, plan, "survive"), 0, 1000)
  out.replicates = reader:whole("plan.replicates", option(reader, plan, "replicates"), 0, 1000)
  out.ranks = reader:whole("plan.ranks", option(reader, plan, "ranks"), 1, 10)
  out.buy = option(reader, plan, "buy")
  out.engines = plan.engines and core.plain(core.table(plan.engines, "plan.engines")) or {}
  out.engine = reader:at("engine", choice.of_scenario, given.engine)
  out.candidates = policy_of(reader, plan, "candidates", "each")
  out.objective = objective_of(reader, plan)
  out.strategy = policy_of(reader, plan, "strategy", "next")
  out.power = policy_of(reader, plan, "power", "watts")
  out.day = day.read(reader, plan.day, out)
  for _, gpu in ipairs(out.gpus) do
    adapters.check(reader, out.base, out.model, gpu.hardware, out.base.adapters and policies.steps(reader, out.base))
  end
  experts.check(reader, out.base, out.model, out.base.experts and policies.steps(reader, out.base))
  check_chosen(out)
  requests_of(out, plan)
  out.capabilities = capabilities.of(out.model, out.drawn.has_items)
  notes_of(out, plan)
  return out
end

--- The read-only view that policies get.
function question.view(asked)
  local gpus = {}
  for i, each in ipairs(asked.gpus) do
    gpus[i] = core.readonly({ index = i, name = each.name, label = each.label, most = each.most,
      per_node = each.per_node, hardware = each.hardware }, "question.gpus")
  end
  local drawn = asked.drawn
  return core.readonly({ model = asked.model, gpus = gpus, capabilities = asked.capabilities,
    load = core.readonly(asked.load, "question.load"), slo = asked.bounds,
    requests = core.readonly({ count = drawn.count, mean_prompt = drawn.mean_prompt,
      mean_output = drawn.mean_output, longest = drawn.longest, longest_prompt = drawn.longest_prompt,
      shares_content = drawn.shares }, "question.requests") }, "question")
end

return question
