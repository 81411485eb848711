-- What engines and llm-d's picker call their load in Prometheus.
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"

local engine_metrics = {}

local assumed = "vllm"

--- Requests in the flow control of the picker, and those that it got.
-- llm-d-router 0.9 pkg/epp/metrics/llm_d_router_metrics.go
engine_metrics.held = "llm_d_epp_flow_control_queue_size"
engine_metrics.arrivals = "llm_d_epp_request_total"

--- The names of an engine, {waiting, running, kv_used_frac}; and a comment where the scenario names none.
function engine_metrics.of(format, engine)
  local names = catalogue.of(engine or assumed).prometheus
  if not names then core.fail("--write %s: what %s calls its load in Prometheus is not known", format, engine) end
  return names, not engine and "the scenario names no engine: names of metrics are those of " .. assumed or nil
end

return engine_metrics
