--- All-reduces over several nodes: what is reduced inside of each node crosses the network as well.
local policy = require "rooflua.policy"

---@class corrections.Network
---@field latency_s number
local Network = policy.define {
  name = "network",
  doc = "Adds to each all-reduce over several nodes the way between them: the GPUs of a node divide the message, and "
    .. "each reduces its part with those of the other nodes over its own network card.",
  source = "arithmetic of a hierarchical all-reduce: 2 (n-1)/n of the part, n nodes",
  params = {
    latency_s = {
      default = 15e-6, unit = "s", min = 0, max = 1, source = "assumed: a message there and back over a network",
      doc = "What the way takes beside its bytes.",
    },
  },
}

function Network:bind(context)
  local hardware, deployment = context.hardware, context.deployment
  local ranks = deployment.tp * deployment.dp
  self.nodes = math.ceil(ranks / hardware.domain_gpus)
  if self.nodes == 1 then return end
  if hardware.network_bytes_per_s == 0 then
    error(("corrections.network: %d ranks on nodes of %d GPUs, and %s states no network (network_gb_per_s in "
      .. "hardware.toml)"):format(ranks, hardware.domain_gpus, hardware.name), 0)
  end
  local part = 2 * (self.nodes - 1) / self.nodes / (ranks / self.nodes)
  self.s_per_byte = part / hardware.network_bytes_per_s
end

function Network:op(op, time_s)
  if self.nodes == 1 or op.kind ~= "all_reduce" then return time_s end
  return time_s + self.latency_s + op.bytes * self.s_per_byte
end

return Network
