---@meta rooflua.sweep
---Many runs of one scenario, in worker processes where `jobs` says so. Every variant of a seed sees the same
---random numbers; results do not depend on jobs.
---@class rooflua.sweep
local sweep = {}

---One run per combination of `vary`, the last key fastest, and per seed.
---Also: seeds (a list or a number), jobs (1), results (an SQLite file; a second time only missing runs are made),
---progress (a title).
---@param given table { scenario, vary = { ["scheduler.max_num_seqs"] = { 64, 128 } }, seeds =, jobs =, results = }
---@return table[] runs each with name, parameters, seed, gpus, summary, left_out
---@return {failed: table[], reused: integer} about what failed (with a results file; else it is an error)
function sweep.grid(given) end

---One run per point of a space. params: `{ ["steps.host_step_s"] = { 1e-4, 1e-2, log = true } }`, lists of
---values, or names, which take their declared range. method: "sobol" (default), "latin_hypercube", "random".
---@param given table { scenario, method =, n =, params =, sample_seed =, seeds =, jobs =, results = }
---@return table[] runs
function sweep.sample(given) end

---goal "rate": the highest `parameter` (the workload's rate) between min and max that meets `slo`, by bisection to
---`tolerance` (0.01), with `checks` (4) further loads. goal "cheapest": of `deployments = { { name =,
---cost_per_hour =, set = {...} }, ... }`. goal "pareto": of `vary`, by `objectives` (throughput per GPU and TPOT).
---slo: `{ ttft_s_p99 = 0.5, slo_attainment_frac = { min = 0.99 } }`, means over seeds.
---@param given table { scenario, goal =, slo =, seeds =, jobs =, results =, ... }
---@return table result goal, value, tried, runs, note, front, monotone
function sweep.search(given) end

---Change of metrics per 1 % of every declared parameter, or of `params` (names): central differences.
---@param given table { scenario, metrics = { "ttft_s_p99" }, params =, step = 0.01, seeds =, jobs =, results = }
---@return table result base, rows (path, value, how, change, percent), fixed (path, why)
function sweep.sensitivity(given) end

---A search or a sensitivity as text.
---@param result table
---@return string
function sweep.report(result) end

return sweep
