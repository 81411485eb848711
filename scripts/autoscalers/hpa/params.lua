--- Parameters that an HPA has, alone or behind KEDA.
local params = {}

local source = "kubernetes 1.23 on: pkg/apis/autoscaling/v2/defaults.go, "
  .. "pkg/controller/podautoscaler/config/v1alpha1/defaults.go"

--- @param own table further parameters, in place of these where they have the same name
function params.with(own)
  local out = {
    interval_s = { default = 15, unit = "s", min = 0, exclusive_min = true, source = source,
      doc = "It is asked so often (sync period)." },
    tolerance = { default = 0.1, unit = "1", min = 0, source = source,
      doc = "Nothing changes while the metric is off its target by no more than this part of it." },
    down_window_s = { default = 300, unit = "s", min = 0, max = 3600, source = source,
      doc = "The largest recommendation of so long holds (scaleDown.stabilizationWindowSeconds)." },
    up_window_s = { default = 0, unit = "s", min = 0, max = 3600, source = source,
      doc = "The smallest recommendation of so long holds (scaleUp.stabilizationWindowSeconds)." },
    up_pods = { default = 4, unit = "replicas", min = 0, source = source,
      doc = "So many may come in a period, or up_percent, whichever is more." },
    up_percent = { default = 100, unit = "%", min = 0, source = source, doc = "The same as a part of the replicas." },
    down_percent = { default = 100, unit = "%", min = 0, max = 100, source = source,
      doc = "Such a part may go in a period." },
    period_s = { default = 15, unit = "s", min = 0, exclusive_min = true, max = 1800, source = source,
      doc = "Of up_pods, up_percent and down_percent." },
  }
  for name, param in pairs(own) do out[name] = param end
  return out
end

return params
