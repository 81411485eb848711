-- How fast an HPA may scale (autoscaling/v2, HorizontalPodAutoscalerBehavior), alone or behind KEDA.
-- Source: kubernetes 1.23 on, staging/src/k8s.io/api/autoscaling/v2/types.go; scaleUp.tolerance and scaleDown.tolerance
-- 1.33 on (KEP-4951)
local yaml = require "rooflua.text.yaml"

local behavior = {}

local default_tolerance, default_interval_s = 0.1, 15

--- A quantity of Kubernetes: whole, or in thousandths, of which it has at most nine digits.
function behavior.quantity(value)
  if value % 1 == 0 and value < 1e15 then return ("%d"):format(value) end
  local milli = value * 1000
  if math.abs(milli - math.floor(milli + 0.5)) < 1e-9 * milli then return ("%dm"):format(math.floor(milli + 0.5)) end
  return (("%.9f"):format(value):gsub("0+$", ""))
end

--- Policies whose value is above 0: Kubernetes allows no others.
local function policies_of(own, list)
  local out = yaml.list {}
  for _, each in ipairs(list) do
    local value, period_s = own:whole(each.name), own:whole("period_s", 1)
    if value > 0 then out[#out + 1] = { { "type", each.type }, { "value", value }, { "periodSeconds", period_s } } end
  end
  return out
end

local function rules(own, window, tolerance, list)
  local policies = policies_of(own, list)
  return { { "stabilizationWindowSeconds", own:whole(window) }, { "tolerance", tolerance },
    { "selectPolicy", #policies > 0 and "Max" or "Disabled" },
    { "policies", #policies > 0 and policies or nil } }
end

--- The field `behavior`, and comments for what stands elsewhere.
--- @param own table handover/settings.lua, with the parameters of autoscalers/hpa/params.lua
function behavior.of(own)
  local comments, tolerance = {}, own:take "tolerance"
  local interval_s = own:take "interval_s"
  if tolerance ~= default_tolerance then
    comments[#comments + 1] = "tolerance needs Kubernetes 1.33 or later with the feature HPAConfigurableTolerance; "
      .. "before, kube-controller-manager --horizontal-pod-autoscaler-tolerance of the whole cluster"
  end
  if interval_s ~= default_interval_s then
    comments[#comments + 1] = ("not in this file: kube-controller-manager --horizontal-pod-autoscaler-sync-period=%gs "
      .. "(interval_s)"):format(interval_s)
  end
  local written = tolerance ~= default_tolerance and behavior.quantity(tolerance) or nil
  return {
    { "scaleUp", rules(own, "up_window_s", written, { { type = "Pods", name = "up_pods" },
      { type = "Percent", name = "up_percent" } }) },
    { "scaleDown", rules(own, "down_window_s", written, { { type = "Percent", name = "down_percent" } }) },
  }, comments
end

return behavior
