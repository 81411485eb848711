---@meta rooflua.cost
--- What work costs. A primitive prices one run of an operation on one rank; `count` says how often it
--- runs in the step. It returns the time of all runs and what bounds it, and records them for reports.
---@class rooflua.cost
---@field flop table<string, function> flop formulas: gemm, causal_pairs, attention_decode, ...
---@field bytes table<string, function> byte formulas: weight, kv, touched_experts, lm_head, ...
local cost = {}

---The names of evidence, from good to bad: "measured", ..., "assumed". A list of its own for every call.
---@return rooflua.Evidence[] names
function cost.evidence_names() end

--- The number of each evidence, by its name: for run:add.
---@return table<rooflua.Evidence, integer>
function cost.evidence_codes() end

--- The next steps of the same decodes, which a step model's method run prices. Steps count from 1.
---@class rooflua.StepRun
---@field steps fun(run: rooflua.StepRun): integer
---@field keep fun(run: rooflua.StepRun) what is recorded so far belongs to every step
---@field add fun(run: rooflua.StepRun, i: integer, code: integer, time_s: number) seconds of step i, by evidence
---@field note fun(run: rooflua.StepRun, fn: function, x: any): number what fn(x) records, for add_noted
---@field add_noted fun(run: rooflua.StepRun, i: integer)
---@field put fun(run: rooflua.StepRun, i: integer, time_s: number) the time of step i

-- generated: words
---@alias rooflua.Evidence "measured"|"interpolated"|"extrapolated"|"stand_in"|"modelled"|"assumed"
---@alias rooflua.Bound "compute"|"memory"|"link"
-- end of words

---@class rooflua.AttentionShape heads of the whole model
---@field heads integer
---@field kv_heads integer
---@field head_dim integer
---@field tp integer?
---@field kv_dtype string?

--- An operation as a correction sees it; valid during the call only.
---@class rooflua.Op
---@field name string
---@field kind string "gemm", "attention_prefill", "attention_decode", "all_reduce", "memory", ...
---@field flop number
---@field bytes number
---@field mfu number?
---@field bound rooflua.Bound?
---@field evidence string
---@field time_s number of one run
---@field count number

--- One chunk of a prompt.
---@class rooflua.Prefill
---@field new_tokens integer
---@field context_tokens integer in the KV cache before the step
---@field completes boolean true for the last chunk of a prompt
---@field left_tokens integer of the prompt after this chunk

--- The prefills and decodes of one step; valid during the call only. Read-only; an index out of range is an error.
---@class rooflua.Batch
---@field prefills rooflua.Prefill[]
---@field decodes integer
---@field decode_context_tokens number sum over decodes, the new token excluded
---@field decode_context_max number computed when it is read
---@field decode_contexts integer[] per decode; reading them is slow
---@field decode_tokens integer 1 + drafts of every decode; as many as decodes without speculation
---@field decode_pairs number query-key pairs of the decodes
---@field decode_widths integer[] per decode; reading them is slow
---@field draft_rows integer requests that get drafts for the next step
---@field draft_tokens integer these drafts together
---@field draft_passes integer the most drafts of one of them
---@field tokens integer of the whole step
---@field requests integer partial prefills included
---@field sampled integer decodes and prefills that complete in this step
---@field group_ranks integer ranks that step together and whose tokens are known; 1 for a rank alone
---@field group_tokens integer of these ranks together, the own ones included
---@field group_max_tokens integer of the rank with most
---@field group_prefills integer ranks that prefill
---@field adapters integer different low-rank adapters of its requests
---@field adapter_tokens integer of requests that have one
---@field adapter_loads integer copies of adapters into slots that began with this step
---@field adapter_load_s number what these take
---@field adapter_held integer requests that could not be admitted for their adapter, for the first time
---@field expert_load number tokens of the fullest rank over those of a balanced one; 0 where no expert moves
---@field expert_stall_s number that the step waits for experts that move
---@field expert_moved_bytes number that ranks receive in front of the step; of an engine's first rank, as the next
---@field expert_rebalanced integer 1: experts are placed anew
---@field bounded_tokens fun(batch: rooflua.Batch, cap: number): number, boolean
---@field chunk_tokens fun(batch: rooflua.Batch, chunk: number): number, boolean
local Batch = {}

--- Tokens of their contexts that the decodes read under a cap: the sum of min(context + 1, cap), the new token
--- included. No function of decode_context_tokens gives it. O(1) for the caps of the model (context_caps); a loop over
--- the running requests for other caps.
---@param cap number tokens: a sliding window, or how many a sparse attention selects
---@return number tokens
---@return boolean exact false where only the sum of contexts is known: each is taken as their mean
function Batch:bounded_tokens(cap) end

