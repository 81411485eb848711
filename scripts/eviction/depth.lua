--- The deepest content leaves first: beginnings of prompts, which most requests share, stay longest. At one depth the
--- least recently used leaves first.
local policy = require "rooflua.policy"

---@class eviction.Depth: rooflua.Eviction
local Depth = policy.define {
  name = "depth",
  doc = "The deepest content leaves first, at one depth the least recently used.",
  source = "own design; leaves of a radix tree first, as SGLang's python/sglang/srt/mem_cache/radix_cache.py",
}

local tokens_per_s = 1e-7 -- below one token over the longest time that the clock can show

---@param block rooflua.StoredBlock
---@return number key
function Depth:key(block) return tokens_per_s * block.used_s - block.depth_tokens end

return Depth
