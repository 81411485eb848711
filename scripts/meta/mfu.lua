---@meta rooflua.mfu
--- The MFU database: measured kernel tables of one GPU, and a lookup over them. Every answer carries
--- evidence: measured, interpolated, extrapolated, stand_in, modelled or assumed.
---@class rooflua.mfu
local mfu = {}

--- The answer of a lookup. A database has one, overwritten by its next answer: copy what you keep.
---@class rooflua.Estimate
---@field latency_s number
---@field mfu number? nil where the op has none
---@field evidence string
---@field rows integer number of table rows that it rests on
---@field distance number 0 = a measured point; else doublings to the nearest row, summed over axes
---@field note string table and rows of the last answer, in words
---@field selected_row integer 0-based row that a lookup policy picked; -1 = none, a default was taken
---@field flop number
---@field bytes number
---@field mfu_up number? grouped GEMM of the InferSim lookups
---@field mfu_down number?

---@class rooflua.Database
---@field hardware rooflua.Hardware?
---@field layout string
---@field strategy string name of the lookup
---@field engine string whose rows are taken before those of other engines (list engines)
---@field tables_loaded integer tables read so far; a table is read when it is first needed
local Database = {}

--- [m,k] x [k,n] on one rank.
---@param m number rows
---@param k number
---@param n number
---@param dtype string? default bf16
---@return number? mfu
---@return rooflua.Estimate
function Database:gemm(m, k, n, dtype) end

--- Prefill attention of one fresh prompt; heads of the whole model.
---@param heads integer
---@param kv_heads integer
---@param head_dim integer
---@param seq_len number
---@param tp integer? default 1
---@param kv_dtype string? default bf16
---@return number? mfu
---@return rooflua.Estimate
function Database:prefill(heads, kv_heads, head_dim, seq_len, tp, kv_dtype) end

--- Decode attention of `batch` requests with `context_tokens` each; heads of the whole model.
---@param heads integer
---@param kv_heads integer
---@param head_dim integer
---@param batch number requests
---@param context_tokens number per request
---@param tp integer? default 1
---@param kv_dtype string? default bf16
---@return number? mfu
---@return rooflua.Estimate
function Database:decode(heads, kv_heads, head_dim, batch, context_tokens, tp, kv_dtype) end

--- Any op of mfu.ops(): {op = "grouped_gemm", ...} with the fields of that op; an unknown one is an error
--- that names them. `kernel` of memory: copy, read, write, to_host, from_host; of launch: launch, graph_node; of
--- elementwise: norm, rope, silu_mul, quantize (16 bits to FP8). `method` of sampling: greedy, random, top_p. Raises an
--- error where no table answers and nothing models the question: sampling, copies to and from the host, modules.
---@param query table
---@return number? mfu
---@return rooflua.Estimate
function Database:lookup(query) end

--- Prepares questions, by name, that are asked together. A question is a query as for lookup, with the text "first"
--- or "second" in place of a number that changes (m, tokens, new_tokens, batch or context_tokens).
---
---     local asked = db:prepare {
---       qkv = { op = "gemm", k = 4096, n = 6144, m = "first" },
---       core = { op = "attention_decode", heads = 32, kv_heads = 8, head_dim = 128,
---                batch = "first", context_tokens = "second" },
---     }
---     local mfu, latency_s = asked:ask(128, 2000)
---     print(mfu.qkv, latency_s.core, asked:evidence "core")
---@param questions table<string, table>
---@return rooflua.Prepared
function Database:prepare(questions) end

--- The same tables with another lookup: a name, a function (table, query, tables) -> value, evidence, or a
--- policy with a lookup method. `table` is the rooflua.Table whose rows come closest to the query's shape, `tables`
--- is the list of every table of the op. The lookup must be pure, because answers are remembered. A name is that of a
--- compiled lookup, or of a policy in scripts/lookup or in a folder `lookup` beside the script. Raises an error for
--- options with a compiled lookup.
---@param lookup string|function|table
---@param options {returns: "latency_s"|"mfu"?, name: string?}? returns: default "latency_s"
---@return rooflua.Database
function Database:with(lookup, options) end

--- The same tables, where the rows of another engine (list engines) are taken first.
---@param engine string
---@return rooflua.Database
function Database:of_engine(engine) end

