--- Prices the batch that the engine is about to run: the step model, then the step corrections. A step model that has a
--- method `run` prices the next steps of the same decodes in one call (rooflua.border.runs).
local answers = require "rooflua.border.answers"
local batch = require "rooflua.border.batch"
local core = require "rooflua.base.core"
local ffi = require("rooflua.border.abi").ffi
local ledger = require "rooflua.border.ledger"
local runs = require "rooflua.border.runs"
local serving = require "rooflua.border.views"
local settled = require "rooflua.border.settled"

local C, B = serving.functions, serving.border

batch.attach(function() return runs.alone() and C.decode_context_max(B) end,
  function() return runs.alone() and C.decode_contexts(B) end, function() return C.decode_widths(B) end)

local answer = ffi.cast("rooflua_step_run *", C.run)

local pricing = {}
local live, lasting, apply = batch.live, batch.lasting, ledger.apply
local type, infinity = type, math.huge

local function refuse(kind, method, call, instance, time_s)
  answers.wrong(kind, instance, method, "%s must return seconds, finite and >= 0; found %s", call,
    core.describe(time_s))
end

--- What drafting takes after the step model's time.
local function drafter_time(drafter, now)
  ledger.name_with "draft."
  local time_s = drafter:time(now)
  ledger.name_with(false)
  if type(time_s) ~= "number" or not (time_s >= 0 and time_s < infinity) then
    refuse("drafter", "time", "time(batch)", drafter, time_s)
  end
  return time_s
end

--- The step model's time.
local function model_time(steps, now)
  local time_s = steps:time(now)
  if type(time_s) ~= "number" or not (time_s >= 0 and time_s < infinity) then
    refuse("step model", "time", "time(batch)", steps, time_s)
  end
  return time_s
end

--- The time after one step correction.
local function corrected_time(correction, now, before_s)
  local time_s = correction:step(now, before_s)
  if type(time_s) ~= "number" or not (time_s >= 0 and time_s < infinity) then
    refuse("correction", "step", "step(batch, time_s)", correction, time_s)
  end
  return time_s
end

local function model_and_corrections(steps, corrections, now)
  local time_s = model_time(steps, now)
  for i = 1, #corrections do time_s = corrected_time(corrections[i], now, time_s) end
  return time_s
end

--- The time before step corrections, and the drafter's part of it.
local function whole_time(bound, model, now)
  local time_s = model_time(model, now)
  local draft_s = bound.drafter and drafter_time(bound.drafter, now) or 0
  return time_s + draft_s, draft_s
end

--- The same with a drafter.
local function price_with_drafter(bound, corrections)
  local now = live()
  local time_s, draft_s = whole_time(bound, bound.settled or bound.steps, now)
  for i = 1, corrections and #corrections or 0 do time_s = corrected_time(corrections[i], now, time_s) end
  answer.time_s, answer.draft_s = time_s, draft_s
end

--- Answers with the time of the step and the drafter's part of it, before corrections (rooflua_step_run).
--- @param bound table {steps = a bound step model, settled = what it settled to, or false, corrections = those with a
--- step method, or nil, drafter = that of speculation, or nil, all = every correction of the scenario}
local function price(bound)
  apply(bound.all)
  local settled_steps, corrections = bound.settled, bound.corrections
  if bound.drafter then return price_with_drafter(bound, corrections) end
  local time_s
  if corrections then
    time_s = model_and_corrections(settled_steps or bound.steps, corrections, live())
  elseif settled_steps then
    time_s = model_time(settled_steps, lasting())
  else
    time_s = model_time(bound.steps, live()) -- no variable: compiled code need not create the handle
  end
  answer.time_s, answer.draft_s = time_s, 0
end

--- The next steps of the same decodes. What they cost is in rooflua_step_run.
local function run(bound)
  apply(bound.all)
  if bound.settled then return bound.settled:run(lasting(), runs.run) end
  bound.steps:run(live(), runs.run)
end

--- What the engine calls for each price, and for each run of prices.
function pricing.price_of(bound) return function() price(bound) end end
function pricing.run_of(bound) return function() run(bound) end end

--- After many prices: the step model settles, if it does and can. Returns whether it did.
function pricing.settle(bound)
  bound.settled = settled.of(bound.steps, bound) or false
  return bound.settled ~= false
end

local bound_codes = require("rooflua.base.words").codes "bound" -- "unknown" is 0

--- The code of the bound that holds for most of the time; "unknown" if no operation has a bound.
local function main_bound(rows)
  local seconds, most, code = { 0, 0, 0 }, 0, 0
  for _, row in ipairs(rows) do
    local each = bound_codes[row.bound]
    if each then seconds[each] = seconds[each] + row.time_s * row.count end
  end
  for each = 1, 3 do
    if seconds[each] > most then most, code = seconds[each], each end
  end
  return code
end

--- The same price; returns its bound. Slower; traces need it.
function pricing.bounded(bound)
  apply(bound.all)
  local now, time_s, draft_s = live(), nil, nil
  local tree = ledger.explain_step(function()
    time_s, draft_s = whole_time(bound, bound.steps, now)
    return time_s
  end)
  for _, correction in ipairs(bound.corrections or {}) do time_s = corrected_time(correction, now, time_s) end
  answer.time_s, answer.draft_s = time_s, draft_s
  return main_bound(tree.rows)
end

--- The same price; returns its bound and its parts: rows of {name, evidence, seconds}. The time that a correction
--- changes is part of the operation that it corrects.
function pricing.explain(bound)
  apply(bound.all)
  local now, time_s, draft_s = live(), nil, nil
  local rows = {}
  local tree = ledger.explain_step(function()
    time_s, draft_s = whole_time(bound, bound.steps, now)
    return time_s
  end)
  for _, list in ipairs { tree.rows, tree.corrections } do
    for _, row in ipairs(list) do
      rows[#rows + 1] = { name = row.of or row.name, evidence = row.evidence, seconds = row.time_s * row.count }
    end
  end
  for _, correction in ipairs(bound.corrections or {}) do
    local before_s = time_s
    time_s = corrected_time(correction, now, before_s)
    if time_s ~= before_s then
      rows[#rows + 1] = { name = correction.name, evidence = "assumed", seconds = time_s - before_s }
    end
  end
  answer.time_s, answer.draft_s = time_s, draft_s
  return main_bound(tree.rows), rows
end

return pricing
