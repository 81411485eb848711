-- The requests of a run as `profile_export.jsonl` of AIPerf: a line per request, in the order in which they end.
-- Source: github.com/ai-dynamo/aiperf, docs/tutorials/working-with-profile-exports.md, docs/metrics-reference.md
--
-- The worker of every line is "rooflua (simulated)". A conversation is a session of the workload; other requests have
-- none, because the file cannot say which part of a prompt requests share.
local json = require "rooflua.json"
local fields = require "rooflua.formats.fields"
local rows = require "rooflua.formats.rows"

local aiperf = {}

local function tokens(count) return { value = count, unit = "tokens" } end
local function milliseconds(time_s) return { value = time_s * 1e3, unit = "ms" } end

local function metrics_of(request)
  if not request.completed then return { error_isl = tokens(request.prompt_tokens) } end
  local out = { input_sequence_length = tokens(request.prompt_tokens),
    output_sequence_length = tokens(request.output_tokens), output_token_count = tokens(request.output_tokens),
    time_to_first_token = milliseconds(request.ttft_s), request_latency = milliseconds(request.e2e_s) }
  local gap_s = request.tpot_s
  if gap_s then
    out.inter_token_latency = milliseconds(gap_s)
    if gap_s > 0 then out.output_token_throughput_per_user = { value = 1 / gap_s, unit = "tokens/sec/user" } end
  end
  return out
end

local function error_of(request)
  if request.completed then return json.null end
  return { code = request.unended and 499 or 500, type = request.outcome,
    message = "the request was " .. request.outcome .. " in the simulation" }
end

--- Stamps of AIPerf are numbers, and one of a run is below 2^53 ns.
local function stamp_ns(time_s) return tonumber(rows.stamp_ns(time_s)) end

local function line_of(request, turns)
  local session = request.session
  local turn = session and (turns[session] or 0) or 0
  if session then turns[session] = turn + 1 end
  local end_ns = stamp_ns(rows.end_s(request))
  return {
    metadata = { session_num = session or request.id, x_request_id = ("request-%d"):format(request.id),
      x_correlation_id = session and ("session-%d"):format(session) or ("request-%d"):format(request.id),
      conversation_id = session and ("session-%d"):format(session) or json.null, turn_index = turn,
      request_start_ns = stamp_ns(request.arrival_s), request_ack_ns = json.null, request_end_ns = end_ns,
      worker_id = fields.simulated, record_processor_id = fields.simulated, benchmark_phase = "profiling",
      was_cancelled = request.unended, cancellation_time_ns = request.unended and end_ns or json.null },
    metrics = metrics_of(request), error = error_of(request) }
end

--- @param requests table of rows.read
--- @return table a document per line
function aiperf.lines(_, _, requests)
  local out, turns = json.array {}, {}
  for i, each in ipairs(requests) do out[i] = line_of(each, turns) end
  return out
end

return aiperf