--- Tokens since the last multiple of a chunk: the sum of context % chunk + 1. O(1) for the chunk of the model
--- (context_chunk).
---@param chunk number tokens
---@return number tokens
---@return boolean exact
function Batch:chunk_tokens(chunk) end

--- max(flop / (peak mfu), bytes / bandwidth). Pure arithmetic; records nothing.
---@param flop number
---@param bytes number
---@param peak_flop_per_s number
---@param mfu number in (0, 1]
---@param bytes_per_s number
---@return number time_s
---@return rooflua.Bound
function cost.roofline(flop, bytes, peak_flop_per_s, mfu, bytes_per_s) end

--- [m,k] x [k,n], the shape of one rank.
---@param db rooflua.Database
---@param m number
---@param k number
---@param n number
---@param dtype string? default bf16
---@param count number? default 1
---@param name string? what explain calls it
---@return number time_s
---@return rooflua.Bound
function cost.gemm(db, m, k, n, dtype, count, name) end

--- A chunk of new_tokens after context_tokens, of one request.
---@param db rooflua.Database
---@param shape rooflua.AttentionShape
---@param new_tokens number
---@param context_tokens number
---@param count number?
---@param name string?
---@return number time_s
---@return rooflua.Bound
function cost.attention_prefill(db, shape, new_tokens, context_tokens, count, name) end

--- One token for each of `batch` requests; their contexts are given as a sum.
---@param db rooflua.Database
---@param shape rooflua.AttentionShape
---@param batch number requests
---@param context_tokens_sum number
---@param context_tokens_max number?
---@param count number?
---@param name string?
---@return number time_s
---@return rooflua.Bound
function cost.attention_decode(db, shape, batch, context_tokens_sum, context_tokens_max, count, name) end

--- Any op of db:lookup, priced.
---@param db rooflua.Database
---@param query table
---@param count number?
---@param name string?
---@return number time_s
---@return rooflua.Bound
function cost.lookup(db, query, count, name) end

--- All-reduce of `bytes` on each of `ranks`: from the table of a database if it has one, else a model of the link with
--- two straight lines.
---@param target rooflua.Database|rooflua.Hardware
---@param bytes number
---@param ranks integer
---@param count number?
---@param name string?
---@return number time_s
---@return rooflua.Bound
function cost.all_reduce(target, bytes, ranks, count, name) end

--- All-to-all: every rank sends `bytes` in total.
---@param target rooflua.Database|rooflua.Hardware
---@param bytes number
---@param ranks integer
---@param count number?
---@param name string?
---@return number time_s
---@return rooflua.Bound
function cost.all_to_all(target, bytes, ranks, count, name) end

--- Element-wise work: bytes over datasheet bandwidth, evidence modelled.
---@param hardware rooflua.Hardware
---@param bytes number
---@param count number?
---@param name string?
---@return number time_s
---@return rooflua.Bound
function cost.memory(hardware, bytes, count, name) end

--- An operation that a step model composed itself.
---@param name string
---@param time_s number of one run
---@param evidence string|rooflua.Estimate
---@param count number?
---@param flop number?
---@param bytes number?
---@param mfu number?
---@param bound rooflua.Bound?
---@param note string?
---@param kind string? op.kind for corrections; default: the name
---@return number time_s times count
function cost.record(name, time_s, evidence, count, flop, bytes, mfu, bound, note, kind) end

--- Inside an explanation: the work of the operation that was entered last is that of the rows that there are, where its
--- price asked for more of them. Its shape then says "m=64 as m=96". Times, and what corrections see, stay. Without an
--- explanation it does nothing.
---@param work table flop, bytes: of one run; field: of the shape, which is `there` where `asked` was asked for; shape:
---the whole text; at_peak_s: seconds of the arithmetic at the GPU's peak. Each is optional.
function cost.counted(work) end

--- How much of the counted work of the operation at hand is left by corrections that state `changes_work`: what a
--- floor (flop over peak, bytes over bandwidth) must be multiplied by. 1 without such corrections.
---@return number
function cost.work_left() end

--- True while operations are recorded (explain): only then are notes for rows worth making.
---@return boolean
function cost.listening() end

--- True where shapes and work of operations are read: while operations are recorded, and by corrections, but those that
--- say reads_work = false, or name other kinds there.
---@param kind string? of the operation
---@return boolean
function cost.shapes_wanted(kind) end

--- The groups that a bucketing policy makes of the prefills of a step. It is an error, at the line of the policy's
--- method, if a prefill is in no group or in two, or if requests and tokens of a group are not those of its members.
---@param bucketing table a policy with a method groups(prefills)
---@param prefills table of a batch
---@return {requests: integer, new_tokens: integer, seq_len: number, members: integer[]}[]
function cost.groups(bucketing, prefills) end

