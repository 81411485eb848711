---@meta rooflua.policy
--- Policies: one heuristic per file, with parameters declared as data. Calling a class with a table of
--- parameters makes an instance. The engine makes a new instance for each replica, variant and fork.
---@class rooflua.policy
local policy = {}

---@class rooflua.Parameter
---@field default any
---@field doc string
---@field unit string? "tokens", "s", "1"
---@field source string? paper, file or measurement that the default comes from
---@field values any[]? the allowed values
---@field min number?
---@field max number?
---@field exclusive_min boolean? min itself is not allowed
---@field exclusive_max boolean?
---@field integer boolean?
---@field infinite boolean? math.huge is allowed
---@field policy string? a policy of that folder of scripts/ is allowed too
---@field type string? if the default does not tell it; "any" allows every type
---@field optional boolean? no default
---@field idle table? a case in which it changes nothing, or a list of them (docs/LUA_API.md)

--- A class: calling it with a table of parameters makes an instance.
---@class rooflua.PolicyClass
---@operator call(table?): table
---@field name string
---@field doc string
---@field params table<string, rooflua.Parameter>
---@field presets table<string, table> named parameter sets

--- The keys of policy.define.
---@class rooflua.PolicyDefinition
---@field name string
---@field doc string
---@field source string?
---@field params table<string, rooflua.Parameter>?
---@field presets table<string, table>?
---@field returns "mfu"|"latency_s"? of a lookup
---@field every_step boolean? for a scheduler: ask it at every step, even if nothing changed
---@field signals string[]? for a router: the fields of replicas that it reads
---@field refuses boolean? for a router: whether route may return false
---@field staleness_s number? for a router: greatest age of these fields
---@field load_signals "live"|"reported"? for a router: whether waiting, running and kv_used_frac are of now, or of the
--- end of the last step
---@field common_queue "arrival"|"longest"|nil for a router: ranks that step together take requests from one queue, and
--- `place` says which of them gets one; the order of those that get ranks together
---@field monotone boolean? of a step model: more work never makes a step cheaper, so plans may bound it
---@field ceiling boolean? of a step model: no step is faster than the bytes that it reads
---@field seeks string? of an objective of plans: "load", where all GPUs are taken and the largest load is looked for
---@field figure string? of an objective of plans: the figure of a deployment that it compares, which reports show:
--- "cost_per_hour", "gpus", "joules_per_token", "output_tokens_per_s_per_gpu" or "rate_per_s"
---@field native "lru"|"fifo"|"lfu"|"arc"|nil of an eviction: the engine's own order, in place of a method key
---@field outputs boolean? of tiers: answers are stored as well, when their request ends
---@field counts boolean? of tiers: the engine counts how many requests had which content (run.uses)
---@field promote boolean? of tiers: what comes from a later store or a peer is put into the first store as well
---@field overlap "none"|"layers"|nil of tiers: what holds where the scenario's `tiers` does not say
---@field prefetch boolean? of tiers: what holds where the scenario's `tiers` does not say
---@field extends rooflua.PolicyClass? a class whose parameters and methods are inherited

--- Declares a policy; its methods are written after it. `Class:preset("name") {overrides}` starts from a preset.
---@param given rooflua.PolicyDefinition
---@return rooflua.PolicyClass
function policy.define(given) end

--- True if `value` was made by calling a policy class.
---@param value any
---@return boolean
function policy.is_instance(value) end
--- True if `value` is a policy class.
---@param value any
---@return boolean
function policy.is_class(value) end

---Whether the class of an instance defines a method itself, and does not inherit it.
---@param instance table
---@param method string
---@return boolean
function policy.has_own(instance, method) end
--- A new instance with the same parameters.
---@param instance table
---@return table
function policy.fresh(instance) end
--- The same for one of very many replicas: parameters and methods stay in one table, which all of them read.
---@param instance table
---@return table
function policy.fresh_of_many(instance) end
--- The same policy with some parameters changed.
---@param instance table
---@param overrides table
---@return table
function policy.with(instance, overrides) end

--- Whether a parameter of an instance was given, and is not the default of its class; and whether its preset alone
--- gives it.
---@param instance table
---@param parameter string
---@return boolean given, boolean by_preset
function policy.is_given(instance, parameter) end
--- The parameters of an instance: given values and defaults.
---@param instance table
---@return table<string, any>
function policy.parameters(instance) end
--- {name, doc, source, params, presets} of a class or an instance.
---@param value table
---@return table
function policy.describe(value) end
--- File and line where an instance was made: "scenario.lua:12".
---@param instance table
---@return string
function policy.where(instance) end

