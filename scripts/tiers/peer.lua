--- Pulls KV from the stores of other replicas, where that adds enough: what is near is loaded in any case, and the
--- content of peers only if it makes the loaded prefix longer by at least `min_tokens`.
local policy = require "rooflua.policy"
local VllmCpu = require "tiers.vllm_cpu"

---@class tiers.Peer: tiers.VllmCpu
---@field min_tokens integer
local Peer = policy.define {
  name = "peer",
  doc = "As vllm_cpu, and content of other replicas' stores where that adds at least min_tokens.",
  source = "vLLM docs/features/kv_offloading_usage.md, \"P2P\"; the least number of tokens is an own design",
  extends = VllmCpu,
  promote = true,
  params = {
    min_tokens = { default = 2048, unit = "tokens", min = 0, integer = true,
      doc = "Tokens that peers must add, or none is pulled.", source = "assumed" },
  },
}

---@param found rooflua.Found
---@return integer? tokens
function Peer:load(_, found)
  local near = 0
  for i = 1, #found do
    if found[i].peer then break end
    near = near + found[i].tokens
  end
  if found.tokens > near and found.tokens - near >= self.min_tokens then return self:worth(found, found.tokens) end
  if self.waits_for_pending and found.pending_tokens > 0 and near == found.tokens then return nil end
  return self:worth(found, near)
end

return Peer
