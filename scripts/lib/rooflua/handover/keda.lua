-- The autoscaler `keda` as a ScaledObject with a trigger of Prometheus.
-- Source: kedacore/keda 2.0 on, apis/keda/v1alpha1/scaledobject_types.go; keda.sh/docs, scalers/prometheus (threshold,
-- activationThreshold since 2.8, query, serverAddress)
local behavior = require "rooflua.handover.behavior"
local engine_metrics = require "rooflua.handover.engine_metrics"
local native = require "rooflua.native"
local pool = require "rooflua.handover.pool"
local yaml = require "rooflua.text.yaml"

local keda = {}

local format = "keda"

--- Where Prometheus of the chart kube-prometheus-stack is: nothing in a scenario says it.
local server = "http://prometheus-operated.monitoring.svc:9090"

--- What the policy's metric is as PromQL. Of a series that is not there the sum is nothing, and counts as 0.
local function query_of(metric, names, window_s)
  local function sum(series) return ("(sum(%s) or vector(0))"):format(series) end
  if metric == "arrivals" then return ("sum(rate(%s[%ds]))"):format(engine_metrics.arrivals, window_s) end
  local parts = { sum(names.waiting), sum(engine_metrics.held) }
  if metric == "outstanding" then table.insert(parts, 1, sum(names.running)) end
  return table.concat(parts, " + ")
end

--- A document of yaml.text.
function keda.document(own, given, target, engine)
  local names, assumed = engine_metrics.of(format, engine)
  local rules, comments = behavior.of(given)
  local metric, window_s = given:take "metric", math.max(60, math.ceil(given:take "interval_s"))
  if metric == "kv_used_frac" or metric == "backlog_s" then
    given:fail("metric = \"%s\" has no place in the file: its query differs between engines and releases", metric)
  end
  if #(given:take "triggers" or {}) > 0 then
    given:fail("triggers have no place in the file: it has one trigger, `metric`")
  end
  given:pass "prefill_tokens_per_s" -- of backlog_s alone
  comments[#comments + 1] = "serverAddress is that of kube-prometheus-stack; the query counts all replicas that this "
    .. "Prometheus sees: add labels where it sees others"
  comments[#comments + 1] = assumed
  local document = { comments = comments, map = {
    { "apiVersion", "keda.sh/v1alpha1" }, { "kind", "ScaledObject" },
    { "metadata", { { "name", target } } },
    { "spec", {
      { "scaleTargetRef", { { "apiVersion", "apps/v1" }, { "kind", "Deployment" }, { "name", target } } },
      { "pollingInterval", given:whole("polling_s", 1) }, { "cooldownPeriod", given:whole "cooldown_s" },
      { "minReplicaCount", own.min }, { "maxReplicaCount", own.max },
      { "advanced", { { "horizontalPodAutoscalerConfig", { { "behavior", rules } } } } },
      { "triggers", yaml.list { { { "type", "prometheus" }, { "metricType", "AverageValue" }, { "metadata", {
        { "serverAddress", server }, { "query", query_of(metric, names, window_s) },
        { "threshold", native.number_text(given:take "target") },
        { "activationThreshold", native.number_text(given:take "activation") },
      } } } } },
    } } } }
  given:finish()
  return document
end

function keda.text(facts)
  local own, given = pool.of(format, facts.policies, { keda = true })
  return yaml.text { keda.document(own, given, pool.deployment(facts.policies, own), facts.policies.engine) }
end

return keda
