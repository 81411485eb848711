-- The requests of a run as OTLP in JSON, a batch of spans per line: vLLM's span `llm_request`.
-- Source: github.com/vllm-project/vllm, vllm/tracing; opentelemetry.io, OTLP 1.0, JSON encoding
--
-- The service is "rooflua (simulated)". A span begins when the request comes and ends with its last token. Where the
-- scenario has time outside of the engine (frontend), it is part of the times, and the time in prefill is left out,
-- because it cannot be separated from it. Where prefill and decode are split, the request still has one span.
local json = require "rooflua.json"
local fields = require "rooflua.formats.fields"
local rows = require "rooflua.formats.rows"

local otlp = {}

local spans_per_line = 512
local server_kind, error_status = 2, 2

local function text(key, value) return { key = key, value = { stringValue = value } } end
local function whole(key, value) return { key = key, value = { intValue = ("%.0f"):format(value) } } end
local function real(key, value) return value and { key = key, value = { doubleValue = value } } end

local function attributes_of(request, facts)
  local out = json.array { text("gen_ai.request.id", ("request-%d"):format(request.id)),
    text("gen_ai.response.model", facts.model or "unknown"),
    whole("gen_ai.usage.prompt_tokens", request.prompt_tokens),
    whole("gen_ai.usage.completion_tokens", request.output_tokens) }
  local queue_s, first_s, all_s = request.queue_s, request.ttft_s, request.e2e_s
  local prefill_s = not facts.frontend and first_s and queue_s and first_s - queue_s or nil
  for _, each in ipairs { { "time_in_queue", queue_s or false }, { "time_to_first_token", first_s or false },
    { "time_in_model_prefill", prefill_s or false }, { "time_in_model_decode", all_s and all_s - first_s or false },
    { "e2e", all_s or false } } do
    out[#out + 1] = real("gen_ai.latency." .. each[1], each[2]) or nil
  end
  return out
end

local function span_of(request, facts)
  local id = ("%016x"):format(request.id + 1)
  return { traceId = facts.uid:sub(1, 16) .. id, spanId = id, name = "llm_request", kind = server_kind,
    startTimeUnixNano = rows.stamp_ns(request.arrival_s), endTimeUnixNano = rows.stamp_ns(rows.end_s(request)),
    attributes = attributes_of(request, facts),
    status = request.completed and {} or { code = error_status, message = request.outcome } }
end

local function batch_of(spans, facts)
  return { resourceSpans = json.array { {
    resource = { attributes = json.array { text("service.name", fields.simulated),
      text("service.version", facts.build) } },
    scopeSpans = json.array { { scope = { name = "rooflua" }, spans = spans } } } } }
end

--- @param facts table {uid (16 hexadecimal digits or more), build, model, frontend}
--- @param requests table of rows.read
--- @return table a document per line
function otlp.lines(_, facts, requests)
  local out, spans = json.array {}, json.array {}
  for i, each in ipairs(requests) do
    spans[#spans + 1] = span_of(each, facts)
    if #spans == spans_per_line or i == #requests then
      out[#out + 1], spans = batch_of(spans, facts), json.array {}
    end
  end
  return out
end

return otlp
