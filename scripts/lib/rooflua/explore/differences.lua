-- What a comparison of settings can say: which of them do not differ, and how often the direction of such a change was
-- right where it was measured.
--
-- Two settings do not differ where no metric differs by more than 3 % (levers.flat_frac: repeats of one command differ
-- by more), or where the interval of the difference over the seeds holds 0. A larger change may still be smaller than
-- what simulated changes of that setting were off by.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local levers = require "rooflua.intervals.levers"
local metrics = require "rooflua.measure.metrics"
local paired = require "rooflua.explore.paired"
local units = require "rooflua.text.units"

local differences = {}

local compared = { "e2e_s_mean", "ttft_s_mean", "tpot_s_mean", "output_tokens_per_s" }
local most_variants = 200 -- more are a sample of a space, and no settings to choose from

--- Changes of a metric between two variants, relative, seed by seed.
local function changes_of(a, b, metric)
  local out = {}
  for _, seed in ipairs(a.seeds) do
    local before = metrics.value(a.by_seed[seed], metric)
    local after = b.by_seed[seed] and metrics.value(b.by_seed[seed], metric)
    if before and after and before > 0 then out[#out + 1] = after / before - 1 end
  end
  return out
end

--- The largest change of a metric that is no noise; 0 where there is none, nil where nothing is compared.
local function change_between(a, b)
  local largest
  for _, metric in ipairs(compared) do
    local list = changes_of(a, b, metric)
    if #list > 0 then
      local mean, low, high = paired.interval(list, 0.95, "t")
      local is_noise = math.abs(mean) <= levers.flat_frac or low and low <= 0 and high >= 0
      largest = math.max(largest or 0, is_noise and 0 or math.abs(mean))
    end
  end
  return largest
end

--- Whether two variants, or one of two files, differ by noise alone: {by_seed, seeds} of paired.groups.
function differences.is_none(a, b) return change_between(a, b) == 0 end

--- Variants that differ from the first of their list by noise; lists of one are left out.
local function equal_ones(groups)
  local lists = {}
  for _, group in ipairs(groups) do
    local own
    for _, list in ipairs(lists) do own = own or differences.is_none(list[1], group) and list end
    if own then own[#own + 1] = group else lists[#lists + 1] = { group } end
  end
  local out = {}
  for _, list in ipairs(lists) do
    if #list > 1 then
      local names = {}
      for i, group in ipairs(list) do names[i] = group.name end
      out[#out + 1] = names
    end
  end
  return out
end

--- The key paths that differ between runs, sorted.
local function varied(runs)
  local first, paths = runs[1].parameters or {}, {}
  for _, run in ipairs(runs) do
    for path, value in pairs(run.parameters or {}) do
      if path ~= "seed" and core.describe(value) ~= core.describe(first[path]) then paths[path] = true end
    end
  end
  return core.sorted_keys(paths)
end

--- The key paths that variants of a scenario do not all set alike, sorted: those behind a label as well.
---@param list table[] {changes = list of {path, value}}
function differences.paths(list)
  local first, out = nil, {}
  for _, variant in ipairs(list) do
    local own = {}
    for _, change in ipairs(variant.changes) do own[change.path] = change.value == nil and "" or change.value end
    first = first or own
    for _, of in ipairs { own, first } do
      for path in pairs(of) do out[path] = out[path] or own[path] ~= first[path] or nil end
    end
  end
  out.seed = nil
  return core.sorted_keys(out)
end

--- Of runs of several settings: {no_difference = lists of names, unsure = {name, change_frac, size_frac}, levers,
--- text}; nil of runs that vary no setting of a server. `text` has a line for each.
---@param runs table[] {name, parameters, seed, summary}
---@param paths string[]? of differences.paths; nil: those of the parameters of the runs
---@param is_open boolean? they have not run yet: {levers} alone
function differences.of(runs, paths, is_open)
  if #runs < 2 or #runs > most_variants then return nil end
  local known = levers.list(paths or varied(runs))
  if #known == 0 then return nil end
  if is_open then return { levers = known } end
  local groups = paired.groups(runs)
  local out, lines, size = { no_difference = json.array(equal_ones(groups)), unsure = json.array {},
    levers = json.array(known) }, {}, 0
  for _, names in ipairs(out.no_difference) do
    lines[#lines + 1] = "no difference: " .. table.concat(names, "; ")
  end
  for _, each in ipairs(known) do size = math.max(size, each.size or 0) end
  for i = 2, #groups do
    local change = change_between(groups[1], groups[i]) or 0
    if change > 0 and change < size then
      out.unsure[#out.unsure + 1] = { name = groups[i].name, change_frac = change, size_frac = size }
      lines[#lines + 1] = ("not sure: %s and %s differ by at most %s; such simulated changes were off by %s"):format(
        groups[1].name, groups[i].name, units.percent(change), units.percent(size))
    end
  end
  lines[#lines + 1] = levers.text(known)
  out.text = table.concat(lines, "\n")
  return out
end

return differences
