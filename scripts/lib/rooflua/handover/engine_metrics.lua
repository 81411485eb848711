-- What engines and llm-d's picker call their load in Prometheus.
local autoscalers = require "rooflua.manifests.autoscalers"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"

local engine_metrics = {}

local assumed = "vllm"

engine_metrics.held, engine_metrics.arrivals = autoscalers.held, autoscalers.arrivals

--- The names of an engine, {waiting, running, kv_used_frac}; and a comment where the scenario names none.
function engine_metrics.of(format, engine)
  local names = catalogue.of(engine or assumed).prometheus
  if not names then core.fail("--write %s: what %s calls its load in Prometheus is not known", format, engine) end
  return names, not engine and "the scenario names no engine: names of metrics are those of " .. assumed or nil
end

return engine_metrics
