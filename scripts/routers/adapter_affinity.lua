--- A replica that has the adapter of the request in a slot: of these the one with the fewest outstanding requests.
--- Where none has it, or all of them are too far ahead of the least loaded replica, that one.
local policy = require "rooflua.policy"

---@class routers.AdapterAffinity: rooflua.Router
---@field most_ahead integer
local AdapterAffinity = policy.define {
  name = "adapter_affinity",
  doc = "A replica with the adapter of the request in a slot, else that with the fewest outstanding requests.",
  source = "llm-d lora-affinity-scorer: replicas that run the adapter come first",
  signals = { "has_adapter", "outstanding" },
  params = {
    most_ahead = { default = 0, unit = "requests", min = 0, integer = true,
      source = "none: llm-d adds scores of load instead",
      doc = "A replica with the adapter that has so many outstanding requests more than the least loaded one does not "
        .. "count; 0: all count." },
  },
}

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function AdapterAffinity:route(request, replicas)
  local least = replicas.least_outstanding
  if not request.adapter then return least end
  local chosen, fewest
  local most = self.most_ahead > 0 and replicas[least].outstanding + self.most_ahead or math.huge
  for i = 1, #replicas do
    local each = replicas[i]
    local load = each.outstanding
    if each.has_adapter and load < most and (fewest == nil or load < fewest) then chosen, fewest = i, load end
  end
  return chosen or least
end

return AdapterAffinity
