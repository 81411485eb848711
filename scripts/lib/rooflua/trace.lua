--- Recorded requests as a native stream.
local native = require "rooflua.native"
local files = require "rooflua.files"

local trace = {}

--- @param path string a file beside the scenario or in the working directory:
---   BLIS TraceV2, Azure 2023, Mooncake, BurstGPT, plain CSV or JSONL, our per-request CSV
--- @param format string "" tells it by the columns
--- @param limit number only the first so many; 0 = all
--- @param sort boolean accept rows that are not in order of arrival
--- @param time_scale number multiplies arrival times
function trace.open(path, format, limit, sort, time_scale)
  path = files.find(path, "workload: path", "file")
  return native.trace_open(path, format or "", limit or 0, sort or false, time_scale or 1)
end

return trace
