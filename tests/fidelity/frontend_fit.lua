-- Fits what scripts/lib/rooflua/validate/engines.lua declares as fitted (`fit`) to the measured runs of a folder,
-- leaving out one model at a time, and prints the error on the one left out.
--
--     rooflua lua tests/fidelity/frontend_fit.lua DIR [TEXT]        TEXT: only cases with this in their case_id
--
-- Scored is |error| of the median TTFT, of the mean one where no median was measured, every run the same weight.
-- Runs: vLLM, requests that arrive by themselves, a GPU with kernel tables, and the parameters have to change them (a
-- run whose times are the engine's own has no front-end). Closed loops are left out: what their clients do is not
-- stated.
-- A parameter is simulated at multiples of its step, and what lies between is interpolated: a delay in front of the
-- engine moves every arrival by as much, so TTFT is linear in it.
local beliefs = require "rooflua.validate.beliefs"
local cases = require "rooflua.validate.cases"
local core = require "rooflua.base.core"
local engines = require "rooflua.validate.engines"
local fit = require "rooflua.fit"
local run = require "rooflua.validate.run"
local statistics = require "rooflua.base.statistics"
local totals = require "rooflua.validate.totals"

local folder, only = arg[1], arg[2] or ""
if not folder then error("usage: rooflua lua tests/fidelity/frontend_fit.lua DIR [TEXT]", 0) end

local fitted = engines.fitted()
local names = core.sorted_keys(fitted)
local all = cases.read(folder)
local options = { tables = beliefs.default_tables(folder), scratch = "", all = all, intervals = 0 }
local belief = beliefs.list()[1]

-- Simulations ----------------------------------------------------------------------------------------------------

local simulations = {}

--- A case with these parameters, once.
local function simulated(case, values)
  local key = { case.id }
  for i, name in ipairs(names) do key[i + 1] = ("%.9g"):format(values[name]) end
  key = table.concat(key, "\0")
  if not simulations[key] then simulations[key] = run.case(case, run.describe(case, values), belief, options) end
  return simulations[key]
end

local function metric_of(found) return found.errors.ttft_p50 and "ttft_p50" or "ttft_mean" end

--- TTFT at any place: multilinear between multiples of the steps.
local function predicted(case, values, i, corner)
  local name = names[i]
  if not name then
    local found = simulated(case, corner)
    return found.simulated[metric_of(found)]
  end
  local step = fitted[name][3]
  local place = values[name] / step
  local low = math.floor(place + 1e-9)
  local share = math.max(0, place - low)
  corner[name] = low * step
  local below = predicted(case, values, i + 1, corner)
  if share < 1e-9 then return below end
  corner[name] = (low + 1) * step
  return below + share * (predicted(case, values, i + 1, corner) - below)
end

-- Which runs ---------------------------------------------------------------------------------------------------------

local function at_end(which)
  local out = {}
  for _, name in ipairs(names) do out[name] = fitted[name][which] end
  return out
end

--- Whether a case says something about the parameters; its model.
local function is_of_use(case)
  if case.problem or not case.id:find(only, 1, true) then return false end
  local about = run.describe(case)
  if about.engine.family ~= "vLLM" or not totals.group_of(case, about):find ", serving$" then return false end
  local first, last = simulated(case, at_end(1)), simulated(case, at_end(2))
  local metric = metric_of(first)
  if first.tables == "none" or not first.errors[metric] then return false end
  return first.simulated[metric] ~= last.simulated[metric], about.model.name
end

local target = {}
for _, case in ipairs(all) do
  local ok, of_use, model = pcall(is_of_use, case)
  if ok and of_use then
    local found = simulated(case, at_end(1))
    target[#target + 1] = { value = found.measured[metric_of(found)], group = model, case = case }
  end
end
if #target == 0 then error(folder .. ": no run says anything about " .. table.concat(names, ", "), 0) end

-- The fit ------------------------------------------------------------------------------------------------------------

local ranges = {}
for _, name in ipairs(names) do
  ranges[name] = { fitted[name][1], fitted[name][2], start = fitted[name].value }
end
local result = fit.fit { params = ranges, target = target, evaluations = 80,
  scenario = function(values, observation) return predicted(observation.case, values, 1, {}) end }

local function percent(value) return value and ("%.1f"):format(value * 100) or "-" end

local function shown(values)
  local parts = {}
  for i, name in ipairs(names) do parts[i] = ("%s %.4g"):format(name, values[name]) end
  return table.concat(parts, ", ")
end

print(("%d runs of %d models, mean |error| of TTFT in percent"):format(#target, #result.groups))
print(("declared           %s: %s"):format(shown(result.start), percent(result.error.before)))
print(("fitted to all      %s: %s"):format(shown(result.values), percent(result.error.after)))
table.sort(result.groups, function(a, b) return a.name < b.name end)
local left_out, declared = {}, {}
for i, each in ipairs(result.groups) do
  left_out[i], declared[i] = each.left_out, each.before
  print(("without %-16s runs %d  %s: %s on it (declared: %s)"):format(each.name, each.count,
    each.values and shown(each.values) or "-", percent(each.left_out), percent(each.before)))
end
if result.error.left_out then
  print(("left out, mean over models: %s (declared: %s); over runs: %s"):format(percent(statistics.mean(left_out)),
    percent(statistics.mean(declared)), percent(result.error.left_out)))
end
