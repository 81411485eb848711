--- All-reduces and gathers over several nodes: what is reduced inside of each node crosses the network as well.
local policy = require "rooflua.policy"

---@class corrections.Network
---@field latency_s number
---@field single_latency_s number
local Network = policy.define {
  name = "network",
  doc = "Adds to each all-reduce and gather over several nodes the way between them: the GPUs of a node divide the "
    .. "message, and each reduces its part with those of the other nodes over its own network card.",
  source = "arithmetic of a hierarchical all-reduce: 2 (n-1)/n of the part, n nodes; of a gather half of it",
  params = {
    latency_s = {
      default = 57e-6, unit = "s", min = 0, max = 1,
      source = "all_reduce_perf on two nodes of eight H100 (NCCL issue 1453): 62 us at 128 bytes, where NCCL itself "
        .. "estimates 25; 5 us of it are in the node",
      doc = "Time of a message without that of its bytes.",
    },
    single_latency_s = {
      default = 25e-6, unit = "s", min = 0, max = 1,
      source = "nodes of one GPU, 8 bytes to 16 KiB: 19 to 20 us (A100, InfiniBand HDR, nccl-tests issue 150), 30 to "
        .. "35 (GB10, RoCE, dgx-spark-playbooks issue 103)",
      doc = "The same where a node has one rank: nothing is reduced inside of it.",
    },
  },
}

--- It never makes a price lower, so that lower bounds of plans hold.
Network.lengthens = true
Network.reads_work = { "all_reduce" } -- of other operations shape, flop, bytes, mfu and bound are not made

function Network:bind(context)
  self.hardware, self.ways = context.hardware, {}
  local ranks = context.deployment.tp * context.deployment.dp
  local nodes = math.ceil(ranks / self.hardware.domain_gpus)
  if nodes > 1 and self.hardware.network_bytes_per_s == 0 then
    error(("corrections.network: %d ranks on nodes of %d GPUs, and %s states no network (network_gb_per_s in "
      .. "hardware.toml)"):format(ranks, self.hardware.domain_gpus, self.hardware.name), 0)
  end
end

--- {s_per_byte, is_single} of an operation between nodes; false if its ranks are in one node. Ranks of attention are
--- neighbours, so that an operation within one of them stays in its node if it fits there.
function Network:way_of(op)
  local ranks = tonumber(op.shape:match "ranks=(%d+)")
  local nodes = math.ceil(ranks / self.hardware.domain_gpus)
  if nodes == 1 then return false end
  local times = op.name:find "gather$" and 1 or 2  -- a gather only collects, a reduction also spreads its result
  return { s_per_byte = times * (nodes - 1) / nodes / (ranks / nodes) / self.hardware.network_bytes_per_s,
    is_single = nodes == ranks }
end

function Network:op(op, time_s)
  if op.kind ~= "all_reduce" then return time_s end
  local way = self.ways[op.name]
  if way == nil then
    way = self:way_of(op)
    self.ways[op.name] = way
  end
  if not way then return time_s end
  if way.is_single then return math.max(time_s, self.single_latency_s + op.bytes * way.s_per_byte) end
  return time_s + self.latency_s + op.bytes * way.s_per_byte
end

return Network
