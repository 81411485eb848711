---@meta rooflua.trace
--- Recorded requests as a native stream.
---@class rooflua.trace
local trace = {}

--- BLIS TraceV2, Azure 2023, Mooncake, BurstGPT, plain CSV or JSONL, our per-request CSV.
---@param path string
---@param format string? "" tells it by the columns
---@param limit integer? only the first so many; 0 = all
---@param sort boolean? accept rows that are not in order of arrival
---@param time_scale number? multiplies arrival times
---@param max_output_tokens integer|string? limit that requests declare, "exact" = their own length, 0 = none
---@param hash_block_tokens integer? how many tokens an id of hash_ids stands for; 512 if nil
---@return userdata
function trace.open(path, format, limit, sort, time_scale, max_output_tokens, hash_block_tokens) end

--- What an opened trace is: {file, format, rows, requests, left_out}. Rows that failed when they were recorded, or
--- have no output, are no requests to replay: left_out = {{source, unit, total, count, reasons = {{why, count,
--- first_line}}}} counts them; nil where there are none.
---@param opened userdata
---@return table
function trace.describe(opened) end

return trace
