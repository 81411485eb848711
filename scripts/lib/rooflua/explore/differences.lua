-- What a comparison of settings can say: which of them do not differ, and how often the direction of such a change was
-- right where it was measured.
--
-- Two settings do not differ where no metric differs by more than 3 % (levers.flat_frac: repeats of one command differ
-- by more), or where the interval of the difference over the seeds holds 0. A larger change may still be smaller than
-- what simulated changes of that setting were off by.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local levers = require "rooflua.intervals.levers"
local metrics = require "rooflua.measure.metrics"
local paired = require "rooflua.explore.paired"
local side_by_side = require "rooflua.explore.side_by_side"
local units = require "rooflua.text.units"

local differences = {}

local compared = { "e2e_s_mean", "ttft_s_mean", "tpot_s_mean", "output_tokens_per_s" }
local widest = 79
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

--- What is known of a run whose settings were changed from outside: {levers, text}; nil where none is of a server.
---@param set string[]? "deployment.tp=2"
function differences.of_sets(set)
  local paths = {}
  for i, each in ipairs(set or {}) do paths[i] = each:match "^[^=]*" end
  local known = levers.list(paths)
  if #known == 0 then return nil end
  return { levers = json.array(known), text = columns.wrapped(levers.text(known), widest) }
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
  out.text = columns.wrapped(table.concat(lines, "\n"), widest)
  return out
end

--- The key paths that two documents of results, or their variants of one name, do not state alike, sorted.
local function paths_between(first, second, pairs_of_runs)
  local list = {}
  for _, of in ipairs { first.set or {}, second.set or {} } do
    local changes = {}
    for i, text in ipairs(of) do changes[i] = { path = text:match "^[^=]*", value = text:match "=(.*)$" } end
    list[#list + 1] = { changes = changes }
  end
  local out = core.set(differences.paths(list))
  for _, pair in ipairs(pairs_of_runs) do
    for _, path in ipairs(varied(pair)) do out[path] = true end
  end
  return core.sorted_keys(out)
end

--- Variants of one name; those of documents with one variant each, whatever they are called.
local function runs_of_both(first, second)
  local by_name, out = {}, {}
  for _, run in ipairs(second.variants) do by_name[run.name] = run end
  for _, run in ipairs(first.variants) do
    local other = #first.variants == 1 and #second.variants == 1 and second.variants[1] or by_name[run.name]
    if other then out[#out + 1] = { run, other } end
  end
  return out
end

--- What two documents of `run --json` say of each other, as lines; "" where they served nothing.
---@param files string[] their names
function differences.of_documents(first, second, files)
  if first.kind ~= "serve" or second.kind ~= "serve" then return "" end
  local same, lines, list = {}, {}, runs_of_both(first, second)
  local tables = side_by_side.of_runs(list, files)
  for _, line in ipairs(side_by_side.settings(first, second)) do tables[#tables + 1] = line end
  for _, pair in ipairs(list) do
    local groups = {}
    for k, run in ipairs(pair) do groups[k] = { by_seed = { run }, seeds = { 1 } } end
    if differences.is_none(groups[1], groups[2]) then
      same[#same + 1] = #list > 1 and pair[1].name or core.join(files, "; ")
    end
  end
  if #same > 0 then lines[1] = ("no difference (%s): %s"):format(levers.flat_text, core.join(same, "; ")) end
  local paths = paths_between(first, second, list)
  lines[#lines + 1] = levers.text(levers.list(paths))
  if #paths == 0 and #list > 0 and #same < #list then
    lines[#lines + 1] = "how often the direction of such a change was right: not known, the files do not say what was "
      .. "changed"
  end
  tables[#tables + 1] = columns.wrapped(core.join(lines, "\n"), widest)
  return core.join(tables, "\n")
end

return differences
