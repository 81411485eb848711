--- Many runs of one scenario: grids, samples, searches, sensitivities. `jobs` says how many worker processes run
--- them; every variant of a seed sees the same random numbers.
local core = require "rooflua.base.core"
local runs = require "rooflua.explore.runs"
local sampling = require "rooflua.applied.sampling"
local searching = require "rooflua.explore.searching"
local sensitivity = require "rooflua.explore.sensitivity"
local schema = require "rooflua.scenario.schema"
local texts = require "rooflua.explore.text"
local variants = require "rooflua.scenario.variants"

local sweep = {}
local fail = core.fail

--- Splits the argument of a sweep into the scenario, a reader of it, how to run it, and the rest. Keys are checked.
local function opened(given, what, own_keys)
  local rest = {}
  for key, value in core.sorted_pairs(core.table(given, what)) do rest[key == 1 and "scenario" or key] = value end
  local known = { "scenario" }
  for _, list in ipairs { own_keys, runs.option_keys } do
    for _, key in ipairs(list) do known[#known + 1] = key end
  end
  core.check_keys(rest, known, what)
  if rest.scenario == nil then fail("%s: a scenario is missing: %s{ scenario, ... }", what, what) end
  local scenario, reader = runs.scenario(rest.scenario, what)
  local how = runs.options(rest, what)
  for _, key in ipairs { "scenario", "jobs", "results", "progress" } do rest[key] = nil end
  return scenario, reader, how, rest
end

--- Runs each variant with each seed.
local function run_all(reader, scenario, list, seeds, how)
  runs.check_count(#list, seeds and #seeds or 1, "seeds")
  local all = {}
  for _, variant in ipairs(list) do
    for _, seed in ipairs(seeds or { false }) do
      all[#all + 1] = seed and variants.with(variant, "seed", seed) or variant
    end
  end
  scenario.vary, scenario.sweep, scenario.report = nil, nil, nil
  runs.check(reader, scenario, all)
  how.tolerant = how.results ~= nil
  return runs.run(reader, scenario, all, how)
end

--- One run per combination of `vary`, the last key fastest.
function sweep.grid(given)
  local scenario, reader, how, rest = opened(given, "sweep.grid", { "vary", "seeds" })
  local vary = rest.vary or scenario.vary
  if vary == nil and rest.seeds == nil then fail "sweep.grid: vary: is missing: { [\"steps.NAME\"] = { 1, 2 } }" end
  return run_all(reader, scenario, variants.grid(reader, vary), runs.seeds(rest.seeds, "sweep.grid: seeds"), how)
end

--- One run per point of a space.
function sweep.sample(given)
  local scenario, reader, how, rest = opened(given, "sweep.sample",
    { "method", "n", "params", "sample_seed", "seeds" })
  scenario.sweep = { method = rest.method, n = rest.n, params = rest.params, seed = rest.sample_seed }
  local points = sampling.points(reader, scenario)
  return run_all(reader, scenario, points, runs.seeds(rest.seeds, "sweep.sample: seeds"), how)
end

--- The highest load that meets an SLO, the cheapest deployment that does, or a Pareto front.
function sweep.search(given)
  local scenario, reader, how, rest = opened(given, "sweep.search", schema.names "search")
  if next(rest) == nil then rest = scenario.search or rest end
  return (searching.run(reader, scenario, rest, how))
end

--- What chosen metrics do when a declared parameter changes by 1 %.
function sweep.sensitivity(given)
  local scenario, reader, how, rest = opened(given, "sweep.sensitivity", { "metrics", "params", "step", "seeds" })
  scenario.vary, scenario.sweep, scenario.report = nil, nil, nil
  return (sensitivity.run(reader, scenario, rest, how))
end

--- A search or a sensitivity as text.
function sweep.report(result)
  core.table(result, "sweep.report")
  return texts.of_search(result) or fail "sweep.report: expected what sweep.search or sweep.sensitivity gave"
end

return sweep
