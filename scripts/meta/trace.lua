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
---@return userdata
function trace.open(path, format, limit, sort, time_scale, max_output_tokens) end

return trace
