--- SGLang's gateway, cache-aware: while loads are balanced a prompt goes to the replica that was sent most of it; if
--- that is too little, or loads are not balanced, to the one with the least load.
---
--- The gateway's tree knows characters; here it knows blocks of tokens. It forgets what was used the longest ago, of
--- one prompt the end first.
local policy = require "rooflua.policy"

local source = "SGLang sgl-model-gateway src/policies/cache_aware.rs, tree.rs"

---@class routers.SglangCacheAware: rooflua.Router
---@field cache_threshold number
---@field balance_abs_threshold integer
---@field balance_rel_threshold number
---@field unmatched string
local SglangCacheAware = policy.define {
  name = "sglang_cache_aware",
  doc = "SGLang's gateway: the replica that was sent most of the prompt, while loads are balanced.",
  source = source,
  signals = { "outstanding", "prefix_sent_tokens", "sent_blocks" },
  params = {
    cache_threshold = { default = 0.3, unit = "1", min = 0, max = 1, source = source,
      doc = "Share of the prompt that must be matched; at this share or below it counts as not matched." },
    balance_abs_threshold = { default = 64, unit = "requests", min = 0, source = source,
      doc = "Loads are unbalanced only where the most is more than this above the least." },
    balance_rel_threshold = { default = 1.5, unit = "1", min = 0, source = source,
      doc = "Loads are unbalanced only where the most is more than so many times the least." },
    unmatched = { default = "least_load", values = { "least_load", "smallest_tree" },
      source = source .. ": sgl-router until 0.2 took the smallest tree",
      doc = "Where a prompt goes that is not matched." },
    block_tokens = { default = 16, unit = "tokens", min = 1, integer = true, doc = "Tokens of a block of the tree." },
    max_tree_blocks = { default = 4194304, unit = "blocks", min = 1, integer = true,
      source = source .. ": max_tree_size 67,108,864 characters, 4 to a token",
      doc = "Blocks that the tree remembers of each replica." },
  },
  presets = {
    engine = { cache_threshold = 0.5, balance_abs_threshold = 32, balance_rel_threshold = 1.1 },
  },
}

function SglangCacheAware:prefix_index()
  return { kind = "approximate", block_tokens = self.block_tokens, capacity_blocks = self.max_tree_blocks,
    max_prefix_tokens = 2 ^ 31 - 1, forgets = "last" }
end

local function is_unbalanced(self, replicas, least)
  local most = 0
  for i = 1, #replicas do
    local outstanding = replicas[i].outstanding
    if outstanding > most then most = outstanding end
  end
  return most - least > self.balance_abs_threshold and most > least * self.balance_rel_threshold
end

local function smallest_tree(replicas)
  local best, fewest = 1, math.huge
  for i = 1, #replicas do
    local blocks = replicas[i].sent_blocks
    if blocks < fewest then best, fewest = i, blocks end
  end
  return best
end

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function SglangCacheAware:route(request, replicas)
  local least = replicas.least_outstanding
  if is_unbalanced(self, replicas, replicas[least].outstanding) then return least end
  local best, most = nil, 0
  for k = 1, replicas.sent_holders do
    local place = replicas:sent_holder(k)
    local sent = replicas[place].prefix_sent_tokens
    if sent > most then best, most = place, sent end
  end
  if best and most / request.prompt_tokens > self.cache_threshold then return best end
  if self.unmatched == "smallest_tree" then return smallest_tree(replicas) end
  return least
end

return SglangCacheAware