--- What a file of scripts/schedulers returns.
---@class rooflua.Scheduler: rooflua.PolicyClass
---@field plan fun(self, replica: rooflua.Replica, plan: rooflua.Plan)
---@field key? fun(self, request: rooflua.Request): number lower first, ties by arrival
---@field victim? fun(self, replica: rooflua.Replica): rooflua.Request
---@field start_problem? fun(self, max_model_len: integer): string? why the engine does not start for such requests
---@field every_step boolean?
---@field content_from "plan"|"step"|"prompt"|nil from when on prompts are hit by others; default "plan"

--- What a file of scripts/routers returns.
---@class rooflua.Router: rooflua.PolicyClass
---@field signals string[]? the signals that it reads; without a list it may read all that cost nothing to keep
---@field prefix_index? rooflua.PrefixIndex|fun(self): rooflua.PrefixIndex what it knows of prefixes
---@field refuses boolean? whether route may return false, which refuses the request
---@field route fun(self, request: rooflua.Request, replicas: rooflua.Candidates): integer|false
---@field common_queue "arrival"|"longest"|nil
---@field place? fun(self, request: rooflua.Request, ranks: rooflua.Candidates): integer where there is a common queue
---@field start? fun(self, rng: rooflua.Random)
---@field on_done? fun(self, request: rooflua.EndedRequest) after every request that ended
---@field summary? fun(self): table what it tells at the end of a run, for result.policies

--- What a file of scripts/speculators returns.
---@class rooflua.Speculator: rooflua.PolicyClass
---@field depth integer|fun(self): integer the most drafts that it asks for
---@field drafts fun(self, batch: rooflua.Batch, replica: rooflua.Replica): integer drafts of every request that samples
---@field draft? fun(self, request: rooflua.Request, k: integer): integer of one of them
---@field landed? fun(self, seen: rooflua.SpecSeen)

--- Rows that landed together.
---@class rooflua.SpecSeen
---@field now_s number
---@field rows integer decodes that landed
---@field drafted integer
---@field accepted integer
---@field accepted_at integer[] rows that accepted draft 1, 2, ...
---@field decodes integer decoding requests now

--- What a file of scripts/acceptance returns.
---@class rooflua.Acceptance: rooflua.PolicyClass
---@field scope? "request"|"step"
---@field curve fun(self, request: rooflua.Request, rng: rooflua.RandomStream): number[] a_1, a_2, ...; or { rounds = }
---@field accept? fun(self, request: rooflua.Request, drafted: integer, emitted: integer, u: function): integer

--- What a file of scripts/drafters returns.
---@class rooflua.Drafter: rooflua.PolicyClass
---@field lookahead? integer|"k" tokens for which blocks are held ahead
---@field reserve? integer|"k"|"k-1" slots per seat that drafting takes of the token budget
---@field drops_last_hit? boolean
---@field time fun(self, batch: rooflua.Batch): number seconds, added to the step model's
---@field memory? fun(self): number, number weight_bytes and kv_bytes_per_token of one rank

--- What a file of scripts/tiers returns. One instance per replica that computes prompts.
---@class rooflua.Tiers: rooflua.PolicyClass
---@field load fun(self, request: rooflua.Request, found: rooflua.Found): integer?, number? tokens beyond those in the
--- GPU that are loaded: 0 computes all, nil asks again when content arrives; and the longest wait in seconds, endless
--- where it is nil
---@field store fun(self, run: rooflua.StoredRun, stores: rooflua.Store[]): string? ... names of stores, or nothing
---@field bind? fun(self, context: rooflua.TiersContext) called once before
---@field outputs boolean|(fun(self): boolean)|nil whether answers are stored as well, when their request ends
---@field as_filled boolean|(fun(self): boolean)|nil where they are: whether each chunk is stored when the step ends
--- that fills it
---@field last_chunk boolean|(fun(self): boolean)|nil whether the chunk of a prompt's last token is loaded too; that
--- token is computed again
---@field shares_loads boolean|(fun(self): boolean)|nil whether a request waits while another one of its replica loads
--- a chunk that it would load
---@field flush boolean|(fun(self): boolean)|nil whether blocks of a preempted request are free while they are written;
--- the next step waits for that
---@field counts boolean|(fun(self): boolean)|nil whether the engine counts run.uses
---@field promote boolean|(fun(self): boolean)|nil whether what comes from a later store or a peer goes into the first
---@field write_back boolean|(fun(self): boolean)|nil whether `store` is asked about content that leaves the GPU; the
--- step that needs its room waits until it is written

--- What a policy of scripts/tiers is for.
---@class rooflua.TiersContext
---@field stores rooflua.ScenarioStore[] as declared, with their defaults
---@field bytes_per_token number
---@field model rooflua.Model
---@field hardware rooflua.Hardware
---@field deployment rooflua.Deployment

