---@meta rooflua.mfu
--- The MFU database: measured kernel tables of one GPU, and a lookup over them. Every answer carries
--- evidence: measured, interpolated, extrapolated, stand_in, modelled or assumed.
---@class rooflua.mfu
local mfu = {}

--- What a lookup answered. One view per database, overwritten by its next answer: copy what you keep.
---@class rooflua.Estimate
---@field latency_s number
---@field mfu number? nil where the op has none
---@field evidence string
---@field rows integer how many table rows it rests on
---@field distance number 0 = a measured point; else doublings to the nearest row, summed over axes
---@field note string table and rows in words, of the last answer
---@field selected_row integer 0-based data row of a policy that picks one; -1 = a default
---@field flop number
---@field bytes number
---@field mfu_up number? grouped GEMM of the InferSim lookups
---@field mfu_down number?

---@class rooflua.Database
---@field hardware rooflua.Hardware?
---@field layout string
---@field strategy string name of the lookup
---@field quantizes boolean whether rows of its FP8 GEMMs contain the quantisation of their input
---@field tables_loaded integer tables read so far: they are read when first asked for
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

--- Decode attention of `batch` requests with that many tokens of context each; heads of the whole model.
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
--- that names them. `kernel` of memory: copy, read, write; of launch: launch, graph_node; of elementwise: norm,
--- rope, silu_mul, quantize (16 bits to FP8).
---@param query table
---@return number? mfu
---@return rooflua.Estimate
function Database:lookup(query) end

--- Questions by name, to be asked together: as for lookup, but the texts "first" and "second" say where the
--- numbers go that change (m, tokens, new_tokens, batch or context_tokens).
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

--- Same tables, another strategy: a name, a function (table, query, tables) -> value, evidence, or a policy
--- with a lookup method. `table` is the rooflua.Table whose rows come closest to the query's shape, `tables` is
--- the list of every table of the op. Pure; called when the answer is not remembered.
---@param lookup string|function|table
---@param options {returns: "latency_s"|"mfu"?, name: string?}? returns: default "latency_s"
---@return rooflua.Database
function Database:with(lookup, options) end

--- What is wrong with the tables: {errors, notes, text, findings}.
---@return {errors: integer, notes: integer, text: string, findings: table[]}
function Database:report() end
--- {name, path, op, dtype, rows} of every table.
---@return table[]
function Database:tables() end
--- The rows of a table: shape columns, latency_s, mfu, line.
---@param name string
---@return table[]
function Database:rows(name) end
--- How good the lookup is: rows of a table are taken away one by one, and the others are asked for them.
--- At most `most_rows` (default 400), spread evenly. leave = "shape" takes away with each row all rows of
--- its shape (of a GEMM its k and n, of attention its heads), so that other shapes must stand in. Each entry
--- has the shape's columns, line, measured_s, predicted_s, error (predicted / measured - 1), distance (doublings
--- to the nearest row left, as in an estimate) and evidence.
---@param options {table: string, lookup: string?, leave: "row"|"shape"?, most_rows: integer?}
---@return table[]
function Database:leave_one_out(options) end
--- What this database answers to the rows that another one measured: per table of the reference and evidence
--- {table, evidence, rows, p10, median, p90, worst, worst_line}; figures are answered over measured latency.
---@param reference rooflua.Database
---@return table[]
function Database:compare(reference) end
--- The peak that an MFU of this dtype refers to; 0 if nobody knows.
---@param dtype string? default bf16
---@return number flop_per_s
function Database:peak(dtype) end

--- A kernel table as a lookup sees it. Read-only.
---@class rooflua.Table
---@field name string
---@field path string
---@field op string
---@field dtype string of the kernel that was timed
---@field variant string a kernel family that is measured apart, such as fp8_block; else ""
---@field quantizes boolean whether rows of an FP8 GEMM contain the quantisation of their input
---@field axes string[] the columns that are a shape
---@field count integer rows
---@field ranges table<string, {least: number, most: number}> by axis
---@field rows table[] columns, latency_s, mfu, line, kv_dtype; made when first asked for
local Table = {}

--- The rows near a shape, nearest first: like `rows`, with `distance` in doublings, Euclidean over the axes that
--- are numbers. Heads of the query are divided by its tp. Rows of another kv_dtype (where the op has one), of
--- another word than the query's, and without a latency are left out. Takes about a tenth of a millisecond in a
--- table of 35,000 rows, where a loop in Lua takes a second.
---@param query table as a lookup gets it
---@param count integer at most so many rows
---@return table[]
function Table:near(query, count) end

--- Questions that are asked together.
---@class rooflua.Prepared
local Prepared = {}

--- Answers to all of them, the same as db:lookup's. Two records, by name, overwritten by the next call: copy what
--- you keep. An MFU is nan where the op has none. What a question fails with is raised when its answer is read.
---@param first number
---@param second number 0 where no question takes it
---@return table<string, number> mfu
---@return table<string, number> latency_s
function Prepared:ask(first, second) end

--- What the last answer to a question rests on.
---@param name string
---@return string
function Prepared:evidence(name) end

--- The keys of mfu.open and of a scenario's `mfu`.
---@class rooflua.DatabaseOptions
---@field gpu string? a shipped GPU, or as the folder or its files name it
---@field path string? folder of tables; default: the GPU's own
---@field layout "rooflua"|"infersim"|"blis"|"aic"?
---@field lookup any a strategy's name, a function or a policy
---@field hardware any peaks; default: the shipped GPU of that name
---@field default_mfu number? what the InferSim lookups answer without a row

--- Tables of a GPU: open "h200-sxm", or a folder of any layout.
---@param options string|rooflua.Hardware|rooflua.DatabaseOptions
---@return rooflua.Database
function mfu.open(options) end

--- Named lookup strategies.
---@return string[]
function mfu.lookups() end

--- Every op of db:lookup, as the engine declares it: {name, doc, code, fields}. A field is {name, unit, doc,
--- kind ("number", "flag", "word" or "kv_dtype"), default, whole, axis (whether answers are read between rows
--- along it), per_rank (whether tables have it divided by tp), words}.
---@return table[]
function mfu.ops() end

--- Every number format: {name, code, bits (of one element with its share of the scales), spellings}.
---@return table[]
function mfu.formats() end

--- How the last failed lookup failed: "no_table", "no_rows", "division_by_zero", or nil.
---@return string?
function mfu.failure() end

return mfu
