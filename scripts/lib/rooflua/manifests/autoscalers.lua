-- Autoscalers of Kubernetes in manifests: a HorizontalPodAutoscaler on a metric of pods, and a ScaledObject of KEDA on
-- queries of Prometheus. What of them is simulated is decided where the engine is known (applied/clusters.lua).
-- Source: kubernetes 1.23 to 1.34, staging/src/k8s.io/api/autoscaling/v2/types.go; kedacore/keda 2.0 to 2.18,
-- apis/keda/v1alpha1/scaledobject_types.go, pkg/scalers/prometheus_scaler.go
local core = require "rooflua.base.core"

local autoscalers = {}

--- Requests in the flow control of llm-d's picker, and those that it got.
-- llm-d-router 0.9 pkg/epp/metrics/llm_d_router_metrics.go
autoscalers.held = "llm_d_epp_flow_control_queue_size"
autoscalers.arrivals = "llm_d_epp_request_total"

--- A quantity of Kubernetes, "7" or "12500m", as a number; nil for others.
function autoscalers.quantity(text)
  local number, milli = (text or ""):match "^([%d.]+)(m?)$"
  return tonumber(number) and tonumber(number) / (milli == "m" and 1000 or 1) or nil
end

--- Policies of one direction as {Pods, Percent, period_s}; nil where they are none that is simulated.
local function policies_of(own, allowed)
  local out = { Pods = 0, Percent = 0 }
  local select = own:text "selectPolicy" or "Max"
  local list = own:list "policies"
  if select == "Disabled" then return out end
  for _, each in ipairs(list) do
    local kind, value, period_s = each:text "type" or "", each:count "value", each:count "periodSeconds"
    if not allowed[kind] or out[kind] ~= 0 or not value then return nil end
    if (out.period_s or period_s) ~= period_s then return nil end
    out[kind], out.period_s = value, period_s
  end
  return (select == "Max" or #list == 1) and (#list > 0 and out or {}) or nil
end

local directions = {
  { key = "scaleUp", window = "up_window_s", allowed = core.set { "Pods", "Percent" },
    params = { Pods = "up_pods", Percent = "up_percent" } },
  { key = "scaleDown", window = "down_window_s", allowed = core.set { "Percent" },
    params = { Percent = "down_percent" } },
}

local default = { period_s = 15 } -- of a direction that states none: kubernetes/api autoscaling/v2

--- Parameters of autoscalers/hpa/params.lua that `behavior` states; a sentence where it says what they cannot. Both
--- directions have one period and one tolerance there.
local function settings_of(behavior, told)
  local out, stated = {}, 0
  for _, each in ipairs(directions) do
    local own = behavior and behavior:at(each.key)
    local list = own and policies_of(own, each.allowed)
    local tolerance = own and autoscalers.quantity(own:text "tolerance")
    local is_other = list and list.period_s and (out.period_s or list.period_s) ~= list.period_s
      or tolerance and (out.tolerance or tolerance) ~= tolerance
    if own and (not list or is_other) then
      told[#told + 1] = ("%s: these policies are not simulated, and the defaults of Kubernetes hold"):format(own.path)
    elseif own then
      out[each.window] = own:count "stabilizationWindowSeconds"
      for kind, name in pairs(each.params) do out[name] = list[kind] end
      out.period_s, out.tolerance = out.period_s or list.period_s, out.tolerance or tolerance
      stated = stated + (list.period_s and 1 or 0)
    end
  end
  if stated == 1 and out.period_s ~= default.period_s then
    told[#told + 1] = ("%s: one direction states a period of %g s; it is taken for both, where Kubernetes has %g s "
      .. "for the other"):format(behavior.path, out.period_s, default.period_s)
  end
  return out
end

local function entry_of(root, about, class)
  local target = root:at("spec", "scaleTargetRef")
  local name = target and target:text "name"
  if target then target:take() end
  return { class = class, target = name, name = root:text("metadata", "name"), file = about.file, line = root:line() }
end

--- An HPA; one with several metrics, or with metrics of other kinds, has no series.
function autoscalers.hpa(root, about)
  local out, metrics = entry_of(root, about, "hpa"), root:list("spec", "metrics")
  local one = #metrics == 1 and metrics[1] or nil
  out.min, out.max = root:count("spec", "minReplicas") or 1, root:count("spec", "maxReplicas")
  out.series, out.value = one and one:text("pods", "metric", "name"), one and one:text("pods", "target", "averageValue")
  for _, each in ipairs(metrics) do each:take() end
  out.settings = settings_of(root:at("spec", "behavior"), about.told)
  about.autoscalers[#about.autoscalers + 1] = out
end

--- A ScaledObject; of a trigger that is no query of Prometheus the kind alone is read.
function autoscalers.scaled_object(root, about)
  local out = entry_of(root, about, "keda")
  out.min, out.max = root:count("spec", "minReplicaCount") or 0, root:count("spec", "maxReplicaCount") or 100
  out.settings = settings_of(root:at("spec", "advanced", "horizontalPodAutoscalerConfig", "behavior"), about.told)
  out.settings.polling_s, out.settings.cooldown_s = root:count("spec", "pollingInterval"),
    root:count("spec", "cooldownPeriod")
  out.triggers = {}
  for i, each in ipairs(root:list("spec", "triggers")) do
    out.triggers[i] = { kind = each:text "type", type = each:text "metricType" or "AverageValue",
      query = each:text("metadata", "query"), target = autoscalers.quantity(each:text("metadata", "threshold")),
      activation = autoscalers.quantity(each:text("metadata", "activationThreshold")) }
    for _, key in ipairs { "serverAddress", "metricName" } do each:text("metadata", key) end
    if each:at "authenticationRef" then each:at("authenticationRef"):take() end
  end
  about.autoscalers[#about.autoscalers + 1] = out
end

--- A term of a query without what changes no value here: labels, brackets, zero in place of nothing.
local function term_of(text)
  local before
  repeat
    before = text
    text = text:gsub("^%s+", ""):gsub("%s+$", ""):gsub("%s+or%s+vector%(0%)$", "")
    if text:find "^%b()$" then text = text:sub(2, -2) end
  until text == before
  return text
end

--- The metric of autoscalers/keda.lua that a query of Prometheus asks for; nil where it is none. The second value says
--- that no sum over replicas stands in it.
---@param names table<string, string> series of the engine: {waiting, running, kv_used_frac}
function autoscalers.metric(query, names)
  if #query > 4096 then return nil end
  local kinds, found, is_single = { [autoscalers.held] = "held" }, {}, false
  for _, metric in ipairs { "waiting", "running", "kv_used_frac" } do
    if names[metric] then kinds[names[metric]] = metric end
  end
  for part in term_of((query:gsub("%b{}", ""))):gmatch "[^+]+" do
    local term = term_of(part)
    local series = term:match "^sum%s*%(%s*([%w_:]+)%s*%)$" or term:match "^([%a_:][%w_:]*)$"
    local rate = term:match "^sum%s*%(%s*rate%s*%(%s*([%w_:]+)%s*%[%w+%]%s*%)%s*%)$"
    local kind = rate == autoscalers.arrivals and "arrivals" or series and kinds[series]
    if not kind or found[kind] then return nil end
    found[kind], is_single = true, is_single or series == term
  end
  local only = next(found)
  if (only == "arrivals" or only == "kv_used_frac") and next(found, only) == nil then return only, is_single end
  if found.arrivals or found.kv_used_frac or not found.waiting then return nil end
  return found.running and "outstanding" or "waiting", is_single
end

return autoscalers