--- What stores have of a request's prompt, after what the GPU has: `#found` sources, in the order of the prompt.
---@class rooflua.Found
---@field gpu_tokens integer already in the GPU
---@field tokens integer that can be loaded after them, of all sources
---@field pending_tokens integer after those, which are just arriving in a store
---@field prompt_tokens integer
---@field waiting integer other requests that wait on this replica
---@field chunk_tokens integer of the first store
---@field compute_s fun(self, tokens: integer): number price of computing the last so many tokens of the prompt, alone
---@field [integer] rooflua.FoundSource

--- A part of a prompt in one store.
---@class rooflua.FoundSource
---@field name string of the store
---@field tokens integer
---@field bytes number
---@field wait_s number what loading them takes, at the rates that links have now
---@field peer boolean whether the store is another replica's

--- Content that may be stored.
---@class rooflua.StoredRun
---@field why "filled"|"ended"|"preempted"|"evicted" what happened: a step computed it, its request ended or lost its
--- seat, or its blocks in the GPU are given to others
---@field first_token integer
---@field last_token integer
---@field prompt boolean whether it is of a prompt; else of an answer. Of what is evicted it is not known: true
---@field uses integer requests that asked for this content, this one included; 0 unless the policy `counts`
---@field bytes number
---@field request rooflua.Request? nil where it is evicted

--- A store now.
---@class rooflua.Store
---@field name string
---@field per "replica"|"node"|"cluster"
---@field capacity_bytes number
---@field used_bytes number
---@field evictable_bytes number
---@field queued_bytes number on their way into it

--- What a file of scripts/eviction returns. One instance per store of the scenario.
---@class rooflua.Eviction: rooflua.PolicyClass
---@field key? fun(self, block: rooflua.StoredBlock): number the lowest leaves first; asked when content is put, hit or
--- released
---@field bind? fun(self, context: rooflua.TiersContext) called once before

--- A chunk of content in a store.
---@class rooflua.StoredBlock
---@field depth_tokens integer from the prompt's first token to its own last one
---@field bytes number
---@field uses integer requests that were given it
---@field put_s number
---@field used_s number
---@field class integer of the request that put or used it last
---@field session integer?
---@field priority integer
---@field now_s number

--- A request as policies see it. Policies do not see the true output length.
---@class rooflua.Request
---@field id integer
---@field phase string "waiting", "prefill", "decode", "finishing" or "in_flight"
---@field arrival_s number
---@field prompt_tokens integer
---@field cached_tokens integer found in the prefix cache; known before admission
---@field context_tokens integer in its KV cache
---@field pending_tokens integer still to be computed before the next token
---@field emitted_tokens integer
---@field sequence_tokens integer prompt and emitted tokens
---@field draft_tokens integer that it brings to the next plan, where its replica speculates
---@field drafted_tokens integer that its rounds verified so far
---@field accepted_tokens integer of these
---@field rounds integer decodes that landed
---@field preemptions integer
---@field priority integer lower values are served first
---@field class integer
---@field session integer?
---@field tenant integer? who sent it
---@field program integer? of which it is a part
---@field adapter integer? low-rank adapter, from 1
---@field attempt integer 0, or which retry of its client it is
---@field prefix integer
---@field max_output_tokens integer?
---@field predicted_output_tokens integer? if the workload gives one

--- What a file of scripts/deciders returns. One instance per run.
---@class rooflua.Decider: rooflua.PolicyClass
---@field signals string[]? those that it reads of replicas; default all
---@field split fun(self, request: rooflua.Request, pair: rooflua.Pair): boolean whether a prefill replica computes the
--- prompt
---@field start? fun(self, rng: rooflua.Random)

--- A request and the decode replica that was chosen for it.
---@class rooflua.Pair
---@field now_s number
---@field prompt_tokens integer
---@field cached_tokens integer of the prompt, at the decode replica now
---@field decode rooflua.Signals
---@field prefill rooflua.Candidates the prefill replicas
---@field queued_tokens fun(self, i: integer): number of prompts at the i-th of them that are not computed yet, cached
--- ones among them
---@field budget_tokens fun(self, i: integer): number that a step of it computes at most; 0: no limit
---@field transfer_s fun(self, i: integer): number of the prompt's KV from there, at the share of the links that is free

--- What a file of scripts/balancers returns. One instance per run, for all of its engines.
---@class rooflua.Balancer: rooflua.PolicyClass
---@field schedule? fun(self, shape: rooflua.ExpertShape): rooflua.BalancerSchedule without it nothing moves
---@field wants? fun(self, utilization: number): boolean whether experts are placed anew, from the mean over the
--- fullest load of the tokens in the window
---@field place? fun(self, counts: number[], shape: rooflua.ExpertShape, slots: integer[]): integer[] of one layer:
--- the expert of each slot, from the tokens of each expert in the window and the slots as they are

