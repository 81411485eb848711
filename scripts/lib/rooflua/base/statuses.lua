-- The HTTP status with which a gateway or a server answers a request that gets no tokens, by outcome. Clients decide
-- by it what they send again.
local statuses = {}

local of = {
  refused = 429, -- llm-d: flow control is at capacity, ResourceExhausted [llm-d-inference-scheduler, flow control]
  expired = 503, -- llm-d: timed out in the queue, ServiceUnavailable; some releases answer 429 [the same]
  never_admitted = 503, -- as one that waits in the queue of flow control until a timeout
  rejected = 503, -- SGLang: the request queue is full [sglang srt/managers/scheduler.py, max_queued_requests]
  replica_lost = 503, -- a proxy without an upstream, before the first token [RFC 9110, 15.6.4]
  starved = 500, -- an engine that gives up
  exceeds_kv_cache = 400, -- vLLM, SGLang: a prompt that is too long is a bad request
  exceeds_max_model_len = 400,
}

--- nil: the client itself ended the request, and there was no answer.
---@param outcome string
function statuses.of(outcome) return of[outcome] end

--- The outcomes that have a status, sorted.
function statuses.outcomes()
  local out = {}
  for outcome in pairs(of) do out[#out + 1] = outcome end
  table.sort(out)
  return out
end

return statuses
