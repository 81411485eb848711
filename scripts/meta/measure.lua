---@meta rooflua.measure
---Results of simulations: summaries, comparisons, and where the time of one request went.
---@class rooflua.measure
local measure = {}

-- generated: names of metrics
---A metric by name (`rooflua help metrics` says what each is).
---@alias rooflua.Metric
---| "bandwidth_frac"
---| "cached_tokens"
---| "completed"
---| "completed_frac"
---| "duration_s"
---| "e2e_s_max"
---| "e2e_s_mean"
---| "e2e_s_min"
---| "e2e_s_p50"
---| "e2e_s_p90"
---| "e2e_s_p95"
---| "e2e_s_p99"
---| "e2e_s_std"
---| "goodput_per_s"
---| "goodput_per_s_per_gpu"
---| "idle_frac"
---| "itl_s_max"
---| "itl_s_mean"
---| "itl_s_min"
---| "itl_s_p50"
---| "itl_s_p90"
---| "itl_s_p95"
---| "itl_s_p99"
---| "itl_s_std"
---| "kv_used_frac_max"
---| "output_tokens"
---| "output_tokens_per_s"
---| "output_tokens_per_s_per_gpu"
---| "overall_mfu"
---| "peak_concurrency"
---| "peak_output_tokens_per_s"
---| "preemptions"
---| "prompt_tokens"
---| "queue_s_max"
---| "queue_s_mean"
---| "queue_s_min"
---| "queue_s_p50"
---| "queue_s_p90"
---| "queue_s_p95"
---| "queue_s_p99"
---| "queue_s_std"
---| "requests"
---| "requests_per_s"
---| "requests_per_s_per_gpu"
---| "slo_attainment_frac"
---| "steps"
---| "time_s"
---| "tpot_s_max"
---| "tpot_s_mean"
---| "tpot_s_min"
---| "tpot_s_p50"
---| "tpot_s_p90"
---| "tpot_s_p95"
---| "tpot_s_p99"
---| "tpot_s_std"
---| "ttft_s_max"
---| "ttft_s_mean"
---| "ttft_s_min"
---| "ttft_s_p50"
---| "ttft_s_p90"
---| "ttft_s_p95"
---| "ttft_s_p99"
---| "ttft_s_std"
---| "wasted_output_tokens"
---| "wasted_prompt_tokens"
-- end of names of metrics

---A step that ended, as metrics of scripts/metrics see it. Valid during the call only.
---@class rooflua.EndedStep
---@field replica integer from 1
---@field start_s number
---@field end_s number
---@field time_s number its price
---@field own_s number of it, the rank's own work; the rest waits for the ranks that it steps with
---@field waiting integer requests that waited right after its plan
---@field running integer requests with a seat right after its plan
---@field decodes integer
---@field prefills integer
---@field prefill_tokens integer
---@field decode_context_tokens number sum over its decodes, the new tokens excluded
---@field tokens_landed integer output tokens that land at its end
---@field used_blocks integer of the KV cache
---@field total_blocks integer
---@field evidence_s table<string, number> seconds of its price by evidence

---A request that ended, as metrics of scripts/metrics see it. Valid during the call only; times that the request
---did not reach are nil.
---@class rooflua.EndedRequest
---@field id integer from 0, in order of arrival
---@field outcome string "completed", or why it failed
---@field arrival_s number
---@field queued_s number? at its replica
---@field scheduled_s number? start of the plan that admitted it first
---@field first_token_s number? as the client sees it
---@field last_token_s number?
---@field end_s number when the client knows
---@field queue_s number? scheduled_s - queued_s
---@field ttft_s number? first_token_s - arrival_s
---@field tpot_s number? (e2e_s - ttft_s) / (output_tokens - 1), of more than one token
---@field e2e_s number? last_token_s - arrival_s
---@field prompt_tokens integer
---@field output_tokens integer that landed
---@field cached_tokens integer prefix hits at its first admission
---@field preemptions integer
---@field priority integer
---@field class integer
---@field session integer?
---@field tenant integer?
---@field program integer?
---@field adapter integer? low-rank adapter, from 1
---@field attempt integer 0, or which retry of its client it was
---@field replica integer? where it ended, from 1
---@field prefill_replica integer? where its prompt was computed, with disaggregation

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

---Where the time of one play went: its critical path row by row (`path`: row, request, what it waited for, `tool_s`,
---`queue_s`, `load_s`, `prefill_s`, `decode_s`, and `where_s` by heading), their sums, which add up to `play_s`, and
---the requests `beside` the path. On the command line: `run --why play:N`. A scenario is run again from its start; a
---live simulation remembers, and a fork of it goes on until the play is over.
---@param scenario table|rooflua.Live as of measure.why
---@param which integer|string the play: from 1 in the order in which plays begin, "slowest", "p99", or a name
---@return string report
---@return table document
function measure.why_play(scenario, which) end

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

--- A simulated value in seconds with the ends of its 90 % interval.
---@class rooflua.Interval
---@field value number seconds
---@field low number seconds
---@field high number seconds
---@field text string "22.1 ms (19.8 to 25.0)"

--- Measured deployments and points of one kind.
---@class rooflua.MeasuredKind
---@field engine string
---@field class string dense, moe-tp, tep, dpa, pd, pp, cp or afd
---@field architecture string
---@field gpu string
---@field load string? saturated or unsaturated, of the nearest points
---@field deployments integer
---@field points integer

--- How far the means of a run may be off (docs/TUTORIAL.md). `unknown` says why no interval is known.
---@class rooflua.Intervals
---@field level number 0.9
---@field unknown string?
---@field load string? saturated or unsaturated
---@field deployments integer? measured, of this kind; 0 = none: as wide as that of most kinds
---@field points integer?
---@field kinds rooflua.MeasuredKind[]?
---@field nearest rooflua.MeasuredKind[]?
---@field modelled {share: number, fitted: boolean, deployments: integer, points: integer}?
---@field tpot_s rooflua.Interval?
---@field ttft_s rooflua.Interval?
---@field e2e_s rooflua.Interval?
---@field text string[] lines of a report
---@field about string relative ends and what stands after them

--- What the tables of a GPU's folder are worth to a scenario, as `rooflua data add --for`: the share of time of each
--- table, what it rests on, and the rows to measure. Trusted scripts only.
---@param given {folder: string, scenario: string, set: string[]?} scenario: its file; set: key=value of it
---@return {scenario: table, measure: table[], text: string} of docs/schema/data_add.json
function measure.worth(given) end

return measure
