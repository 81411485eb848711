-- The highest load that meets an SLO, by bisection on a logarithmic scale, or into more parts where several loads are
-- tried in a round.
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local runs = require "rooflua.explore.runs"
local schema = require "rooflua.scenario.schema"
local slo = require "rooflua.explore.search.slo"
local variants = require "rooflua.scenario.variants"

local highest_load = {}
local fail = core.fail

local default_tolerance = schema.entry("search.tolerance").default
local default_checks = schema.entry("search.checks").default
local most_checks = 1000

local function load_parameter(search, given)
  if given ~= nil and not core.text(given, "search: parameter"):find "[^.]" then
    core.fail "search: parameter: expected a key path"
  end
  return declared.load(search.reader, search.scenario, given)
    or fail "search: parameter: which one is the load? For example \"workload.rate_per_s\""
end

local function tried_at(search, values)
  local list = {}
  for i, value in ipairs(values) do
    list[i] = variants.with(variants.base(), search.range.path, value, ("%.6g"):format(value))
  end
  for i, result in ipairs(slo.evaluate(search, list)) do
    local entry = slo.judge(result.runs, search.bounds, search.more)
    entry.value = values[i]
    search.tried[#search.tried + 1] = entry
  end
end

--- Loads that divide a range evenly on a logarithmic scale. The only one of them is the middle.
local function between(search, low, high)
  local values = {}
  for i = 1, search.points_per_round do
    local value = search.points_per_round == 1 and math.sqrt(low * high)
      or low * math.exp(i / (search.points_per_round + 1) * math.log(high / low))
    if search.range.integer then value = math.max(math.floor(value), (values[#values] or low) + 1) end
    if value < high then values[#values + 1] = value end
  end
  return values
end

--- The loads around the answer: those of `values` before and at the first that misses the SLO.
local function narrowed(search, values, low, high)
  local before = #search.tried
  tried_at(search, values)
  for i, value in ipairs(values) do
    if not search.tried[before + i].meets then return low, value end
    low = value
  end
  return low, high
end

local function close_enough(search, low, high)
  if search.range.integer then return high - low <= 1 end
  return high / low <= 1 + search.tolerance
end

--- Loads on both sides of the answer that the bisection did not visit. They test that more load is never better.
local function check_values(search, found, count)
  local values = {}
  for i = 1, count do
    local below = i <= math.ceil(count / 2)
    local low, high = below and search.range.min or found, below and found or search.range.max
    local parts = below and math.ceil(count / 2) or count - math.ceil(count / 2)
    local place = (below and i or i - math.ceil(count / 2)) / (parts + 1)
    local value = low * math.exp(place * math.log(high / low))
    if search.range.integer then value = math.floor(value + 0.5) end
    local new = value > search.range.min and value < search.range.max
    for _, each in ipairs(search.tried) do new = new and each.value ~= value end
    for _, each in ipairs(values) do new = new and each ~= value end
    if new then values[#values + 1] = value end
  end
  return values
end

local function judge_monotone(search, result)
  table.sort(search.tried, function(a, b) return a.value < b.value end)
  result.monotone = true
  local failed_at
  for _, entry in ipairs(search.tried) do
    if not entry.meets then failed_at = failed_at or entry.value end
    if entry.meets and failed_at then
      result.monotone = false
      result.note = ("not monotone: missed at %.6g and met at %.6g; more requests or seeds would tell more")
        :format(failed_at, entry.value)
    end
  end
end

--- Reads which loads to search, and how close the answer has to be.
local function read_range(search, given)
  search.range = declared.range(search.reader, search.scenario, load_parameter(search, given.parameter),
    { min = given.min, max = given.max }, "search")
  if search.range.min <= 0 then fail("search: min: expected a load above 0, found %.14g", search.range.min) end
  search.tolerance = core.positive(given.tolerance or default_tolerance, "search: tolerance")
  core.whole(given.checks or default_checks, "search: checks", 0, most_checks)
  search.points_per_round = core.whole(given.points_per_round or 1, "search: points_per_round", 1, most_checks)
end

--- The variants that the search begins with: the lowest load.
function highest_load.first(search, given)
  read_range(search, given)
  return { variants.with(variants.base(), search.range.path, search.range.min) }
end

function highest_load.run(search, given)
  runs.check(search.reader, search.scenario, highest_load.first(search, given))
  search.tried = {}
  local result = { goal = "rate", parameter = search.range.path, tried = search.tried }
  local low, high = search.range.min, search.range.max
  tried_at(search, { low, high })
  local at_low, at_high = search.tried[1], search.tried[2]
  if not at_low.meets then
    result.note = ("the SLO is missed at the lowest load already (%.6g)"):format(low)
  elseif at_high.meets then
    result.value, result.reached_max = high, true
    result.note = ("the SLO is met at the highest load that was tried, max = %.6g: how much more is held is not known; "
      .. "raise max"):format(high)
  else
    while not close_enough(search, low, high) do
      low, high = narrowed(search, between(search, low, high), low, high)
    end
    result.value, result.missed_at = low, high
  end
  local checks = given.checks or default_checks
  if result.value and checks > 0 then
    local values = check_values(search, low, checks)
    if #values > 0 then tried_at(search, values) end
  end
  judge_monotone(search, result)
  return result
end

return highest_load
