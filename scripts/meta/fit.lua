---@meta rooflua.fit
---Fits declared parameters to measurements: best values, and the error before, after and on data left out.
---@class rooflua.fit
local fit = {}

---Fits parameters of a scenario, of a step model (give model and hardware beside it) or of a function
---(values, observation) -> prediction. `rooflua.fit { ... }` is the same.
---target: a list of measured steps `{ decodes =, decode_context_tokens =, prefills =, time_s =, group =, set = }`
---and measured runs `{ metrics = { ttft_s_p50 =, tpot_s_mean = }, group =, set = { ["workload.rate_per_s"] = 4 } }`.
---`set` is what that observation changes in the scenario. Each group is left out once; without groups, five folds.
---params: `{ ["steps.host_step_s"] = { 1e-4, 1e-2, log = true, start = 1e-3 } }`, or a list of names. Of a name the
---range is the declared one, or a tenth to ten times the value if none is declared.
---Also: objective "mean" or "median"; algorithm "sbplx", "bobyqa" or "nelder_mead"; evaluations (300), per fit;
---tolerance (1e-6); groups = false leaves nothing out; jobs = worker processes for the fits without a group.
---The result: values, parameters, error {before, after, left_out}, groups, evaluations, converged (false: the search
---ran out of evaluations), hopeless (how many evaluations gave no finite error), and the fitted scenario.
---@param given table
---@return table result
function fit.fit(given) end

---The result as text.
---@param result table from fit.fit
---@return string
function fit.report(result) end

return fit
