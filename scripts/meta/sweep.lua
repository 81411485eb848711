---@meta rooflua.sweep
---Many runs of one scenario, in `jobs` worker processes. All variants of a seed use the same random numbers, and
---results do not depend on jobs.
---@class rooflua.sweep
local sweep = {}

---One run per combination of `vary`, the last key varying fastest, and per seed.
---Also: seeds (a list or a number), jobs (1), results (an SQLite file; runs that it has are not made again),
---progress (a title).
---@param given table { scenario, vary = { ["scheduler.max_num_seqs"] = { 64, 128 } }, seeds =, jobs =, results = }
---@return table[] runs each with name, parameters, seed, gpus, summary, left_out, notes
---@return {failed: table[], reused: integer} about failed runs with a results file; without one, a failure is an error
function sweep.grid(given) end

---One run per point of a space. params: ranges `{ ["steps.host_step_s"] = { 1e-4, 1e-2, log = true } }`, lists of
---values, or names with their declared range. method: "sobol" (default), "latin_hypercube", "random".
---@param given table { scenario, method =, n =, params =, sample_seed =, seeds =, jobs =, results = }
---@return table[] runs
function sweep.sample(given) end

---goal "rate": the highest `parameter` (the workload's rate) between min and max that meets `slo`, by bisection to
---`tolerance` (0.01), `points_per_round` (1) loads at once, with `checks` (4) further loads. goal "cheapest": the
---cheapest of `deployments = { { name =, cost_per_hour =, set = {...} }, ... }` that meets `slo`. goal "pareto": the
---best compromises among `vary`, by `objectives` (throughput per GPU and TPOT).
---slo: `{ ttft_s_p99 = 0.5, slo_attainment_frac = { min = 0.99 } }`, means over seeds.
---@param given table { scenario, goal =, slo =, seeds =, jobs =, results =, ... }
---@return table result goal, value, tried, runs, note, front, monotone
function sweep.search(given) end

---Change of metrics when a declared parameter changes by 1 %, for every parameter or for `params` (names): central
---differences.
---@param given table { scenario, metrics = { "ttft_s_p99" }, params =, step = 0.01, seeds =, jobs =, results = }
---@return table result base, rows (path, value, how, change, percent), fixed (path, why)
function sweep.sensitivity(given) end

---The result of a search or of a sensitivity as text.
---@param result table
---@return string
function sweep.report(result) end

return sweep
