-- What the library asks of a simulation that runs step by step (engine/library), and of its forks. A state has one
-- scenario. A simulation is a number in the library's hands, because only documents cross between the two.
local native = require "rooflua.native"
local full_run = require "rooflua.serving.full_run"
local json = require "rooflua.json"
local live = require "rooflua.serving.live"
local notes = require "rooflua.machine.notes"
local overrides = require "rooflua.program.overrides"
local unread_keys = require "rooflua.serving.unread_keys"
local words = require "rooflua.base.words"

local simulations = {}

local opened, given -- the scenario
local by_number, last = {}, 0

local function keep(simulation)
  last = last + 1
  by_number[last] = simulation
  return last
end

local function run_of(number) return live.state(by_number[number]).run end

--- A scenario of kind "serve" at time 0: its number.
---@param scenario table that program/overrides.lua opened
function simulations.begin(scenario)
  opened = scenario
  if opened.kind ~= "serve" then
    opened.reader:fail("kind", "expected \"serve\", whose requests are simulated, found \"%s\"", opened.kind)
  end
  given = overrides.one_variant(opened, "a run is of one")
  return keep(live.begin(opened.reader, given, {}))
end

--- Whether nothing is left to happen. One that an error stopped in the middle of a step has something left.
local function is_over(run) return not native.serve_is_broken(run) and native.serve_is_over(run) end

--- So many ends of steps. False: nothing is left to happen.
function simulations.step(number, count)
  by_number[number]:step(count)
  return not is_over(run_of(number))
end

--- Every event up to that time, all of them without one. Returns as step does.
function simulations.advance(number, time_s)
  local simulation = by_number[number]
  if time_s then simulation:run_until(time_s) else simulation:run() end
  return not is_over(run_of(number))
end

--- Also of one that an error stopped in the middle of a step.
function simulations.now_s(number) return native.serve_now(run_of(number)) end

--- How many requests were sent, ended and are alive; and how many ended in which way.
local function requests_of(run)
  local told, ended = native.serve_outcomes(run), 0
  local outcomes = {}
  for _, name in ipairs(words.names "outcome") do
    if told[name] > 0 then outcomes[name] = told[name] end
    ended = ended + told[name]
  end
  return { arrived = told.arrived, ended = ended, live = told.arrived - ended, outcomes = outcomes }
end

--- The present: {now_s, over, requests, replicas}. A replica has what Live:replica tells, and its name.
function simulations.state(number)
  local simulation, run = by_number[number], run_of(number)
  local replicas = json.array {}
  for i in ipairs(live.state(simulation).replicas) do
    local replica = native.serve_replica(run, i)
    replica.now_s, replica.name = nil, live.name_of(simulation, i)
    replicas[i] = replica
  end
  return { now_s = native.serve_now(run), over = is_over(run), requests = requests_of(run),
    replicas = replicas }
end

--- A copy with a future of its own: its number.
function simulations.fork(number) return keep(by_number[number]:fork()) end

--- What full_run.run returns of a run that went so far; `partial` where something is left to happen.
function simulations.result(number)
  local state = live.state(by_number[number])
  local run, partial = state.run, nil
  if not is_over(run) then
    local requests = requests_of(run)
    partial = { stopped_by = native.serve_is_broken(run) and "error" or "caller", clock_s = native.serve_now(run),
      finished = requests.ended, sent = requests.arrived }
  end
  local result = full_run.finish(opened.reader, given, {}, { state = state, followed = {}, partial = partial })
  result.notes = notes.of_unread(unread_keys.of(given, opened.kind), result.notes)
  return result
end

--- Frees it. Its forks go on.
function simulations.close(number)
  by_number[number]:close()
  by_number[number] = nil
end

return simulations
