-- `rooflua check-run`: whether a measured result is plausible for a scenario, and which input is likeliest wrong.
local asked_about = require "rooflua.advise.asked"
local core = require "rooflua.base.core"
local deployment = require "rooflua.advise.deployment"
local figures = require "rooflua.plausible.figures"
local inputs = require "rooflua.plausible.inputs"
local json = require "rooflua.json"
local loads = require "rooflua.plausible.loads"
local measured_runs = require "rooflua.formats.measured_runs"
local native = require "rooflua.native"
local text = require "rooflua.plausible.text"
local trials = require "rooflua.advise.trials"

local command = {}

local limit_s = 30
local alike = 0.9 -- of the distance of a likelier input, that a less likely one has to fall below
local explains = 0.6 -- of the distance as it is, that an explanation falls below
local most_gpus = 8
local more_seeds = 4 -- of runs whose requests are drawn
local rounds = 5 -- of the search for the speed of the hardware

--- The one run of a file.
local function run_of(path)
  if path:find "%.lua$" then
    core.fail("%s: is a scenario, and the result comes first: check-run RESULT SCENARIO", path)
  end
  local list = measured_runs.read_all(path)
  if #list > 1 then
    core.fail("%s: holds %d results; name one of them: %s#1 to %s#%d", path, #list, path, path, #list)
  end
  return list[1]
end

--- The first of the inputs that explains the result best: {kind, set, before, after, distance, metrics}.
local function best_input(asked, list)
  local sets, best = {}, nil
  for i, each in ipairs(list) do sets[i] = each.changes end
  local rows, is_late = trials.rows(asked, sets)
  for i, row in ipairs(rows) do
    local simulated = not row.problem and figures.simulated(row)
    local distance = simulated and figures.distance(asked.measured, simulated)
    if distance and (not best or distance < alike * best.distance) then
      best = core.copy(list[i], { distance = distance, metrics = simulated })
    end
  end
  return best, is_late
end

--- The mean logarithm of measured to simulated times.
local function behind(measured, simulated)
  local sum, count = 0, 0
  for _, metric in ipairs(core.sorted_keys(measured)) do
    local of = simulated[metric]
    if metric ~= "output_tokens_per_s" and of and of > 0 and measured[metric] > 0 then
      sum, count = sum + math.log(measured[metric] / of), count + 1
    end
  end
  return count > 0 and sum / count or nil
end

--- How much longer the steps of the hardware take than those of the tables, as an input: where times are neither too
--- long nor too short, by secants over logarithms.
local function of_hardware(asked, base)
  local best, before = nil, { x = 0, y = behind(asked.measured, base) }
  local at = before.y
  if not at then return nil end
  for _ = 1, rounds do
    local rows = trials.rows(asked, { inputs.slower(asked.workload, math.exp(at)) })
    if not rows[1] or rows[1].problem then break end
    local simulated = figures.simulated(rows[1], math.exp(at))
    local distance = figures.distance(asked.measured, simulated)
    if not best or distance < best.distance then
      best = { kind = "hardware", set = "hardware", before = asked.given.hardware, after = asked.given.hardware,
        slower = math.exp(at), distance = distance, metrics = simulated }
    end
    local now = { x = at, y = behind(asked.measured, simulated) }
    if math.abs(now.y) < 1e-3 or now.y == before.y then break end
    at, before = now.x - now.y * (now.x - before.x) / (now.y - before.y), now
  end
  return best
end

--- The input that is likeliest wrong; nil where none of them explains the result.
local function likeliest(asked, base_row, about)
  local base = figures.simulated(base_row)
  local distance = figures.distance(asked.measured, base)
  local best, is_late = best_input(asked, inputs.of(asked.reader, asked.given, about))
  local hardware = not is_late and of_hardware(asked, base)
  if hardware and (not best or hardware.distance < alike * best.distance) then best = hardware end
  if not best or best.distance > explains * distance then return nil, best, is_late end
  return best, best, is_late
end

local function plain_input(input)
  if not input then return nil end
  local name = input.before
  if type(name) == "table" or type(name) == "userdata" then name = tostring(name.name or "as stated") end
  if name == nil then name = json.null end
  local after = input.after
  if type(after) == "table" or type(after) == "userdata" then after = tostring(after.name or "as stated") end
  return { kind = input.kind, set = input.set, before = name, after = after, slower = input.slower,
    distance = input.distance, metrics = input.metrics }
end

--- Whether the requests of a result can be replayed in place of those that a scenario draws: as many, as long and as
--- often, at times that the result has.
local function is_replayed(run, own, differences)
  return run.recorded_times and own and own.is_plain and not own.is_closed and #differences == 0
end

--- The figures of the result, and the row of the scenario's run. Where the requests of the run are drawn, the intervals
--- hold for other seeds as well.
local function figures_of(asked, load, is_drawn)
  local sets, list = { {} }, {}
  for i = 1, is_drawn and more_seeds or 0 do
    sets[i + 1] = { { path = "seed", value = (asked.given.seed or 0) + i } }
  end
  local rows = trials.rows(asked, sets)
  if not rows[1] then core.fail("the scenario takes longer than %g s; give it fewer requests", limit_s) end
  if rows[1].problem then error(rows[1].problem, 0) end
  for _, row in ipairs(rows) do
    if not row.problem then
      list[#list + 1] = figures.compare(asked.measured, figures.simulated(row), row, load)
    end
  end
  return figures.joined(list), rows[1]
end

--- What the program calls: {text, document, status}; status 1 where a figure lies outside of its interval.
---@param given table {result, scenario, command, hardware, set, seed, jobs}
function command.run(given)
  local run = run_of(given.result)
  local reader, scenario = asked_about.of(given, "check-run", { hardware = given.hardware },
    function() return run.workload end)
  local base = deployment.of(reader, scenario, {})
  if base.problem then error(base.problem, 0) end
  local of, own = loads.measured(run), loads.scenario(base.workload, scenario.seed,
    base.replica.prepared.model)
  local differences = own and given.scenario and loads.differences(own, of) or {}
  local is_replay = not given.scenario or is_replayed(run, own, differences)
  if is_replay then scenario.workload = run.workload end
  local asked = { reader = reader, given = scenario, jobs = given.jobs or 1, is_late = asked_about.clock(limit_s),
    measured = figures.measured(run), workload = is_replay and run.workload or base.workload }
  local sent = own or of
  local list, row = figures_of(asked, { is_closed = sent.is_closed, count = math.min(of.count, sent.count) },
    not is_replay)
  if #list == 0 then core.fail("%s: has neither TTFT, TPOT, E2E nor tokens/s", given.result) end
  local document = { schema = "rooflua.check_run/1", result = run.path, scenario = given.scenario,
    plausible = true, figures = json.array(list), workload = json.array(differences), notes = json.array {},
    failed = run.failed or 0, intervals = row.intervals }
  for _, each in ipairs(list) do document.plausible = document.plausible and each.inside end
  for i, note in ipairs(run.notes or {}) do document.notes[i] = note end
  if not document.plausible then
    local about = { replica = base.replica, workload = asked.workload, load = own, sent = of, differences = differences,
      replay = run.workload,
      gpus = math.max(most_gpus, base.gpus), is_command = given.command ~= nil }
    local found, nearest, is_late = likeliest(asked, row, about)
    document.likeliest, document.nearest = plain_input(found), not found and plain_input(nearest) or nil
    document.tried, document.stopped = asked.ran, is_late and { limit_s = limit_s } or nil
  end
  return { text = native.printable(text.of(document)), document = document, status = document.plausible and 0 or 1 }
end

return command
