---@meta rooflua.trace
--- Recorded requests, read by the engine.
---@class rooflua.trace
local trace = {}

--- Opens a trace: BLIS TraceV2, Azure 2023, Mooncake, BurstGPT, AIPerf, OTLP, results of `vllm bench serve
--- --save-detailed`, plain CSV or JSONL, rooflua's CSV of requests. Raises for a file that is no text, a value that is
--- wrong, and a time_unit that contradicts the name of the column.
---@param path string
---@param format string? "": found by the columns
---@param limit integer? only this many of the first requests; 0 = all
---@param sort boolean? accept rows that are not in order of arrival
---@param time_scale number? multiplies arrival times
---@param max_output_tokens integer|string? limit that requests declare, "exact" = their own length, 0 = none
---@param hash_block_tokens integer? tokens of one id in hash_ids; default 512
---@param time_unit string? unit of arrivals, "s", "ms", "us" or "ns"; "": by the name of the column, else inferred from
---  the stamps, with a note
---@param run string? number or name of a result, where the file holds several
---@return userdata
function trace.open(path, format, limit, sort, time_scale, max_output_tokens, hash_block_tokens, time_unit, run) end

--- Describes an opened trace: {file, format, rows, requests, left_out, notes}. The notes are sentences, as on the unit
--- of time that was inferred. Rows whose request failed when it was
--- recorded, or that have no output, are not replayed: left_out = {{source, unit, total, count, reasons = {{why,
--- count, first_line}}}} counts them; nil if there are none.
---@param opened userdata
---@return table
function trace.describe(opened) end

--- What a workload returns of an opened trace: the trace, or where some rows have items a table with `next`.
---@param opened userdata
---@return userdata|table
function trace.requests(opened) end

---Tokens per round of recorded requests, for the acceptance `trace`. Raises for a row without whole numbers above 0.
---@param path string a CSV file with a column `rounds`: numbers separated by spaces
---@return integer[][] one list per row
function trace.rounds(path) end

return trace
