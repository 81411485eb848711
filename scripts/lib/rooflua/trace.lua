--- Recorded requests as a native stream.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"

local trace = {}

--- @param path string a file beside the scenario or in the working directory:
---   BLIS TraceV2, Azure 2023, Mooncake, BurstGPT, AIPerf, OTLP, results of vllm bench serve --save-detailed, plain
---   CSV or JSONL, our per-request CSV; in any Unicode encoding, and packed with gzip or not
--- @param format string the name of a format; "" recognises it by the columns
--- @param limit number only the first so many; 0 = all
--- @param sort boolean accept rows that are not in order of arrival
--- @param time_scale number multiplies arrival times
--- @param max_output_tokens integer|string|nil what requests declare, as in arrivals.limit
--- @param hash_block_tokens integer|nil how many tokens an id of hash_ids stands for
--- @param time_unit string|nil the unit of arrivals: "s", "ms", "us" or "ns"; nil or "": by the name of their column,
---   else inferred from the stamps, with a note
--- @param run string|nil which result of a file of several: its number or name
function trace.open(path, format, limit, sort, time_scale, max_output_tokens, hash_block_tokens, time_unit, run)
  if path == nil or path == "" then
    core.fail 'workload.path: is missing; expected a recorded trace: require "workloads.trace" { path = "mine.csv" }'
  end
  if max_output_tokens == "exact" then max_output_tokens = -1 end
  path = files.find(path, "workload: path", "file")
  return native.trace_open(path, format or "", limit or 0, sort or false, time_scale or 1,
    max_output_tokens or 0, hash_block_tokens or 512, time_unit or "", run and tostring(run) or "")
end

--- An opened trace: {file, format, rows, requests, left_out, notes}. `notes` are sentences, as on the unit of time that
--- was inferred. `rows` counts every row that was read. Rows that are no
--- requests to replay are in left_out = {{source, unit, total, count, reasons = {{why, count, first_line}}}}, which is
--- nil where there are none.
function trace.describe(opened)
  return native.trace_describe(opened)
end

--- The requests of an opened trace as a workload returns them: the trace itself, whose rows never become Lua values, or
--- where some of its rows have images, sounds or videos a table that gives one row after the other.
function trace.requests(opened)
  local about = trace.describe(opened)
  if not about.has_items then return opened end
  local left = about.left_out and about.left_out[1]
  local reasons = {}
  for _, each in ipairs(left and left.reasons or {}) do reasons[each.why] = each.count end
  local row = 0
  return { sends_items = true, shares_content = true, classes = #about.classes > 0 and about.classes or nil,
    notes = about.notes, left_out = left and { source = left.source, unit = left.unit, total = left.total,
      reasons = reasons } or nil,
    next = function()
      row = row + 1
      local one = native.trace_next(opened, row)
      if one then return one[1], one[2], one[3], one[4] end
    end }
end

--- Rounds of recorded requests: lists of the tokens that landed in each round, one list per row of a CSV whose column
--- `rounds` has them, separated by spaces.
--- @param path string a file beside the scenario or in the working directory
function trace.rounds(path)
  path = files.find(path, "acceptance: path", "file")
  local out, read = {}, native.csv_read(path)
  for i, row in ipairs(read.rows or read) do
    local list = {}
    for word in tostring(row.rounds or ""):gmatch "%S+" do
      local tokens = tonumber(word)
      if not tokens or tokens < 1 or tokens % 1 ~= 0 then
        core.fail("%s: row %d: rounds: expected whole numbers above 0, separated by spaces; found '%s'", path, i, word)
      end
      list[#list + 1] = tokens
    end
    if #list == 0 then core.fail("%s: row %d: rounds: is missing", path, i) end
    out[i] = list
  end
  if #out == 0 then core.fail("%s: has no rows", path) end
  return out
end

return trace