--- The worst of several evidences.
---@param ... string|rooflua.Estimate
---@return string evidence
function cost.mixed(...) end

--- Remembers the results of a pure function of one number that prices operations; the evidence is replayed.
--- Inside an explanation a second number is passed on to it: how many rows there are of those that the first one asks
--- for. It may change rows, but no price.
---@param fn fun(key: number, there: number?): number
---@return fun(key: number, there: number?): number
function cost.memoize(fn) end

--- Like memoize, for a function of two whole numbers below 2^26.
---@param fn fun(a: number, b: number, there: number?): number
---@return fun(a: number, b: number, there: number?): number
function cost.memoize2(fn) end

---The points of an axis: 1, 2, 3 and then four an octave, the sizes that tables have rows of.
---@param most number the last point: a power of two from 4 to 2^26
---@return number[] points
function cost.octaves(most) end

---The four points of an octave grid around a place, few and many x, then few and many y. Read-only; the next question
---to the same grid changes it.
---@class rooflua.GridCell
---@field x number the point of x at or before the place
---@field next_x number
---@field y number
---@field next_y number
---@field u number part of the way from x to next_x, from 0 to 1
---@field v number part of the way from y to next_y
---@field few_few number seconds at (x, y)
---@field few_many number seconds at (x, next_y)
---@field many_few number seconds at (next_x, y)
---@field many_many number seconds at (next_x, next_y)
---@field evidence integer code: that of the point if the place is one, else the worst of those around it

---Latencies over two numbers, whose axes have the points of cost.octaves. How they are interpolated is the caller's.
---@param most_x number last point of x
---@param most_y number last point of y
---@param latency_s number[][] seconds: a row for every point of x; in it [0] for y = 0 and one for every point of y
---@param evidence integer[][] codes of cost.evidence_codes, in the same order
---@return fun(x: number, y: number): rooflua.GridCell cell_at numbers beyond an axis count as its last point
function cost.octave_grid(most_x, most_y, latency_s, evidence) end

---Calls fn(...) outside compiled code and returns its results. Use it for work that is rare, such as a miss of your
---own memo, so that the compiler does not make it a part of frequent work.
---@param fn function
---@param ... any
---@return any ...
function cost.apart(fn, ...) end

--- Runs a function and returns what it priced: every primitive with shape, flop, bytes, mfu, bound and
--- evidence, a separate list of corrections, and shares of time by evidence.
---@param call fun(): number?
---@return {time_s: number, rows: table[], corrections: table[], evidence: table<string, number>}
function cost.explain(call) end

--- The keys of cost.batch and of a scenario's `price` entries.
---@class rooflua.BatchGiven
---@field prefills {new_tokens: integer, context_tokens: integer?, completes: boolean?, left_tokens: integer?}[]?
---   left_tokens: of the prompt after a chunk that does not complete it; left out: more than any prefill_tail
---@field decode_contexts integer[]? or instead of it:
---@field decodes integer?
---@field decode_context_tokens number? sum
---@field decode_context_max number?
---@field decode_tokens integer? 1 + drafts of all decodes; or instead of it:
---@field decode_widths integer[]? 1 + drafts of each decode
---@field draft_rows integer? requests that get drafts for the next step
---@field draft_tokens integer? these drafts together
---@field draft_passes integer? the most of one of them
---@field adapters integer? different low-rank adapters of its requests
---@field adapter_tokens integer? of requests that have one; default all
---@field images table[]? of kind "price": {width, height} in pixels, whose encoder runs in front of the step
---@field group {ranks: integer, tokens: integer, max_tokens: integer, prefills: integer}? of ranks that step together

--- A batch like those that the engine gives to a step model.
---@param given rooflua.BatchGiven
---@return rooflua.Batch
function cost.batch(given) end

--- The operations of one forward pass on one rank, in order. `kernel` of one names the measured kernel that stands for
--- it, in the table "elementwise" or as the op "mla_bmm"; nil where there is none.
---@param model rooflua.Model
---@param deployment rooflua.Deployment
---@return table[]
function cost.layers(model, deployment) end

--- A query of db:lookup in one line.
---@param query table
---@return string
function cost.query_text(query) end

--- The numbers of an operation's shape by name, for corrections: {m = 64, k = 4096, n = 6144} of "m=64 k=4096 n=6144
--- bf16". Of "m=64 as m=80" and of "heads=32/8" it is the first number.
---@param shape string `op.shape`
---@return table<string, number>
function cost.shape_fields(shape) end

return cost
