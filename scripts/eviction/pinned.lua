--- System prompts stay: the first `tokens` of a prompt leave last, once `uses` requests had them. All else leaves in
--- the order of its last use.
local policy = require "rooflua.policy"

---@class eviction.Pinned: rooflua.Eviction
---@field tokens integer
---@field uses integer
local Pinned = policy.define {
  name = "pinned",
  doc = "The first tokens of prompts that several requests had leave last, all else by its last use.",
  source = "own design; Mooncake's soft pins",
  params = {
    tokens = { default = 1024, unit = "tokens", min = 0, integer = true, doc = "How much of a prompt stays.",
      source = "assumed" },
    uses = { default = 2, unit = "requests", min = 0, integer = true,
      doc = "How many requests must have used it.", source = "assumed" },
  },
}

local behind_s = 1e7 -- more than the clock can show

---@param block rooflua.StoredBlock
---@return number key
function Pinned:key(block)
  if block.depth_tokens <= self.tokens and block.uses >= self.uses then return behind_s + block.used_s end
  return block.used_s
end

return Pinned
