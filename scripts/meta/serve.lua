---@meta rooflua.serve
--- Scenarios of kind "serve" as runs and as live simulations, and the views of policies, valid during their call.
---@class rooflua.serve
local serve = {}
-- What a scenario file returns (---@type rooflua.Scenario). A policy: an instance, a class, "name" or "name:preset".
-- generated: scenario keys
---@class rooflua.Scenario
---@field rooflua integer? version of this format: 1. A newer version is refused
---@field title string? default ""; one line above the report
---@field seed integer? default 0; same seed, same random numbers in every variant
--- default "serve"; serve: requests over time; price: the batches in `price`; static: the step model's own report;
--- search: many runs; plan: which GPUs, how many, at what cost
---@field kind "plan"|"price"|"search"|"serve"|"static"|nil
---@field model string|table|rooflua.Model|nil a shipped name, a config.json or .toml, or its keys
---@field hardware string|table|rooflua.Hardware|nil a shipped name, a hardware.toml, or its keys
---@field engine string|table|nil serving engine and release, alone or in front of options (docs/ENGINES.md)
---@field deployment rooflua.ScenarioDeployment|rooflua.Deployment|nil one replica of the model on GPUs
---@field mfu string|table|rooflua.Database|nil a lookup's name, or measured tables
---@field steps table|string|nil default kernels; what a step costs
---@field bucketing table|string|nil how prefills are grouped before lookup, for step models that take one
---@field corrections table[]|nil factors and delays, applied in order
--- default vllm_v1; which requests run in a step; its max_num_seqs and max_num_batched_tokens become the deployment's
---@field scheduler table|string|nil
---@field speculation rooflua.ScenarioSpeculation? several tokens per step: drafts that a step verifies; default none
---@field router table|string|nil default round_robin; which replica gets a request, where there is more than one
--- default 1; how many, or each of them with what it has of its own
---@field replicas integer|rooflua.ScenarioReplica[]|nil
---@field workload table|string|nil when requests come and how long they are; required for kind "serve"
---@field client table|string|nil default patient; how long clients wait for an answer, and what they send again
---@field faults table|string|nil when replicas fail or are slow; default never
---@field frontend rooflua.ScenarioFrontend? time outside of the engine
--- default 2; 1: a step is planned when none runs; 2: the next step is planned while one runs
---@field async_depth 1|2|nil
---@field slo rooflua.ScenarioSlo? limits for goodput
--- default "on"; whether answers say how far they may be off: the 90 % intervals of TPOT, TTFT and E2E, and of steps
---@field intervals "off"|"on"|nil
---@field vary table<string, any[]>? lists of values by key path: one variant per combination
---@field report (fun(results: table[]): string|table)? makes text or rows of the list of results; pure
---@field price rooflua.BatchGiven[]? the batches to price; each may have a `name`
---@field static table? what the step model's own report is asked
---@field search rooflua.ScenarioSearch? a goal, and what it needs (docs/EXPLORATION.md)
---@field plan rooflua.ScenarioPlan? a load, an SLO and GPUs with prices (docs/PLANNER.md)
---@field sweep rooflua.ScenarioSweep? points of a space of parameters (docs/EXPLORATION.md)
--- how metrics are taken; every other key names a metric of the scenario's own, a policy of scripts/metrics
---@field metrics rooflua.ScenarioMetrics?
---@field network rooflua.ScenarioNetwork? KV transfer between replicas
--- how prefill and decode replicas work together (docs/DISAGGREGATION.md)
---@field disaggregation rooflua.ScenarioDisaggregation?
--- which requests pass to the router, wait in front of it or are refused (docs/CONTROL.md); default  all pass
---@field admission table|string|nil
---@field links table<string, rooflua.ScenarioLink>? wires that transfers share, by name (docs/SERVING.md)
---@field adapters rooflua.ScenarioAdapters? low-rank adapters of the model (docs/ADAPTERS.md); default none
--- popularity of experts that drifts, and what moves them (docs/EXPERT_DRIFT.md); default all alike
---@field experts rooflua.ScenarioExperts?
--- KV outside of the GPU, in memory of the host, on disks and in other replicas (docs/TIERS.md); default none
---@field tiers rooflua.ScenarioTiers?

