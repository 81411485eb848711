-- The metrics that a scenario adds: policies of scripts/metrics, by the name that the scenario gives them.
--
--     metrics = { slow_frac = require "metrics.ttft_above_frac" { above_s = 0.5 } }
--
-- Each sees every step and every request that ended, and gives one number: summary.own.slow_frac.
local native = require "rooflua.native"
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local own = {}

local options = schema.names "metrics" -- keys of `metrics` that are no metrics
local betters = { "less", "more", "neither" }

local function checked(reader, name, given)
  local where = "metrics." .. name
  if not name:find "^[%a][%w_]*$" then
    reader:fail("metrics", "the name of a metric has letters, digits and _, found %s", core.describe(name))
  end
  if metrics.is_known(name) then
    reader:fail(where, "a metric of this name exists already; choose another name")
  end
  if type(given) ~= "string" and not policy.is_instance(given) and not policy.is_class(given) then
    reader:fail("metrics", "%s, and expected a metric there (require \"metrics.NAME\" {}), found %s",
      native.unknown_name("key", name, options), core.describe(given))
  end
  local instance = policies.of(reader, "metrics", given)
  if type(instance.value) ~= "function" then
    reader:fail(where, "%s has no value method", tostring(instance.name))
  end
  local better = instance.better or "neither"
  if better ~= "less" and better ~= "more" and better ~= "neither" then
    reader:fail(where, "%s: better: %s", instance.name,
      core.unknown_name("value", better, betters))
  end
  return { name = name, instance = instance, unit = instance.unit or "", better = better }
end

--- The metrics of a scenario, checked, in the order of their names: {{name, instance, unit, better}, ...}.
function own.of(reader, given)
  local list = {}
  local said = given.metrics
  if said == nil then return list end
  if type(said) ~= "table" or policy.is_instance(said) or policy.is_class(said) then
    reader:fail("metrics", "expected a table, as in { slow_frac = require \"metrics.ttft_above_frac\" {} }"
      .. ", found %s", policy.is_class(said) and "a policy class" or core.describe(said))
  end
  local exact = core.plain(said).exact_requests
  if exact ~= nil then reader:child("metrics"):whole("exact_requests", exact, 0) end
  schema.check(reader:child("metrics"), "metrics.itl", core.plain(said).itl)
  for _, key in ipairs(core.sorted_keys(core.plain(said))) do
    if type(key) ~= "string" then
      reader:fail("metrics", "expected a name for every metric, found the key %s", core.describe(key))
    end
    if not core.is_among(key, options) then list[#list + 1] = checked(reader, key, core.plain(said)[key]) end
  end
  return list
end

--- The same by name: what searches and comparisons may ask for.
function own.by_name(reader, given)
  local out = {}
  for _, each in ipairs(own.of(reader, given)) do out[each.name] = each end
  return out
end

-- What the engine tells them -----------------------------------------------------------------------------

local step_fields = { "decode_context_tokens", "decodes", "end_s", "evidence_s", "prefill_tokens", "prefills",
  "own_s", "replica", "running", "start_s", "time_s", "tokens_landed", "total_blocks", "used_blocks", "waiting" }
local request_fields = { "adapter", "arrival_s", "attempt", "cached_tokens", "class", "e2e_s", "end_s", "first_token_s",
  "id", "last_token_s", "outcome", "output_tokens", "preemptions", "prefill_replica", "priority", "program",
  "prompt_tokens", "queue_s", "queued_s", "replica", "scheduled_s", "session", "tenant", "tpot_s", "ttft_s" }

--- A table that the engine fills before every call, and what a metric sees of it: fields that are not there are
--- nil, fields that do not exist are errors, and nothing can be assigned.
local function view(what, fields, filled)
  local known = core.set(fields)
  local seen = setmetatable({}, {
    __index = function(_, key)
      local value = filled[key]
      if value == nil and not known[key] then
        core.fail("%s: %s", what, core.unknown_name("field", key, fields))
      end
      return value
    end,
    __newindex = function(_, key) core.fail("%s is read-only (assigning '%s')", what, tostring(key)) end,
    __metatable = false,
  })
  core.contents[seen] = filled -- for pairs
  return seen
end

--- A function that calls this method of every listener that has it; nil where none has.
---@param list {instance: table}[] the instance of a listener may be replaced
local function teller(list, method, seen)
  local told, count = {}, 0
  for _, each in ipairs(list) do
    if type(each.instance[method]) == "function" then
      count = count + 1
      told[count] = each
    end
  end
  if count == 0 then return nil end
  return function()
    for i = 1, count do
      local instance = told[i].instance
      instance[method](instance, seen)
    end
  end
end

--- What each gives: {{name, unit, value}, ...}; no value where it has none yet.
local function values_of(list)
  local out = {}
  for i, each in ipairs(list) do
    local value = each.instance:value()
    if value ~= nil and type(value) ~= "number" then
      answers.wrong("metric", each.instance, "value", "value() must return a number or nil, found %s",
        core.describe(value))
    end
    if value and value - value ~= 0 then value = nil end
    out[i] = { name = each.name, unit = each.unit, value = value }
  end
  return out
end

--- What the engine calls (engine/script/serving/own_metrics.h); nil where nothing listens: then nothing is called.
---@param router {instance: table}? a router that hears of ended requests
---@param seen table? what else hears of them
local function observer(list, router, seen)
  if #list == 0 and not router and not seen then return nil end
  local hearers = { router }
  if seen then hearers[#hearers + 1] = { instance = seen } end
  for _, each in ipairs(list) do hearers[#hearers + 1] = each end
  local evidence_s = {}
  local step, request = {}, {}
  step.evidence_s = core.readonly(evidence_s, "step.evidence_s")
  return {
    step = step, evidence_s = evidence_s, request = request,
    on_step = teller(list, "on_step", view("a step", step_fields, step)),
    on_done = teller(hearers, "on_done", view("a request", request_fields, request)),
    values = function() return json.array(values_of(list)) end,
  }
end

--- The metrics of one run: a list as own.of gives it, with instances made by `make` (fresh ones for a run, copies
--- with their state for a fork), and in `observer` what the engine calls.
---@param router table? the router of the run, which hears of ended requests if it has on_done
---@param seen table? what else is called with requests that end
function own.start(list, make, router, seen)
  local out = {}
  for i, each in ipairs(list) do
    out[i] = { name = each.name, unit = each.unit, better = each.better, instance = make(each.instance) }
  end
  out.router = router and type(router.on_done) == "function" and { instance = router } or nil
  out.seen = seen
  out.observer = observer(out, out.router, seen)
  return out
end

return own
