--- The next steps of the same decodes, priced in one call. Nothing but their contexts changes: each is longer by a
--- token from one step to the next. What a step model computes from the number of decodes holds for all of the steps.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local border = require "rooflua.border.abi"

local ffi, fail, type, infinity = border.ffi, core.fail, type, math.huge
local step_run = ffi.cast("rooflua_step_run *", border.table_at("rooflua_serve_table", native.serve_table()).run)
local account = ffi.cast("rooflua_ledger *", native.ledger)
local before, noted = ffi.new "double[6]", ffi.new "double[6]"

local runs = {}
local Run = {} -- what a step model's method run gets

--- How many steps there are.
function Run.steps() return step_run.steps end

--- What is in the account of the step now belongs to every step of the run. To be called once, before put.
function Run.keep()
  local seconds = account.seconds
  local a, b, c, d, e, f = seconds[0], seconds[1], seconds[2], seconds[3], seconds[4], seconds[5]
  for i = 0, step_run.steps - 1 do
    local to = step_run.out[i].evidence_s
    to[0], to[1], to[2], to[3], to[4], to[5] = a, b, c, d, e, f
  end
end

local function refuse(i)
  fail("a run of %d steps: there is no step %s, or no such evidence", step_run.steps, core.describe(i))
end

--- Seconds of a step, by the number of their evidence. What cost.* records without keep is not seen.
--- @param i integer from 1
function Run.add(_, i, code, time_s)
  local out = i >= 1 and i <= step_run.steps and code >= 0 and code < 6 and step_run.out or refuse(i)
  out[i - 1].evidence_s[code] = out[i - 1].evidence_s[code] + time_s
end

--- Calls fn(x) and notes what it records, for add_noted. The account stays as it is.
--- @return number time_s what fn returned
function Run.note(_, fn, x)
  local seconds = account.seconds
  for i = 0, 5 do before[i], seconds[i] = seconds[i], 0 end
  local time_s = fn(x)
  for i = 0, 5 do noted[i], seconds[i] = seconds[i], before[i] end
  return time_s
end

--- Adds what was noted to a step.
function Run.add_noted(_, i)
  if not (i >= 1 and i <= step_run.steps) then refuse(i) end
  local to = step_run.out[i - 1].evidence_s
  to[0], to[1], to[2] = to[0] + noted[0], to[1] + noted[1], to[2] + noted[2]
  to[3], to[4], to[5] = to[3] + noted[3], to[4] + noted[4], to[5] + noted[5]
end

--- The time of a step. Each step has one; where a model stops early, the steps up to there are used.
function Run.put(_, i, time_s)
  if not (i >= 1 and i <= step_run.steps) then refuse(i) end
  if type(time_s) ~= "number" or not (time_s >= 0 and time_s < infinity) then
    fail("run:put: expected seconds, finite and >= 0; found %s", core.describe(time_s))
  end
  step_run.out[i - 1].time_s = time_s
end

runs.run = setmetatable(Run, {
  __index = function(_, key)
    fail("a run: %s", core.unknown_name("method", key, { "add", "add_noted", "keep", "note", "put",
      "steps" }))
  end,
  __newindex = function(_, key) fail("a run is read-only (assigning '%s')", tostring(key)) end,
  __metatable = false,
})

--- True where the step at hand is priced alone: contexts of single requests are known.
function runs.alone()
  if step_run.steps > 0 then
    fail "a batch of a run: contexts of single requests are not known; a step model that reads them has no method run"
  end
  return true
end

--- Whether the engine may price runs with a bound step model: its class has a method `run` of its own, it counts
--- nothing (summary), and no correction changes its times. A class that inherits the method may have changed what it
--- computes.
--- @param steps table a bound step policy
--- @param corrections table those of the scenario
function runs.may_price(steps, corrections)
  return policy.has_own(steps, "run") and steps.summary == nil and #corrections == 0
end

return runs