---@class rooflua.ScenarioDeployment
---@field engine string? default "vllm"; whose measured tables answer before those of others
---@field tp integer? GPUs; default 1; tensor parallel ranks: they divide attention and dense MLPs
--- ranks; default 1; data-parallel ranks of the attention, in models with experts: each is a replica on tp GPUs with
--- a scheduler of its own, and all step together
---@field dp integer?
--- ranks; default 1; ranks that hold whole experts; the rest of tp * dp, or of expert_gpus, divides the width of each
---@field ep integer?
---@field moe_tp integer? ranks; ranks that divide the width of each expert; default the ranks of experts / ep
---@field pp integer? stages; default 1; pipeline parallel stages: each has some of the layers, on tp GPUs of its own
---@field cp integer? ranks; default 1; ranks on tp GPUs each that divide prompts; each keeps all KV
---@field dcp integer? ranks; default 1; ranks of tp that divide the KV of a request, not hold copies of it
--- GPUs; default 0; GPUs of a pool of their own that hold the routed experts; 0: the GPUs of the attention hold them
---@field expert_gpus integer?
--- batches; default 1; parts of a step that are in flight between the GPUs of the attention and those of the experts
---@field micro_batches integer?
---@field weights string? number format of the linear weights, or the name of a release; default the model's
---@field kv string? number format of the KV cache; default as released, else the model's
---@field memory_utilization number? default 0.92; share of the usable memory that the engine takes
---@field max_num_seqs integer? requests; most requests in a step; default the scheduler's, which may not ask for more
--- tokens; most tokens in a step; default the scheduler's, which may not ask for more
---@field max_num_batched_tokens integer?
---@field block_size integer? tokens; default 16; tokens in a KV block, on all ranks of dcp together
---@field kv_blocks integer? blocks; KV blocks; default what the memory has room for. More are taken, with a note
---@field pp_batches integer? steps; steps that are under way at once in the stages of pp; default pp
---@field pp_send_s number? s; default 1e-05; what a transfer from stage to stage takes besides its bytes; assumed
---@field dp_sync_s number? s; default 5e-05; what the ranks of dp take in each step to agree on it; assumed
---@field prefix_caching boolean? default true; whether equal prefixes share KV blocks
---@field partial_reuse boolean? default false; whether a prefix hit ends inside of a KV block; else with a whole one
--- tokens; longer requests are refused; default the model's. A priced batch with a longer one is noted
---@field max_model_len integer?
--- how images, sounds and videos are encoded; default as the engine does (docs/ENCODERS.md)
---@field encoder rooflua.ScenarioEncoder?

---@class rooflua.ScenarioEncoder
---@field budget_tokens integer? tokens; most embeddings of one pass; 0 = no limit; default the engine's
---@field cache_tokens integer? tokens; embeddings that are kept; default the engine's
--- tensor: all ranks of tp divide each layer; data: they divide the items; default the engine's
---@field mode "tensor"|"data"|nil
--- s; host time of a pixel, in front of the engine: decoding and scaling an item; default the engine's
---@field pixel_s number?
--- s; host time of an item inside of a pass, as positions take it; default 0, since no source states it
---@field item_s number?

---@class rooflua.ScenarioSpeculation
---@field speculator table|string|nil how many drafts requests bring to a step; required
---@field acceptance table|string|nil which drafts are accepted; required
---@field drafter table|string|nil what drafting costs; default nothing

---@class rooflua.ScenarioReplica
---@field engine string|table|nil of this replica; default the scenario's `engine`
---@field hardware string|table|rooflua.Hardware|nil of this replica; default the scenario's `hardware`
---@field model string|table|rooflua.Model|nil of this replica; default the scenario's `model`
--- of this replica; default the scenario's `deployment`
---@field deployment rooflua.ScenarioDeployment|rooflua.Deployment|nil
---@field mfu string|table|rooflua.Database|nil of this replica; default the scenario's `mfu`
---@field steps table|string|nil of this replica; default the scenario's `steps`
---@field scheduler table|string|nil of this replica; default the scenario's `scheduler`
---@field speculation rooflua.ScenarioSpeculation? of this replica; default the scenario's `speculation`
--- default false; these replicas only encode images, sounds and videos, in front of the others (docs/ENCODERS.md)
---@field encoder boolean?
---@field role "both"|"prefill"|"decode"|nil default "both"; what this replica does for a request
--- replicas with the same number share the links of a node; -1: a node of its own; default one of its own
---@field node integer?
--- default 1; how many replicas are like this; each has deployment.dp ranks; of a pool those at the start
---@field count integer?
---@field autoscaler table|string|nil what says how many of them there are (docs/CONTROL.md); default always `count`
---@field min integer? default 1; fewest replicas that the autoscaler gets; 0: requests may wait until one has started
---@field max integer? most replicas that the autoscaler gets; needed with one
---@field drain "finish"|"requeue"|"abort"|nil default "finish"; what becomes of the requests of an engine that drains
---@field grace_s number? s; default 0; after so long of draining all that is left ends as replica_lost; 0: never
--- what a replica does until it is ready: provision, image, weights, init, one after the other
---@field start rooflua.ScenarioStart?

