--- SGLang's HiCache: the first store is the host's memory (L2), the stores behind it are shared storage (L3). KV comes
--- from the host layer by layer, while the prompt is computed. KV from storage is fetched while the request waits in
--- the queue.
local every = require "tiers.stores.every"
local policy = require "rooflua.policy"

local huge = math.huge

---@class tiers.HiCache: rooflua.Tiers
---@field write_policy "write_through"|"write_through_selective"|"write_back"
---@field selective_uses integer
---@field load_back_threshold integer
---@field prefetch_threshold integer
---@field prefetch_policy "best_effort"|"wait_complete"|"timeout"
---@field prefetch_timeout_base_s number
---@field prefetch_timeout_per_ki_token_s number
---@field host string name of the first store
local HiCache = policy.define {
  name = "hicache",
  doc = "SGLang HiCache: written through or back to the host, layer-wise loads, prefetch from storage in the queue.",
  source = "SGLang docs/advanced_features/hicache_design.md; python/sglang/srt/mem_cache/hiradix_cache.py, "
    .. "releases 0.5.0 to 0.5.9",
  overlap = "layers",
  prefetch = true,
  promote = true,
  params = {
    write_policy = { default = "write_through", values = { "write_through", "write_through_selective", "write_back" },
      doc = "Everything is stored at once, or only what several requests had, or what leaves the GPU and is not "
        .. "stored; the step that needs its room waits until it is written.",
      source = "SGLang --hicache-write-policy; hiradix_cache.py, evict and writing_check" },
    selective_uses = { default = 2, unit = "requests", min = 1, integer = true,
      doc = "Of write_through_selective: content is stored once so many requests had it.",
      source = "SGLang hiradix_cache.py, write_through_threshold: 1, or 2 where selective (3 before 0.5.0)",
      idle = { write_policy = { other_than = "write_through_selective" } } },
    load_back_threshold = { default = 10, unit = "tokens", min = 0, integer = true,
      doc = "Fewer tokens are computed and not loaded.", source = "SGLang hiradix_cache.py, load_back_threshold" },
    prefetch_threshold = { default = 256, unit = "tokens", min = 0, integer = true,
      doc = "Storage is read only if it has at least so many tokens beyond the host's.",
      source = "SGLang prefetch_threshold in --hicache-storage-backend-extra-config" },
    prefetch_policy = { default = "best_effort", values = { "best_effort", "wait_complete", "timeout" },
      doc = "How long a request that could run waits for storage: not, to the end, or for the time-out below.",
      source = "SGLang --hicache-storage-prefetch-policy" },
    prefetch_timeout_base_s = { default = 1, unit = "s", min = 0, doc = "Of the time-out, for each request.",
      source = "SGLang prefetch_timeout_base", idle = { prefetch_policy = { other_than = "timeout" } } },
    prefetch_timeout_per_ki_token_s = { default = 0.25, unit = "s", min = 0,
      doc = "Of the time-out, for each 1024 tokens that are fetched.",
      source = "SGLang prefetch_timeout_per_ki_token", idle = { prefetch_policy = { other_than = "timeout" } } },
  },
}

local function is_selective(self) return self.write_policy == "write_through_selective" and self.selective_uses > 1 end

--- Whether the engine counts how many requests had which content.
HiCache.counts = is_selective

--- Whether the engine asks about content that leaves the GPU.
function HiCache:write_back() return self.write_policy == "write_back" end

---@param context rooflua.TiersContext
function HiCache:bind(context)
  self.host = context.stores[1].name
  if self.write_policy == "write_back" and #context.stores > 1 then
    error(("write_policy \"write_back\" writes to the first store alone, so nothing would come into '%s'; leave it out")
      :format(context.stores[2].name), 0)
  end
end

--- The tokens at the beginning that the host itself has.
---@param found rooflua.Found
function HiCache:host_tokens(found)
  local first = found[1]
  return first and first.name == self.host and not first.peer and first.tokens or 0
end

--- How long a request that could run waits for so many tokens of storage.
function HiCache:patience_s(tokens)
  if self.prefetch_policy == "best_effort" then return 0 end
  if self.prefetch_policy == "wait_complete" then return huge end
  return self.prefetch_timeout_base_s + self.prefetch_timeout_per_ki_token_s * tokens / 1024
end

---@param found rooflua.Found
---@return integer tokens
---@return number? patience_s
function HiCache:load(_, found)
  local tokens, patience_s = self:host_tokens(found), huge
  local stored = found.tokens - tokens
  if stored > 0 and stored >= self.prefetch_threshold then
    tokens, patience_s = found.tokens, self:patience_s(stored)
  end
  if tokens < self.load_back_threshold then return 0 end
  return tokens, patience_s
end

---@param run rooflua.StoredRun
---@param stores rooflua.Store[]
---@return string? ... names
function HiCache:store(run, stores)
  if self.write_policy == "write_back" then return run.why == "evicted" and self.host or nil end
  if run.why == "preempted" or is_selective(self) and run.uses < self.selective_uses then return end
  return every(stores)
end

return HiCache
