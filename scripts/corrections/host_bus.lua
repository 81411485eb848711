--- All-reduces of GPUs that reach each other over the bus of their host: every rank makes a small one longer, where
--- GPUs with links of their own hardly notice how many they are. Those that a table of the GPU has stay as they are.
---
---     time = modelled time + max(0, ranks x rank_s - what a message without bytes takes over links)
---     time = of NCCL's cost model (more than two ranks), of another GPU's table
---            + ranks x (staged_rank_s - rank_s), where peers do not copy to each other
local policy = require "rooflua.policy"

---@class corrections.HostBus
---@field rank_s number
---@field staged_rank_s number
---@field peers string
local HostBus = policy.define {
  name = "host_bus",
  doc = "Makes modelled all-reduces over PCIe longer by the time that each rank takes.",
  source = "NCCL on L40S and RTX PRO 6000 (bench_data, collective tables); NCCL issues 1530, 1439",
  params = {
    rank_s = { default = 3.1e-6, unit = "s", min = 0, max = 1e-3, doc = "Time of a rank in a small message.",
      source = "tables of L40S and RTX PRO 6000, 512 bytes to 4 KiB: 6.0 to 6.4, 12.4 to 13.5 and 22.6 to 25.5 us with "
        .. "2, 4 and 8 ranks" },
    staged_rank_s = { default = 5.9e-6, unit = "s", min = 0, max = 1e-3, doc = "The same through the host's memory.",
      source = "eight RTX 4090 and 3090, 8 bytes: 41 and 54 us (NCCL issues 1530, 1439)" },
    peers = { default = "auto", values = { "auto", "yes", "no" },
      doc = "Whether GPUs copy to each other over the bus; auto: as the GPU's peer_copies says.",
      source = "hardware.toml, peer_copies" },
  },
}

--- It never makes a price lower, so that lower bounds of plans hold.
HostBus.lengthens = true
HostBus.reads_work = { "all_reduce" } -- of other operations shape, flop, bytes, mfu and bound are not made

local unmeasured = { modelled = true, assumed = true }

function HostBus:bind(context)
  local constants = context.hardware.constants
  self.over_links = { constants.all_reduce_2_s, constants.all_reduce_4_small_s, constants.all_reduce_8_small_s }
  self.shares_bus = context.hardware.shares_bus -- where NCCL's model answers
  local is_staged = self.peers == "no" or self.peers == "auto" and not context.hardware.peer_copies
  self.each_s = is_staged and self.staged_rank_s or self.rank_s
  self.more_s = math.max(0, self.each_s - self.rank_s)
  self.ranks = {}  -- by name of an operation
end

function HostBus:ranks_of(op)
  local ranks = self.ranks[op.name]
  if ranks == nil then
    ranks = tonumber(op.shape:match "ranks=(%d+)")
    self.ranks[op.name] = ranks
  end
  return ranks
end

function HostBus:op(op, time_s)
  if op.kind ~= "all_reduce" then return time_s end
  local ranks = self:ranks_of(op)
  local is_modelled = unmeasured[op.evidence]
  if op.evidence == "stand_in" or is_modelled and ranks > 2 and self.shares_bus then
    return time_s + ranks * self.more_s -- the ranks themselves are in that time
  end
  if not is_modelled then return time_s end
  local linked_s = self.over_links[ranks <= 2 and 1 or ranks <= 4 and 2 or 3]
  return time_s + math.max(0, ranks * self.each_s - linked_s)
end

return HostBus
