-- What a scenario predicts for a measurement, for fits: the time of a step, or metrics of a run.
local core = require "rooflua.base.core"
local batch = require "rooflua.border.batch"
local fresh = require "rooflua.machine.fresh"
local ledger = require "rooflua.border.ledger"
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local own_metrics = require "rooflua.measure.own"
local changes = require "rooflua.applied.changes"
local paths = require "rooflua.scenario.paths"
local policy = require "rooflua.policy"
local Prepared = require "rooflua.machine.prepared"
local Reader = require "rooflua.scenario.reader"
local shape = require "rooflua.scenario.shape"
local spec = require "rooflua.spec"
local full_run = require "rooflua.serving.full_run"

local predictions = {}
local fail = core.fail

local own_keys = { "steps", "model", "hardware", "deployment", "mfu", "async_depth", "corrections" }

--- What is fitted: a scenario's table, a step model with model and hardware beside it, or a function of
--- (values, observation) that returns the prediction.
function predictions.subject(reader, given)
  local subject = given.scenario
  if type(subject) == "function" then return { reader = reader, call = subject } end
  if policy.is_instance(subject) then subject = { steps = subject } end
  local table_ = {}
  if subject ~= nil and type(subject) ~= "table" then
    fail("fit: expected a scenario, a step model or a function, found %s", core.describe(subject))
  end
  for key, value in pairs(core.plain(subject or {})) do table_[key] = value end
  for _, key in ipairs(own_keys) do
    if given[key] ~= nil then table_[key] = given[key] end
  end
  shape.check_keys(reader, table_)
  return { reader = reader, scenario = table_ }
end

--- The subject's scenario with parameters replaced.
function predictions.with_values(subject, values)
  if subject.call then return nil end
  return changes.with(subject.reader, subject.scenario, values)
end

-- Observations ---------------------------------------------------------------------------------------------

local batch_keys = { "prefills", "decodes", "decode_context_tokens", "decode_contexts", "decode_context_max",
  "decode_tokens", "decode_widths", "draft_rows", "draft_tokens", "draft_passes" }
local step_keys = { "batch", "time_s", "group", "set", "name", "prefills", "decodes", "decode_context_tokens",
  "decode_contexts", "decode_context_max", "decode_tokens", "decode_widths", "draft_rows", "draft_tokens",
  "draft_passes" }
local run_keys = { "metrics", "group", "set", "name" }

local function measured(value, where)
  if type(value) ~= "number" or not (value > 0 and value < math.huge) then
    fail("%s: expected a measured value above 0, found %s", where, core.describe(value))
  end
  return value
end

local function step_observation(given, where)
  core.check_keys(given, step_keys, where)
  local item = given.batch
  if item == nil then
    local fields = {}
    for _, key in ipairs(batch_keys) do fields[key] = given[key] end
    item = fields
  end
  if not batch.is(item) then item = Reader.new("fit"):at(where, batch.new, item) end
  return { kind = "step", batch = item, time_s = measured(given.time_s, where .. ".time_s") }
end

local function run_observation(given, where, own)
  core.check_keys(given, run_keys, where)
  local wanted = {}
  for name, value in core.sorted_pairs(core.table(given.metrics, where .. ".metrics")) do
    local metric = metrics.check(name, where .. ".metrics", own)
    wanted[#wanted + 1] = { metric = metric, measured = measured(value, where .. ".metrics." .. metric) }
  end
  if #wanted == 0 then fail("%s.metrics: expected at least one metric", where) end
  return { kind = "run", metrics = wanted }
end

--- A text that is the same for equal changes, so that their scenario is prepared once.
local function key_of(set)
  if set == nil then return "" end
  local ok, text = pcall(json.encode, core.plain(set))
  return ok and text or tostring(set)
end

--- The target as checked observations.
function predictions.observations(subject, target)
  local list = core.plain(core.table(target, "fit: target"))
  if #list == 0 then fail "fit: target: no data: expected a list of measured steps or runs" end
  local out = {}
  for i, given in ipairs(list) do
    local where = ("fit: target[%d]"):format(i)
    given = core.plain(core.table(given, where))
    local one
    if subject.call then
      one = { kind = "call", given = given, value = measured(given.value, where .. ".value") }
    elseif given.metrics ~= nil then
      one = run_observation(given, where, own_metrics.by_name(subject.reader, subject.scenario))
    elseif given.time_s ~= nil then
      one = step_observation(given, where)
    else
      fail("%s: expected time_s (a measured step) or metrics (a measured run)", where)
    end
    one.group, one.set, one.where = given.group, given.set, where
    one.key = key_of(given.set)
    if given.set ~= nil then
      changes.with(Reader.new(where), subject.scenario, core.table(given.set, where .. ".set"))
    end
    out[i] = one
  end
  return out
end

-- Predicting -----------------------------------------------------------------------------------------------

--- The scenario of one `set`, in which objects that are slow to make and that no fitted parameter changes are made
--- already.
local function opened(subject, ranges, set)
  local given, reader = {}, subject.reader
  for key, value in pairs(changes.with(reader, subject.scenario, set or {})) do given[key] = value end
  local touched = {}
  for _, range in ipairs(ranges) do touched[paths.split(range.path)[1]] = true end
  if given.replicas ~= nil or given.model == nil or given.hardware == nil then return given end
  if not touched.model then given.model = reader:at("model", spec.model, given.model) end
  if not touched.hardware then given.hardware = reader:at("hardware", spec.hardware, given.hardware) end
  -- the tables depend on the hardware, which prices what they do not have
  if not touched.mfu and not touched.hardware then given.mfu = Prepared.of(reader, given).mfu end
  return given
end

local function step_corrections(prepared, item, time_s)
  for _, correction in ipairs(prepared.corrections) do
    if type(correction.step) == "function" then time_s = correction:step(item, time_s) end
  end
  return time_s
end

local function step_pricer(subject, given)
  local prepared = Prepared.of(subject.reader, fresh.of(subject.reader, given))
  local steps = Prepared.steps(prepared)
  return function(item)
    ledger.reset()
    return step_corrections(prepared, item, ledger.with_corrections(prepared.corrections, steps.time, steps, item))
  end
end

--- model(values) -> function(observation) -> {{predicted, measured}, ...}
function predictions.model(subject, ranges)
  local bases = {}
  return function(values)
    local pricers = {}
    return function(observation)
      if observation.kind == "call" then
        local predicted = subject.call(values, observation.given)
        if type(predicted) ~= "number" then core.number(predicted, "fit: the function's prediction") end
        return { { predicted = predicted, measured = observation.value } }
      end
      local key = observation.key
      if not bases[key] then bases[key] = opened(subject, ranges, observation.set) end
      if observation.kind == "step" then
        pricers[key] = pricers[key] or step_pricer(subject, changes.with(subject.reader, bases[key], values))
        return { { predicted = pricers[key](observation.batch), measured = observation.time_s } }
      end
      pricers[key] = pricers[key]
        or full_run.result(changes.with(subject.reader, bases[key], values), false, subject.reader.file)
      local out = {}
      for i, each in ipairs(observation.metrics) do
        local predicted = metrics.value(pricers[key], each.metric)
        if not predicted then
          fail("%s.metrics.%s: the simulated run has none", observation.where, each.metric)
        end
        out[i] = { predicted = predicted, measured = each.measured }
      end
      return out
    end
  end
end

return predictions
