-- The requests of a simulated run, from the CSV that the engine writes as they end.
local native = require "rooflua.native"

local rows = {}

--- Stamps of files count from this second of 1970, because a simulated run has no date, and OpenTelemetry reads 0 as
--- unknown.
rows.first_stamp_s = 1

--- The requests in the order in which they ended: {id, session, outcome, completed, unended, arrival_s, prompt_tokens,
--- output_tokens, queue_s, ttft_s, tpot_s, e2e_s}; times only as far as a request got. `unended`: the run was stopped
--- before its end.
function rows.read(path)
  local list = native.csv_read(path)
  for _, each in ipairs(list) do
    each.completed, each.unended = each.outcome == "completed", each.outcome == "unfinished"
  end
  return list
end

--- Nanoseconds since 1970 of a time of the run, as digits.
function rows.stamp_ns(time_s) return ("%.0f"):format((rows.first_stamp_s + time_s) * 1e9) end

--- When the last token of a request landed; of one that failed, when it came.
function rows.end_s(request) return request.arrival_s + (request.e2e_s or 0) end

return rows