--- When a balancer is asked, in steps of an engine.
---@class rooflua.BalancerSchedule
---@field first_steps number before it is asked first
---@field interval_steps number between two calls
---@field window_steps number whose tokens are counted
---@field layers_per_chunk integer that move in front of one step; 0: all
---@field hidden boolean whether steps do not wait
---@field host_s number that a rebalancing takes besides its bytes

--- Experts of a layer and the ranks that hold them. Slot i is on rank ceil(i / (slots / ranks)).
---@class rooflua.ExpertShape
---@field experts integer of a layer
---@field redundant integer copies; slots = experts + redundant
---@field slots integer
---@field ranks integer that hold whole experts
---@field nodes integer on which these are
---@field domain integer[] by rank: ranks of one number reach each other over the link
---@field layers integer with experts
---@field top integer experts that a token visits
---@field expert_bytes number bytes of one expert on one GPU
---@field moe_tp integer GPUs of a rank
---@field link_bytes_per_s number
---@field network_bytes_per_s number
---@field engine table values of the engine and its release (scripts/engines)

--- What a file of scripts/workloads returns.
---@class rooflua.Workload: rooflua.PolicyClass
---@field varies? boolean whether its load changes by itself in the course of a run, as a day or a ramp does
---@field scaled? fun(self, of: fun(part: rooflua.Workload): rooflua.Workload): rooflua.Workload of one that is made of
--- others: the same with what `of` makes of each
---@field requests fun(self, rng: rooflua.Random): any an iterator, a state with `next`, a state with
--- `plays` (rooflua.PlayState), or a native stream

--- What requests(rng) returns: plain state, besides these. `next` and `done` return arrival_s, prompt_tokens,
--- output_tokens and fields, or nil.
---@class rooflua.RequestState
---@field next fun(state: table): number?, integer?, integer?, table?
---@field done (fun(state: table, now_s: number, session: integer, class: integer, completed: boolean,
--- landed_tokens: integer): any, integer?, integer?, table?)? after an end: the request that follows, or a list of them
---@field more (fun(state: table): number?, integer?, integer?, table?)? asked after `done`, until it returns nil
---@field cancels (fun(state: table): integer?)? asked then, until it returns nil: a session whose requests end now
---@field shares_content boolean?
---@field sends_items boolean? whether fields may have `items` (rooflua.RequestItems)
---@field classes string[]? names of classes, that of class 0 first
---@field left_out table?
---@field notes string[]|(fun(state: table): string[])|nil sentences for every output

---@class rooflua.RequestItems images, sounds and videos of a prompt
---@field images {width: number, height: number, id: integer?}[]? pixels
---@field video {frames: integer, width: number, height: number, id: integer?}[]?
---@field audio_s (number|{seconds: number, id: integer?})[]?
---@field at integer? tokens of text in front of them; default 0

--- What requests(rng) returns where requests depend on each other: plain state, besides these.
---@class rooflua.PlayState
---@field plays fun(state: table): rooflua.Play? the next play; nil: there are no more
---@field lanes integer? plays at most at once; absent: each play has its arrival_s
---@field shares_content boolean?
---@field idle_cap_s number? while no request is in flight, the next one is sent at most this much later
---@field until_s number? no request is sent from then on
---@field measured_s number? the same, so long after all warm rows have ended
---@field classes string[]? names of classes, that of class 0 first
---@field notes string[]|(fun(state: table): string[])|nil sentences for every output

---@class rooflua.Play
---@field arrival_s number? without lanes; not decreasing
---@field name string?
---@field rows rooflua.PlayRow[]

---@class rooflua.PlayRow a request, sent at the latest of its parents' events and their delays
---@field prompt_tokens integer
---@field output_tokens integer
---@field content {[1]: integer, [2]: integer}[]? ids and tokens
---@field prefix {row: integer, segments: integer?}? content of an earlier row that comes before `content`
---@field output_content integer?
---@field class integer?
---@field session integer?
---@field tenant integer?
---@field program integer?
---@field adapter integer? low-rank adapter, from 1; 0 = none; absent: by the scenario's adapters
---@field deadline_s number? > 0: so long after it was sent its answer is of no use
---@field priority integer?
---@field max_output_tokens integer?
---@field predicted_output_tokens integer?
---@field parents rooflua.RowTrigger[]? absent: it is sent when the play starts
---@field not_before_s number? after the start of the play
---@field cancel rooflua.RowTrigger? the client goes away then
---@field warm boolean? no metric counts it
---@field barrier integer? it waits for warm rows with smaller barriers, of all plays under way

---@class rooflua.RowTrigger
---@field row integer of the play, from 1
---@field event "sent"|"first_token"|"done"|"failed"|"ended"? default "done"
---@field delay_s number?

return policy
