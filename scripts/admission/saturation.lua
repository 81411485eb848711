--- Refuses or holds requests while the replicas are saturated.
local policy = require "rooflua.policy"
local queue = require "admission.shared.queue"

---@class admission.Saturation: rooflua.Admission
---@field limit number
---@field shed_from integer
---@field full string
local Saturation = policy.define {
  name = "saturation",
  doc = "While the mean over replicas of max(waiting / queue_threshold, KV in use / kv_threshold) is at the limit, "
    .. "requests of low priority are refused or held.",
  source = "kubernetes-sigs/gateway-api-inference-extension 1.0 to 1.2 pkg/epp/saturationdetector and requestcontrol "
    .. "(admission refuses sheddable requests while saturated); inference-sim sim/admission.go reproduces it",
  signals = { "waiting", "kv_used_frac" },
  params = queue.with({
    limit = { default = 1, unit = "1", min = 0, doc = "Saturation from which on requests do not pass.",
      source = "gateway-api-inference-extension: saturated from 1 on" },
    shed_from = { default = 0, integer = true,
      doc = "Requests with a lower priority number than this pass in any case." },
    full = { default = "reject", values = { "reject", "hold" },
      doc = "What happens to the others: they are refused, or held until the saturation is below the limit." },
  }, nil, queue.signals, queue.clock, queue.waiting, queue.order),
  presets = {
    -- Sheddable are requests of a priority below that of a request that says none.
    gaie = { shed_from = 1, staleness_s = 0.05 },
  },
}

---@param request rooflua.Request
---@param view rooflua.GateView
function Saturation:admit(request, view)
  if request.priority < self.shed_from then return "pass" end
  if view.saturation < self.limit and view.held == 0 then return "pass" end
  return self.full
end

---@param view rooflua.GateView
function Saturation:next(_, view) return view.saturation < self.limit end

return Saturation
