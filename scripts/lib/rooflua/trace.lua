--- Recorded requests as a native stream.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"

local trace = {}

--- @param path string a file beside the scenario or in the working directory:
---   BLIS TraceV2, Azure 2023, Mooncake, BurstGPT, plain CSV or JSONL, our per-request CSV
--- @param format string the name of a format; "" recognises it by the columns
--- @param limit number only the first so many; 0 = all
--- @param sort boolean accept rows that are not in order of arrival
--- @param time_scale number multiplies arrival times
--- @param max_output_tokens integer|string|nil what requests declare, as in arrivals.limit
--- @param hash_block_tokens integer|nil how many tokens an id of hash_ids stands for
function trace.open(path, format, limit, sort, time_scale, max_output_tokens, hash_block_tokens)
  if path == nil or path == "" then
    core.fail 'workload.path: is missing; expected a recorded trace: require "workloads.trace" { path = "mine.csv" }'
  end
  if max_output_tokens == "exact" then max_output_tokens = -1 end
  path = files.find(path, "workload: path", "file")
  return native.trace_open(path, format or "", limit or 0, sort or false, time_scale or 1,
    max_output_tokens or 0, hash_block_tokens or 512)
end

--- An opened trace: {file, format, rows, requests, left_out}. `rows` counts every row that was read. Rows that are no
--- requests to replay are in left_out = {{source, unit, total, count, reasons = {{why, count, first_line}}}}, which is
--- nil where there are none.
function trace.describe(opened)
  return native.trace_describe(opened)
end

return trace
