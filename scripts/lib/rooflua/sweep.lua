--- Many runs of one scenario: grids, samples, searches, sensitivities. In worker processes where `jobs` says
--- so; every variant of a seed sees the same random numbers.
local core = require "rooflua.base.core"
local many = require "rooflua.explore.runs"
local sampling = require "rooflua.explore.sampling"
local searching = require "rooflua.explore.searching"
local sensitivity = require "rooflua.explore.sensitivity"
local variants = require "rooflua.scenario.variants"

local sweep = {}
local fail = core.fail

--- Splits what a user gave into the scenario, how to run it, and the rest. Keys are checked.
local function opened(given, what, own_keys)
  local rest = {}
  for key, value in core.sorted_pairs(core.table(given, what)) do rest[key == 1 and "scenario" or key] = value end
  local known = { "scenario" }
  for _, list in ipairs { own_keys, many.option_keys } do
    for _, key in ipairs(list) do known[#known + 1] = key end
  end
  core.check_keys(rest, known, what)
  if rest.scenario == nil then fail("%s: a scenario is missing: %s{ scenario, ... }", what, what) end
  local scenario, name = many.scenario(rest.scenario, what)
  local how = many.options(rest, what)
  for _, key in ipairs { "scenario", "jobs", "results", "progress" } do rest[key] = nil end
  return scenario, name, how, rest
end

--- Variants times seeds, run.
local function run_all(name, scenario, list, seeds, how)
  local all = {}
  for _, variant in ipairs(list) do
    for _, seed in ipairs(seeds or { false }) do
      all[#all + 1] = seed and variants.with(variant, "seed", seed) or variant
    end
  end
  scenario.vary, scenario.sweep, scenario.report = nil, nil, nil
  many.check(name, scenario, all)
  how.tolerant = how.results ~= nil
  return many.run(name, scenario, all, how)
end

--- One run per combination of `vary`, the last key fastest.
function sweep.grid(given)
  local scenario, name, how, rest = opened(given, "sweep.grid", { "vary", "seeds" })
  local vary = rest.vary or scenario.vary
  if vary == nil and rest.seeds == nil then fail "sweep.grid: vary: is missing: { [\"steps.NAME\"] = { 1, 2 } }" end
  return run_all(name, scenario, variants.grid(name, vary), many.seeds(rest.seeds, "sweep.grid: seeds"), how)
end

--- One run per point of a space.
function sweep.sample(given)
  local scenario, name, how, rest = opened(given, "sweep.sample", { "method", "n", "params", "sample_seed", "seeds" })
  scenario.sweep = { method = rest.method, n = rest.n, params = rest.params, seed = rest.sample_seed }
  return run_all(name, scenario, sampling.points(name, scenario), many.seeds(rest.seeds, "sweep.sample: seeds"), how)
end

--- The highest load that meets an SLO, the cheapest deployment that does, or a Pareto front.
function sweep.search(given)
  local scenario, name, how, rest = opened(given, "sweep.search", { "goal", "slo", "seeds", "show", "parameter", "min",
    "max", "tolerance", "checks", "deployments", "vary", "objectives", "metrics", "params", "step" })
  if next(rest) == nil then rest = scenario.search or rest end
  return (searching.run(name, scenario, rest, how))
end

--- What chosen metrics do when a declared parameter changes by 1 %.
function sweep.sensitivity(given)
  local scenario, name, how, rest = opened(given, "sweep.sensitivity", { "metrics", "params", "step", "seeds" })
  scenario.vary, scenario.sweep, scenario.report = nil, nil, nil
  return (sensitivity.run(name, scenario, rest, how))
end

--- A search or a sensitivity as text.
function sweep.report(result)
  core.table(result, "sweep.report")
  local texts = require "rooflua.explore.text"
  if result.rows and result.fixed then return texts.sensitivity(result) end
  if result.goal then return texts.search(result) end
  return fail "sweep.report: expected what sweep.search or sweep.sensitivity gave"
end

return sweep
