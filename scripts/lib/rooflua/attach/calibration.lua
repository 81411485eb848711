-- Which parameter of a simulation, or which of them together, makes it answer as the server did. One that explains what
-- was measured alone is taken before several: what several of them share cannot be told apart.
local calibrate = require "rooflua.explore.fit.calibrate"
local changes = require "rooflua.applied.changes"
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local figures = require "rooflua.plausible.figures"
local json = require "rooflua.json"
local parameters = require "rooflua.explore.fit.parameters"
local trials = require "rooflua.advise.trials"

local calibration = {}

local near = 0.02         -- mean relative error, below which nothing is left to explain
local alone, together = 30, 80 -- evaluations of a fit of one parameter, and of all
local part_of_limit = 0.5 -- of the time that there is, which the fits may take
local least = 12          -- evaluations, below which a fit finds nothing
--- Of the times in force: those of a server may be much longer than any that was measured.
local widest = { 0.1, 50 }
local around, halvings = { 0.7, 1.4 }, 14 -- of what was found, and how often that range is halved
local much_better = 0.7   -- of the error of one parameter, that all have to fall below

--- The parameters that are fitted, with the range of each.
local function named(reader, given)
  local names = calibrate.runs.default_names(reader, given)
  local _, ranges = parameters.of(reader, given, names)
  for i, name in ipairs(names) do
    local now, about = ranges[name].now, declared.find(reader, given, name, "params").about
    if about.unit == "s" then
      names[i] = ("%s=%.17g..%.17g"):format(name, math.max(about.min or 0, widest[1] * now),
        math.min(about.max or math.huge, widest[2] * now))
    end
  end
  return names
end

--- Fits of each parameter alone, the best one first; of those that explain as much, the one that changes least.
local function singles(asked, given, runs, names, options)
  local out = {}
  for i, name in ipairs(names) do
    out[i] = calibrate.fitted(calibrate.runs, asked.reader, given, runs, core.copy(options, { params = { name } }))
    out[i].place = i
  end
  local function left(fit) return math.max(near, fit.result.error.after) end -- as much as can be told apart
  local function factor(fit)
    local of = fit.result.parameters[1]
    return of.before > 0 and of.after > 0 and math.max(of.after / of.before, of.before / of.after) or math.huge
  end
  table.sort(out, function(a, b)
    if left(a) ~= left(b) then return left(a) < left(b) end
    if factor(a) ~= factor(b) then return factor(a) < factor(b) end
    return a.place < b.place
  end)
  return out
end

--- Names of the other parameters that explain the runs as well as the first one does.
local function alike_of(list)
  local out = json.array {}
  for i = 2, #list do
    if list[i].result.error.after <= near then out[#out + 1] = list[i].result.parameters[1].path end
  end
  return out
end

--- A fit of one parameter, made exact: of a few requests the error is rough near its least value, and the mean time of
--- all requests is not. Halves a range around what was found until that mean is the measured one.
local function exact(asked, given, runs, fit)
  local found = fit.result.parameters[1]
  local measured = figures.measured(runs[1]).e2e_s_mean
  if not measured or found.after <= 0 then return fit end
  local function with(value) return changes.with(asked.reader, given, { [found.path] = value }) end
  local function behind(value)
    local here = { reader = asked.reader, given = with(value), jobs = 1, is_late = function() return false end }
    local row = trials.rows(here, { {} })[1]
    return not row.problem and figures.simulated(row).e2e_s_mean / measured - 1 or 0
  end
  local low, high = around[1] * found.after, around[2] * found.after
  if behind(low) * behind(high) >= 0 then return fit end
  for _ = 1, halvings do
    local middle = (low + high) / 2
    if behind(middle) < 0 then low = middle else high = middle end
  end
  local out = calibrate.fitted(calibrate.runs, asked.reader, with((low + high) / 2), runs,
    { params = { found.path }, evaluations = least, groups = false })
  if out.result.error.after > fit.result.error.after + near / 2 then return fit end
  out.result.parameters[1].before, out.result.error.before = found.before, fit.result.error.before
  return out
end

--- The fit {result, fitted, block}, or why there is none.
---@param asked table {reader, given, jobs}
---@param runs table[] measured runs
---@param run_s number seconds that one simulation of them takes
---@param limit_s number
---@return table? fit
---@return string? why
function calibration.of(asked, runs, run_s, limit_s)
  local given = core.copy(asked.given, { workload = runs[1].workload })
  local names = named(asked.reader, given)
  local share = part_of_limit * limit_s / math.max(run_s, 1e-3) / (alone * #names + together)
  if share * alone < least then
    return nil, ("a run takes %.1f s: --limit %d would calibrate it"):format(run_s,
      math.ceil(limit_s * least / alone / share))
  end
  local function options(most)
    return { evaluations = math.floor(most * math.min(1, share)), jobs = asked.jobs, groups = false }
  end
  local list = singles(asked, given, runs, names, options(alone))
  if list[1].result.error.before <= near then return nil, "the simulation is as near as 2 %" end
  local best = core.copy(exact(asked, given, runs, list[1]), { alike = alike_of(list) })
  local error = best.result.error
  if error.after > near then
    local all = calibrate.fitted(calibrate.runs, asked.reader, given, runs,
      core.copy(options(together), { params = names }))
    if all.result.error.after < much_better * error.after then best = all end
  end
  if best.result.error.after < best.result.error.before then return best end
  return nil, "no parameter brings it nearer"
end

--- A fit as a document: {error = {before, after}, parameters = {{path, before, after, unit}}, alike = names, paste}.
function calibration.document(own)
  if not own then return nil end
  local out = { error = { before = own.result.error.before, after = own.result.error.after },
    parameters = json.array {}, alike = own.alike, paste = own.block }
  for _, each in ipairs(own.result.parameters) do
    if each.before ~= each.after then
      out.parameters[#out.parameters + 1] = { path = each.path, before = each.before, after = each.after,
        unit = each.unit }
    end
  end
  return out
end

return calibration
