-- Spans of requests that vLLM exports to OpenTelemetry, as OTLP in JSON: a batch of spans per line, or one document.
-- Source: github.com/vllm-project/vllm, vllm/tracing (span llm_request); opentelemetry.io, OTLP 1.0, JSON encoding
--
-- The engine measures: its times have no network and no HTTP server. Where prefill and decode run in two engines, each
-- has a span of the request, and the time to first token of the decode engine begins after the remote prefill.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local otlp = {}
local fail = core.fail

local span_name = "llm_request"
local failed_status = 2

--- {key = value}: OTLP writes {key, value = {intValue = "12"}}, and whole numbers as text.
function otlp.attributes(where, owner)
  local out = {}
  for _, each in ipairs(fields.list(where, owner, "attributes")) do
    local value = fields.at(each, "value.doubleValue") or tonumber(fields.at(each, "value.intValue"))
      or fields.at(each, "value.stringValue")
    out[tostring(fields.at(each, "key"))] = value
  end
  return out
end

local function number_of(where, attributes, name, most)
  local value = attributes[name]
  if type(value) ~= "number" or not (value >= 0 and value <= most) then
    fail("%s: %s: expected a number from 0 to %g, found %s", where, name, most, value == nil and "nothing"
      or core.describe(value))
  end
  return value
end

local function request_of(where, span)
  local attributes, start_ns = otlp.attributes(where, span), tonumber(fields.at(span, "startTimeUnixNano"))
  if not start_ns then fail("%s: startTimeUnixNano: expected nanoseconds since 1970", where) end
  local request = { start_ns = start_ns, id = attributes["gen_ai.request.id"],
    failed = fields.at(span, "status.code") == failed_status }
  if request.failed then return request end
  request.prompt_tokens = number_of(where, attributes, "gen_ai.usage.prompt_tokens", fields.most_tokens)
  request.output_tokens = number_of(where, attributes, "gen_ai.usage.completion_tokens", fields.most_tokens)
  request.ttft_s = number_of(where, attributes, "gen_ai.latency.time_to_first_token", 1e6)
  request.e2e_s = number_of(where, attributes, "gen_ai.latency.e2e", 1e6)
  return fields.in_order(where, request)
end

--- Whether the service that sent the first spans says that it simulates.
local function is_simulated(batch)
  local resource = fields.list(batch.where, batch.document, "resourceSpans")[1]
  if type(resource) ~= "table" or type(resource.resource) ~= "table" then return false end
  return otlp.attributes(batch.where, resource.resource)["service.name"] == fields.simulated
end

--- Calls `visit(where, span)` for every span of a request; returns the names of all other spans.
local function spans_of(batches, visit)
  local others = {}
  for _, batch in ipairs(batches) do
    for _, resource in ipairs(fields.list(batch.where, batch.document, "resourceSpans")) do
      for _, scope in ipairs(fields.list(batch.where, resource, "scopeSpans")) do
        for i, span in ipairs(fields.list(batch.where, scope, "spans")) do
          local name = fields.at(span, "name")
          if name == span_name then
            visit(("%s: span %d"):format(batch.where, i), span)
          else
            others[tostring(name)] = true
          end
        end
      end
    end
  end
  return others
end

--- @param batches table list of {where, document}
function otlp.read(path, batches)
  local requests, seen, first_ns = {}, {}, math.huge
  local others = spans_of(batches, function(where, span)
    local request = request_of(where, span)
    if request.id and seen[request.id] then
      fail("%s: request '%s' has two spans: prefill and decode run in two engines, and the time to first token of the "
        .. "decode engine begins after the remote prefill; measure at the client, or use the file as a trace", where,
        request.id)
    end
    if request.id then seen[request.id] = true end
    requests[#requests + 1], first_ns = request, math.min(first_ns, request.start_ns)
  end)
  if #requests == 0 then
    local names = core.sorted_keys(others)
    fail("%s: no data: no span is called %s%s", path, span_name, #names > 0 and "; found "
      .. core.join(names, ", ", 1, math.min(#names, 5)) or "")
  end
  for _, each in ipairs(requests) do each.arrival_s, each.start_ns = (each.start_ns - first_ns) / 1e9, nil end
  local note = is_simulated(batches[1]) and fields.simulated_note
    or "times are the engine's: without network and HTTP server"
  return { { requests = requests, notes = { note } } }
end

return otlp