---@class rooflua.ScenarioStart
---@field provision_s number? s; default 0; until there is a machine
---@field image_bytes number? bytes; default 0; of the container image, pulled over `link`
--- bytes; of the weights, loaded over `link`; default those of the deployment, where there is a link
---@field weight_bytes number|"auto"|nil
---@field init_s number? s; of the engine, once the weights are there; default 60.3, assumed
---@field link nil name of the link, or names of the links, that image and weights come over

---@class rooflua.ScenarioFrontend
--- default "none"; whose times the engine gives to servers and clients that have none
---@field endpoint "none"|"chat"|"completions"|nil
---@field base_s number? s; default 0; of each request
---@field per_prompt_token_s number? s; default 0; of each token of its prompt
---@field per_output_token_s number? s; default 0; of each token of its answer
---@field servers integer? processes; default 1; of an engine, that render and tokenise one request at a time
---@field server_turns integer? turns; default 1; of a request at its server; only the first takes time
---@field server_request_s number? s; default 0; of a server for each request
---@field server_prompt_token_s number? s; default 0; of a server for each token of its prompt
---@field server_chunk_s number? s; default 0; of a server for each chunk of an answer that is streamed
---@field egress_servers integer? processes; default 0; of an engine, that stream; 0: those that render
---@field stream_interval integer? tokens; default 1; in a chunk; the first and the last one go at once
---@field client_request_s number? s; default 0; of the clients' process for each request that it sends
---@field client_chunk_s number? s; default 0; of the clients' process for each chunk that it reads

---@class rooflua.ScenarioSlo
---@field ttft_s number? s; time to first token
---@field tpot_s number? s; time per output token
---@field e2e_s number? s; arrival to last token
---@field classes table? limits of single classes, by number or name, in place of those above

---@class rooflua.ScenarioSearch
---@field goal "cheapest"|"pareto"|"rate"|"sensitivity"|nil default "rate"; what is searched
---@field slo table? bounds of metrics
---@field metrics table? what is looked at
---@field params table? what is moved; default every declared parameter
---@field step number? default 0.01; by what share of its value
---@field seeds integer|table|nil how many, or which; default the scenario's one
---@field show table? further metrics to list
---@field parameter string? which one is the load; default the workload's rate
---@field min number? lowest load
---@field max number? highest load
---@field tolerance number? default 0.01; how close to the highest load, as a share
---@field points_per_round integer? default 1; loads that are tried at once; 1 is bisection, more suits many processes
---@field checks integer? default 4; further loads that test whether more load is never better
---@field deployments table? { name, cost_per_hour, set } of each
---@field vary table? the variants, as in a scenario
---@field objectives table? metrics that no other variant may beat; default throughput per GPU and TPOT p50

---@class rooflua.ScenarioPlanDay
---@field autoscalers (string|rooflua.Autoscaler)[]|nil names or policies of scripts/autoscalers; required
---@field hours number[]|nil 24 relative rates, that of midnight first; default a cosine with load.peak as its largest
---@field min integer? replicas; default 1; fewest replicas; the most are those of the fleet for the peak
---@field start table? how long a replica takes to start, as replicas[].start

---@class rooflua.ScenarioSweep
---@field method "latin_hypercube"|"random"|"sobol"|nil default "sobol"; how points are drawn
---@field n integer? points; how many
---@field params table? ranges or lists of values by key path, or names of declared parameters
---@field seed integer? default 0; of the points

---@class rooflua.ScenarioMetrics
--- requests; default 1048576; with more completed requests, quantiles come from histograms
---@field exact_requests integer?
--- default "chunk"; itl_s of tokens that land together: one gap, as vLLM's client measures chunks; or one per token
---@field itl "chunk"|"token"|nil
---@field utilisation boolean? default false; steps are sampled for overall_mfu and bandwidth_frac, as with --html
---@field requests boolean? default false; results have `requests`, a row per request, for `report` and --json

