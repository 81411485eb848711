---@meta rooflua.serve
--- What happens over time: scenarios of kind "serve" as runs and as live simulations, and what
--- schedulers and routers see. Views are valid during the call that was given them.
---@class rooflua.serve
local serve = {}

--- What a scenario file returns. With `---@type rooflua.Scenario` in front of the table an editor knows
--- its keys. A policy may be an instance, a class, or "name" or "name:preset".
---@class rooflua.Scenario
---@field rooflua integer? version of this format: 1
---@field title string?
---@field seed integer? same seed, same random numbers in every variant
---@field kind "serve"|"price"|"static"|"search"|nil default "serve"
---@field model string|table|rooflua.Model|nil a shipped name, a config.json or .toml, or its keys
---@field hardware string|table|rooflua.Hardware|nil a shipped name, a hardware.toml, or its keys
---@field deployment rooflua.ScenarioDeployment|rooflua.Deployment|nil
---@field mfu string|table|rooflua.Database|nil measured tables: {path, layout, gpu, lookup}
---@field steps table|string|nil what a step costs; default "kernels"
---@field bucketing table|string|nil how prefills are grouped before lookup
---@field corrections table[]|nil applied in order
---@field scheduler table|string|nil default "vllm_v1"
---@field router table|string|nil default "round_robin"
---@field replicas integer|table[]|nil
---@field prefill_replicas integer?
---@field decode_replicas integer?
---@field workload table|string|nil
---@field frontend {base_s: number?, per_prompt_token_s: number?, per_output_token_s: number?}?
---@field network {alpha_s: number?, bytes_per_s: number?, bytes_per_token: number?}?
---@field async_depth 1|2|nil steps planned and not over; default 2
---@field slo {ttft_s: number?, tpot_s: number?, e2e_s: number?}?
---@field metrics table?
---@field vary table<string, any[]>? one variant per combination
---@field sweep table?
---@field search table?
---@field price rooflua.BatchGiven[]? of kind "price"
---@field static table? of kind "static"
---@field report (fun(results: table[]): string|table)? pure

---@class rooflua.ScenarioDeployment
---@field tp integer? default 1
---@field weights string? dtype; default the model's
---@field kv string? dtype of the KV cache
---@field memory_utilization number? share of memory in (0, 1]; default 0.92
---@field max_num_seqs integer? default the scheduler's
---@field max_num_batched_tokens integer? default the scheduler's
---@field block_size integer? default 16
---@field kv_blocks integer? computed from the memory
---@field prefix_caching boolean? default true
---@field max_model_len integer? longer requests are refused

--- A running simulation. Replicas count from 1.
---@class rooflua.Live
---@field now_s number
local Live = {}

--- A request as policies see it. The true output length is not among it.
---@class rooflua.Request
---@field id integer
---@field phase string "waiting", "prefill", "decode" or "finishing"
---@field arrival_s number
---@field prompt_tokens integer
---@field cached_tokens integer found in the prefix cache; known before admission
---@field context_tokens integer in its KV cache
---@field pending_tokens integer still to be computed before the next token
---@field emitted_tokens integer
---@field sequence_tokens integer prompt and emitted
---@field preemptions integer
---@field priority integer lower first
---@field class integer
---@field session integer?
---@field prefix integer
---@field max_output_tokens integer?
---@field predicted_output_tokens integer? if the workload gives one

--- One replica, read-only.
---@class rooflua.Replica
---@field now_s number
---@field index integer
---@field decodes integer
---@field decode_context_tokens number
---@field decode_steps integer planned so far
---@field decode_blocks integer that decode_all would take now
---@field seats integer in use
---@field finishing integer
---@field free_blocks integer
---@field total_blocks integer
---@field block_size integer
---@field free_tokens integer
---@field waiting_tokens number
---@field async_depth integer
---@field prefix_caching boolean whether its cache keeps content
---@field max_model_len integer?
local Replica = {}

--- Waiting requests, in queue order.
---@return rooflua.Request[]
function Replica:waiting() end
--- Requests with a seat whose prompt is not done.
---@return rooflua.Request[]
function Replica:prefilling() end
--- Requests with a seat, oldest first.
---@return rooflua.Request[]
function Replica:running() end
--- How many tokens at the left the prompts of two requests have in common, cached or not.
---@param a rooflua.Request
---@param b rooflua.Request
---@return integer tokens
function Replica:shared_tokens(a, b) end

--- One step. What returns false changed nothing.
---@class rooflua.Plan
---@field tokens integer scheduled so far
---@field requests integer
---@field decodes integer
---@field prefills integer
---@field admitted integer
---@field preempted integer
local Plan = {}

