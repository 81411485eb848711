-- The autoscaler `hpa` as a HorizontalPodAutoscaler.
-- Source: kubernetes 1.23 on, autoscaling/v2, staging/src/k8s.io/api/autoscaling/v2/types.go; names of metrics as
-- prometheus-adapter gives them in vllm-project/production-stack helm/values.yaml (":" becomes "_")
local behavior = require "rooflua.handover.behavior"
local engine_metrics = require "rooflua.handover.engine_metrics"
local pool = require "rooflua.handover.pool"
local yaml = require "rooflua.text.yaml"

local hpa = {}

local format = "hpa"

--- A document of yaml.text.
--- @param own table of pool.of: {min, max}
--- @param given table settings of the autoscaler
--- @param target string name of the Deployment
function hpa.document(own, given, target, engine)
  local metric = given:take "metric"
  local names, assumed = engine_metrics.of(format, engine)
  if not names[metric] then
    given:fail("metric = \"%s\" has no place in the file: no engine reports it as one metric of a pod; \"waiting\" and "
      .. "\"running\" are, and the autoscaler keda has a sum of both", metric)
  end
  local series = names[metric]
  local adapted = series:gsub(":", "_")
  local rules, comments = behavior.of(given)
  table.insert(comments, 1, ("the metric %s is the series %s; it comes from an adapter such as prometheus-adapter")
    :format(adapted, series))
  comments[#comments + 1] = assumed
  if own.min == 0 then comments[#comments + 1] = "an HPA keeps one replica at least; keda can scale to none" end
  local document = { comments = comments, map = {
    { "apiVersion", "autoscaling/v2" }, { "kind", "HorizontalPodAutoscaler" },
    { "metadata", { { "name", target } } },
    { "spec", {
      { "scaleTargetRef", { { "apiVersion", "apps/v1" }, { "kind", "Deployment" }, { "name", target } } },
      { "minReplicas", math.max(1, own.min) }, { "maxReplicas", own.max },
      { "metrics", yaml.list { { { "type", "Pods" }, { "pods", {
        { "metric", { { "name", adapted } } },
        { "target", { { "type", "AverageValue" }, { "averageValue", behavior.quantity(given:take "target") } } },
      } } } } },
      { "behavior", rules },
    } } } }
  given:finish()
  return document
end

function hpa.text(facts)
  local own, given = pool.of(format, facts.policies, { hpa = true })
  return yaml.text { hpa.document(own, given, pool.deployment(facts.policies, own), facts.policies.engine) }
end

return hpa