---@class rooflua.ScenarioNetwork
---@field alpha_s number? s; default 0; before the first byte
--- bytes/s; bandwidth between two replicas; over links: the most that one transfer gets; default the link of the
--- first replica's GPU; with path no limit
---@field bytes_per_s number?
---@field bytes_per_token number? bytes; KV of one token, of all ranks; default what the model keeps of a token
--- default "one"; one: what the model keeps is sent once; ranks: each tp rank of a decode replica gets what it keeps,
--- which of latent attention is all of it
---@field copies "one"|"ranks"|nil
--- names of `links` that KV takes and shares with other transfers; default a wire of its own for each
---@field path string[]|nil
---@field within string[]|nil the same between replicas on one node; default path

---@class rooflua.ScenarioDisaggregation
---@field order "prefill_first"|"decode_first"|nil default "prefill_first"; the replica that is chosen first
---@field push "end"|"chunks"|"layers"|nil default "end"; when KV of a prompt sets off
--- s; default 0; that a prefill replica keeps a computed prompt which waits for room at a decode replica; then the
--- decode replica computes it again. 0: for ever
---@field lease_s number?
--- default always; whether a prefill replica computes a prompt, with order = "decode_first"
---@field decider table|string|nil

---@class rooflua.ScenarioLink
---@field bytes_per_s number? bytes/s; bandwidth of one of its wires, in one direction
---@field alpha_s number? s; default 0; before the first byte of each transfer
---@field per "replica"|"node"|"cluster"|nil default "node"; what shares one of its wires
---@field duplex boolean? default true; whether each direction has a wire of its own
---@field streams integer? transfers; default 0; transfers that a wire carries at once, others wait; 0: no limit

---@class rooflua.ScenarioAdapters
---@field count integer? adapters; how many there are; required
---@field rank integer|integer[]|nil default 16; of each, or one for all
--- adapters; default 1; slots in the GPU: most different adapters in a step (vLLM --max-loras)
---@field max_loras integer?
---@field max_lora_rank integer? rank that a slot has room for, at which kernels run; default the largest of rank
--- adapters; adapters in the memory of the host, with store_bytes_per_s; default max_loras
---@field max_cpu_loras integer?
--- GEMMs that have an adapter; default those of qkv, o, gate_up and down that the model has
---@field target_modules string[]|nil
---@field share number? default 1; part of the requests that have an adapter
---@field zipf number? default 0; adapter k is as popular as 1 / k^zipf; 0 = all alike
---@field weights number[]|nil how popular each is, in place of zipf
--- default "step"; when an adapter is copied into a slot: in the first step that needs it, or before its request is
--- admitted
---@field load "admission"|"step"|nil
---@field load_s number? s; default 0; what a copy takes besides its bytes
---@field host_bytes_per_s number? bytes/s; into the slot of one GPU; default host_gb_per_s of the GPU
---@field store_bytes_per_s number? bytes/s; into the memory of the host; default all adapters are there
---@field gemms boolean? default true; false: steps.kernels prices no GEMMs of adapters, which a correction may do

---@class rooflua.ScenarioExperts
---@field zipf number? default 0; in each layer the k-th expert is as popular as 1 / k^zipf; 0 = all alike
--- how popular each is, in place of zipf: which expert has which weight is drawn in each layer
---@field weights number[]|nil
--- steps; steps after which the scores that order experts are correlated by 1/e; default no drift
---@field drift_steps number?
---@field drift_tokens number? tokens; the same in tokens
---@field drift_s number? s; the same in seconds
---@field update_steps integer? steps; default 250; popularity stays the same for so many steps
--- experts; default 0; copies of experts in each layer, on all ranks together (vLLM num_redundant_experts)
---@field redundant integer?
---@field balancer table|string|nil default never; when experts move between ranks, and where to

---@class rooflua.ScenarioTiers
---@field policy table|string|nil what is loaded and what is stored; required
---@field stores rooflua.ScenarioStore[]|nil where KV is kept, in the order of lookup; required
---@field overlap "none"|"layers"|nil layers: a prompt is computed while its KV arrives; default the policy's
--- loads begin when a request is queued, not at its admission; default the policy's, else false
---@field prefetch boolean?
--- bytes; KV of a token, on all GPUs of a replica; default what the model keeps of a token
---@field bytes_per_token number?

