--- LMCache: large chunks, written to CPU memory, disk and a remote server at once. A request waits for its KV, but not
--- longer than the time-out of blocking reads.
local every = require "tiers.stores.every"
local policy = require "rooflua.policy"

---@class tiers.LmCache: rooflua.Tiers
---@field chunk_tokens integer
---@field outputs boolean
---@field min_retrieve_tokens integer
---@field blocking_timeout_s number
local LmCache = policy.define {
  name = "lmcache",
  doc = "LMCache: chunks of 256 tokens in every store at once, waits of at most 10 s, answers are not saved.",
  source = "LMCache docs/source/api_reference/configurations.rst",
  promote = true,
  params = {
    chunk_tokens = { default = 256, unit = "tokens", min = 1, integer = true,
      doc = "Chunk of the stores that name none.", source = "LMCache chunk_size" },
    outputs = { default = false, doc = "Answers are stored as well, when their request ends.",
      source = "LMCache save_decode_cache" },
    min_retrieve_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Fewer tokens are computed and not loaded.", source = "LMCache min_retrieve_tokens" },
    blocking_timeout_s = { default = 10, unit = "s", min = 0, infinite = true,
      doc = "Longest wait; what has arrived is used, the rest is computed.", source = "LMCache blocking_timeout_secs" },
  },
}

---@param found rooflua.Found
---@return integer tokens
---@return number? patience_s
function LmCache:load(_, found)
  if found.tokens < self.min_retrieve_tokens then return 0 end
  return found.tokens, self.blocking_timeout_s
end

---@param run rooflua.StoredRun
---@param stores rooflua.Store[]
---@return string? ... names
function LmCache:store(run, stores)
  if run.why == "preempted" or not (run.prompt or self.outputs) then return end
  return every(stores)
end

return LmCache
