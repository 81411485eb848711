---@meta rooflua.measure
---Results of simulations: summaries, comparisons, and where the time of one request went.
---@class rooflua.measure
local measure = {}

---The summary of a run: the names of `rooflua run --json` (seconds, tokens, shares).
---@param run rooflua.Live|table a live simulation, or the result of serve.run
---@return table summary
function measure.summary(run) end

---Where the time of one request went: every picosecond under one heading (`decode_s`, `queue_prefill_s`, ...), the
---headings with work for it by operation and evidence (`ops`), its reasons to wait (`waited`: `seats_s`, `budget_s`,
---`cache_s`, ...) and the requests in front of it (`behind`). A scenario is run again from its start (on the command
---line: `run --why N`), and so is a live simulation, with its swaps of policies. For a request that has not ended, a
---fork of the live simulation goes on until it ends.
---@param scenario table|rooflua.Live a scenario, a live simulation, or a run from serve.run or a sweep
---@param id integer counted from 0 in order of arrival
---@return string report
---@return table document
function measure.why(scenario, id) end

---Compares runs: rows of a metric, one value per run, and the ratio of the last to the first. For sweeps over
---seeds: mean differences from the first variant, paired seed by seed, {metric, variant, baseline, mean, difference,
---low, high, seeds, clear}. options: metrics, level (0.95), method ("t" or "bootstrap").
---@param runs table[] at least two
---@param options table?
---@return table[] rows
function measure.compare(runs, options) end

---Compares two simulations of the same requests (forks of one, or one scenario with two policies) request by request:
---how many got faster and slower, by how much, and under which heading.
---@param a rooflua.Live
---@param b rooflua.Live
---@param options {metric: string?, top: integer?, names: string[]?}? e2e_s (default), ttft_s, tpot_s or queue_s
---@return string report
---@return table[] rows id, prompt_tokens, output_tokens, a_s, b_s, change_s, reason, reason_s; largest gain first
function measure.diff(a, b, options) end

---A chart for the terminal, of a simulation or of a table of simulations by name. "load": queue, batch and KV cache
---over time; a metric: its quantile curve; "roofline": the operations of the last step below the roofline.
---@param what rooflua.Live|table<string, rooflua.Live>
---@param view "load"|"ttft_s"|"tpot_s"|"e2e_s"|"queue_s"|"roofline"|nil
---@param options {width: integer?, height: integer?, replica: integer?}?
---@return string text
function measure.plot(what, view, options) end

---Writes a run in the format of the file's ending: `.json` is its summary, `.csv` a row per request as with
---`--requests` (the scenario of an ended run is run once more for that). Trusted scripts only.
---@param run rooflua.Live|table
---@param path string
function measure.write(run, path) end

return measure