---@class rooflua.ScenarioStore
---@field name string? what results call it; required
---@field capacity_bytes number? bytes; of one instance, for all GPUs that share it; required
---@field per "replica"|"node"|"cluster"|nil default "replica"; what shares one instance
--- tokens; tokens that are stored, loaded and evicted together; default the policy's, else block_size; a multiple of
--- that
---@field chunk_tokens integer?
---@field alpha_s number? s; default 2e-05; before the first byte of each transfer, besides its links
--- names of `links` from the store to the GPU; default those of write, else the GPU's to its host
---@field read string[]|nil
---@field write string[]|nil names of `links` from the GPU to the store; default those of read
--- names of `links` over which other instances are read, and then over `read`; default they are not
---@field peers string[]|nil
---@field eviction table|string|nil default lru; what leaves when it is full
-- end of scenario keys

--- A running simulation. Replicas count from 1.
---@class rooflua.Live
---@field now_s number
local Live = {}

--- Runs a scenario to its end. options.requests = true keeps the times of every request, as the
--- columns of vLLM's benchmark (input_lens, output_lens, start_times, ttfts, e2els, errors).
---@param scenario table
---@param options {requests: boolean?}?
---@return {summary: table, totals: table, intervals: rooflua.Intervals?, requests: table?}
function serve.run(scenario, options) end

--- Opens a scenario as a live simulation at time 0. It remembers its steps and requests, which costs time in
--- proportion to the number of live requests.
---@param scenario table
---@param options {remember: boolean?}? remember = false for the last bit of speed
---@return rooflua.Live
function serve.open(scenario, options) end

--- Runs until everything is over.
function Live:run() end
--- Runs every event up to that time.
---@param time_s number
function Live:run_until(time_s) end
--- Runs up to the next end of a step, n times.
---@param n integer?
---@return boolean more false when nothing is left to happen
function Live:step(n) end
--- The state of a replica now: a copy.
---@param index integer?
---@return table
function Live:replica(index) end
--- The waiting requests of a replica, in queue order: a copy.
---@param index integer?
---@return table[]
function Live:waiting(index) end
--- A live request: a copy; nil when it is done or has not arrived.
---@param id integer
---@return table?
function Live:request(id) end
--- Every step that ended: start_s, end_s, replica, waiting, running, decodes, prefills, prefill_tokens, kv_used_frac.
---@return table[]
function Live:steps() end
--- Every request that ended, in that order: its times, and `where_s` by heading; `where_to_first_s` to its first token.
---@return table[]
function Live:ended() end
--- Every play that ended, in that order: play (its number, from 1), name, start_s, end_s, play_s, cut; completed,
--- failed, cancelled and left_out count its requests.
---@return table[]
function Live:plays() end
--- Where the time of a play went; nil until it is over. See measure.why_play.
---@param number integer from 1, in the order in which plays begin
---@return string? report
---@return table? document
function Live:why_play(number) end
--- The step of a replica that ended last, with prefill_work, decode_ids and decode_contexts; nil before the first.
---@param index integer?
---@return table?
function Live:last_step(index) end
--- That step priced again, operation by operation, with the step model as it is now.
---@param index integer?
---@return table priced time_s, rows, evidence; was_s is what it took
---@return string report
function Live:explain(index) end
--- What a batch takes now on a replica, operation by operation; nothing of the simulation changes.
---@param batch table prefills = { { context_tokens =, new_tokens = } }, decode_contexts = { ... }, as in kind "price"
---@param index integer?
---@return table priced time_s, rows, evidence
function Live:price(batch, index) end
--- Where the time of a request went; nil until it ends. See measure.why. After a `:reload` only the headings are known.
---@param id integer
---@return string? report
---@return table? document
function Live:why(id) end
--- Ends a live request now, before its last token. Its client and its workload learn of it at once; rows of it that are
--- in flight are computed and discarded.
---@param id integer
---@param outcome ("expired"|"timed_out"|"cancelled"|"replica_lost")? "cancelled" if none is given
---@return boolean was_live false: it has ended, was aborted before, or has not arrived
function Live:abort(id, outcome) end
--- Sets other policies from the next plan on. A scheduler given by name takes over the limits of the old one.
---@param changes {scheduler: table|string?, steps: table|string?, speculator: table|string?}
function Live:set(changes) end
--- An independent copy of the simulation.
---@return rooflua.Live
function Live:fork() end
--- Frees the memory; whatever is called after it is an error.
function Live:close() end
---@return {summary: table, totals: table} what is known so far
function Live:result() end

return serve