--- What is wrong with the tables: {errors, notes, text, findings}.
---@return {errors: integer, notes: integer, text: string, findings: table[]}
function Database:report() end
--- {name, path, op, dtype, rows, answers} of every table that lookups use; with "all" also of those whose rows are
--- only there to be read and compared (`answers = false` in tables.toml).
---@param which "all"?
---@return table[]
function Database:tables(which) end
--- The rows of a table: shape columns, latency_s, mfu, line.
---@param name string
---@return table[]
function Database:rows(name) end
--- Tests a lookup, by default that of the database: rows of a table are left out one by one and predicted from the
--- others. At most `most_rows` (default 400), spread evenly. leave = "shape" leaves out all rows of the same shape (k
--- and n of a GEMM, heads of attention), so that other shapes must stand in. Each entry has the columns of the shape,
--- line, measured_s, predicted_s, error (predicted / measured - 1), distance (doublings to the nearest row left, as in
--- an estimate) and evidence. A policy gets an instance of its own for each row that is left out.
---@param options {table: string, lookup: string|function|table|nil, leave: "row"|"shape"?, most_rows: integer?}
---@return table[]
function Database:leave_one_out(options) end
--- Compares the answers of this database with the rows that another one measured: per table of the reference and
--- per evidence {table, evidence, rows, p10, median, p90, worst, worst_line}, of answered over measured latency.
---@param reference rooflua.Database
---@return table[]
function Database:compare(reference) end
--- Whether rows of an op in a format contain a part of another op, as tables.toml says. A step model does not add
--- such a part again.
---@param op string
---@param dtype string of the weights; of prefill attention, of the KV cache
---@param part string quantize, kv_write, ...
---@return boolean
function Database:includes(op, dtype, part) end
--- Whether any table answers for an op, of this GPU or of the one that it borrows from.
---@param op string
---@return boolean
function Database:measures(op) end
--- The peak that an MFU of this dtype refers to; 0 if it is not known.
---@param dtype string? default bf16
---@return number flop_per_s
function Database:peak(dtype) end

--- A kernel table as a lookup sees it. Read-only.
---@class rooflua.Table
---@field name string
---@field path string
---@field op string
---@field dtype string of the kernel that was timed
---@field variant string how rows are read: single (one GEMM of a pair), nccl; else ""
---@field engine string what ran the kernel: an engine, a library or who published it; "" = a measurement of your own
---@field includes string[] what a row holds besides its op: quantize, kv_write, routing, launch, ...
---@field axes string[] the columns that are a shape
---@field count integer rows
---@field ranges table<string, {least: number, most: number}> by axis
---@field rows table[] columns, latency_s, mfu, line, kv_dtype; made when first asked for
local Table = {}

--- The rows near a shape, nearest first: like `rows`, with `distance` in doublings, Euclidean over the axes that
--- are numbers. Heads of the query are divided by its tp. Rows of another kv_dtype (where the op has one), of
--- another word than the query's, and without a latency are left out. The rows have an index: a table of 35,000
--- rows answers in less than a millisecond, where a loop in Lua takes seconds.
---@param query table as a lookup gets it
---@param count integer at most so many rows
---@return table[]
function Table:near(query, count) end

--- Questions that are asked together, from Database:prepare.
---@class rooflua.Prepared
local Prepared = {}

--- Answers to all questions, the same as those of db:lookup. The two records, by name, are overwritten by the next
--- call: copy what you keep. An MFU is nan if the op has none. The error of a question is raised when its answer is
--- read.
---@param first number
---@param second number 0 if no question uses it
---@return table<string, number> mfu
---@return table<string, number> latency_s
function Prepared:ask(first, second) end

--- The evidence of the last answer to a question.
---@param name string
---@return string
function Prepared:evidence(name) end

--- The keys of mfu.open and of a scenario's `mfu`.
---@class rooflua.DatabaseOptions
---@field gpu string? a shipped GPU, or its name in the folder or the files
---@field path string? folder of tables; default: the shipped tables of the GPU
---@field layout "rooflua"|"infersim"|"blis"|"aic"?
---@field lookup any name of a lookup, a function or a policy
---@field engine string? whose kernels run; rows of other engines stand in; default the one that lends first
---@field tables boolean? false: no table is read, all is modelled from the datasheet
---@field hardware any source of peaks; default: the shipped GPU of that name
---@field default_mfu number? answer of the InferSim lookups if there is no row
---@field model table<string, number>? other constants of modelled kernels and collectives: help "mfu.model"

--- Tables of a GPU: open "h200-sxm", or a folder of any layout.
---@param options string|rooflua.Hardware|rooflua.DatabaseOptions
---@return rooflua.Database
function mfu.open(options) end

--- A folder that was measured becomes a GPU with a name, as `rooflua data add`. A folder with errors is not added. The
--- table that is returned is that of docs/schema/data_add.json: {folder, tables, errors, notes, problems, name,
--- installed, set_aside}; `measure.worth` says what it is worth to a scenario. Trusted scripts only. Raises an error
--- where the folder is not there, where a shipped GPU has the name, and where another folder has it without `replace`.
---@param given {folder: string, name: string?, to: string?, replace: boolean?, dry_run: boolean?} name: default that
---of the folder; to: where folders of GPUs are; dry_run: nothing is written
---@return table
function mfu.add(given) end

--- Named lookup strategies.
---@return string[]
function mfu.lookups() end

--- Every op of db:lookup, as the engine declares it: {name, doc, code, fields}. A field is {name, unit, doc,
--- kind ("number", "flag", "word" or "kv_dtype"), default, whole, axis (whether answers are read between rows
--- along it), per_rank (whether tables have it divided by tp), words}.
---@return table[]
function mfu.ops() end

--- Every number format: {name, code, bits (of one element with its share of the scales), of_cache (of the KV cache
--- alone), spellings}.
---@return table[]
function mfu.formats() end

--- How the last failed lookup failed: "no_table", "no_rows", "division_by_zero", or nil.
---@return string?
function mfu.failure() end

return mfu