--- Every running decode, oldest first, up to an optional limit; sheds victims if the cache is full.
---@param limit integer?
---@return integer scheduled
function Plan:decode_all(limit) end
--- One token of one running request.
---@param request rooflua.Request
---@return boolean ok
function Plan:decode(request) end
--- Some tokens of the prompt of a request that has a seat.
---@param request rooflua.Request
---@param tokens integer
---@return boolean ok
function Plan:prefill(request, tokens) end
--- A seat, blocks and its first tokens, atomically.
---@param request rooflua.Request
---@param tokens integer
---@param hold_tokens integer? tokens to hold blocks for
---@param fit_tokens integer? tokens that must fit the free blocks
---@param spare_blocks integer? blocks that must stay free
---@return boolean ok
function Plan:admit(request, tokens, hold_tokens, fit_tokens, spare_blocks) end
--- Frees a request's blocks; it waits again, at the front.
---@param request rooflua.Request
---@return boolean ok
function Plan:preempt(request) end
--- Ends a waiting request unserved.
---@param request rooflua.Request
---@return boolean ok
function Plan:reject(request) end
--- Asks to be asked again at that time at the latest.
---@param time_s number
---@return boolean ok
function Plan:wake_at(time_s) end

--- What a router knows of a replica, as old as its staleness_s.
---@class rooflua.Signals
---@field index integer
---@field waiting integer
---@field running integer
---@field decodes integer
---@field prefilling integer
---@field waiting_tokens number
---@field context_tokens number
---@field kv_used_frac number
---@field free_blocks integer
---@field total_blocks integer
---@field outstanding integer
---@field prefix_hit_tokens integer of the request being routed; never stale

--- The replicas that may get a request: `#replicas`, `replicas[i]`.
---@class rooflua.Candidates
---@field now_s number
---@field signals_s number when the signals were read
---@field [integer] rooflua.Signals

--- What a file of scripts/schedulers is.
---@class rooflua.Scheduler: rooflua.PolicyClass
---@field plan fun(self, replica: rooflua.Replica, plan: rooflua.Plan)
---@field key? fun(self, request: rooflua.Request): number lower first, ties by arrival
---@field victim? fun(self, replica: rooflua.Replica): rooflua.Request
---@field every_step boolean?

--- What a file of scripts/routers is.
---@class rooflua.Router: rooflua.PolicyClass
---@field route fun(self, request: rooflua.Request, replicas: rooflua.Candidates): integer
---@field start? fun(self, rng: rooflua.Random)

--- What a file of scripts/workloads is.
---@class rooflua.Workload: rooflua.PolicyClass
---@field requests fun(self, rng: rooflua.Random): any an iterator, a state with `next`, or a native stream

--- Runs a scenario to its end. options.requests = true keeps the times of every request, as the
--- columns of vLLM's benchmark (input_lens, output_lens, start_times, ttfts, e2els, errors).
---@param scenario table
---@param options {requests: boolean?}?
---@return {summary: table, totals: table, requests: table?}
function serve.run(scenario, options) end

--- A scenario as a live simulation at time 0. It remembers its steps and requests, which costs time in
--- proportion to the requests that are alive.
---@param scenario table
---@param options {remember: boolean?}? remember = false for the last bit of speed
---@return rooflua.Live
function serve.open(scenario, options) end

--- Until everything is over.
function Live:run() end
--- Every event up to that time.
---@param time_s number
function Live:run_until(time_s) end
--- Up to the next end of a step, n times.
---@param n integer?
---@return boolean more false when nothing is left to happen
function Live:step(n) end
--- What a replica looks like now: a copy.
---@param index integer?
---@return table
function Live:replica(index) end
--- The waiting requests of a replica, in queue order: a copy.
---@param index integer?
---@return table[]
function Live:waiting(index) end
--- A live request: a copy, nil when it is done or not there yet.
---@param id integer
---@return table?
function Live:request(id) end
--- Every step that ended: start_s, end_s, replica, waiting, running, decodes, prefills, prefill_tokens, kv_used_frac.
---@return table[]
function Live:steps() end
--- Every request that ended, in that order: its times, and `where_s`, seconds by heading (`where_to_first_s`:
--- those up to its first token).
---@return table[]
function Live:ended() end
--- The step of a replica that ended last, with prefill_work, decode_ids and decode_contexts; nil before the first.
---@param index integer?
---@return table?
function Live:last_step(index) end
--- That step priced again, operation by operation, with the step model as it is now.
---@param index integer?
---@return table priced time_s, rows, evidence; was_s is what it took
---@return string report
function Live:explain(index) end
--- Where the time of a request that ended went; nil until it has. See measure.why. Where policies were read again
--- on the way only the headings are known: then `followed` is false.
---@param id integer
---@return string? report
---@return table? document
function Live:why(id) end
--- Other policies from the next plan on. A scheduler given by name takes over seats and budget.
---@param changes {scheduler: table|string?, steps: table|string?}
function Live:set(changes) end
--- An independent copy from here on.
---@return rooflua.Live
function Live:fork() end
--- What is known so far.
---@return {summary: table, totals: table}
function Live:result() end

return serve
