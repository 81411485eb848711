--- Loads KV where that is worth its time. Loading takes the time of its transfers; computing takes time of the GPU:
---
---     gain(k) = worth (compute(n) - compute(n - t(k))) - wait(k)
---
--- n are the tokens of the prompt without KV in the GPU, t(k) those in the first k sources, and wait(k) is the longest
--- of their transfers, at the rates that links have now. The k with the largest gain is loaded, none where no gain is
--- positive. A second of GPU time that is saved is saved for this request and for each one that waits behind it, so
--- `worth` is 1 + the requests that wait: a load that is slower than computing still pays where the GPU is busy.
local every = require "tiers.stores.every"
local policy = require "rooflua.policy"

---@class tiers.BreakEven: rooflua.Tiers
---@field gpu_weight number?
---@field margin_s number
---@field outputs boolean
local BreakEven = policy.define {
  name = "break_even",
  doc = "Loads what takes less time than it saves, counted for all requests that wait for the GPU.",
  source = "the equation in the file's head; own design",
  promote = true,
  params = {
    gpu_weight = { optional = true, type = "number", unit = "1", min = 0,
      doc = "Worth of a second of GPU time in seconds of waiting; default 1 + the requests that wait.",
      source = "assumed" },
    margin_s = { default = 0, unit = "s", min = 0, doc = "Gains up to this are not worth a load.", source = "assumed" },
    outputs = { default = false, doc = "Answers are stored as well, when their request ends.", source = "assumed" },
  },
}

---@param found rooflua.Found
---@return integer tokens
function BreakEven:load(_, found)
  local missing = found.prompt_tokens - found.gpu_tokens
  local all_s = found:compute_s(missing)
  local worth = self.gpu_weight or 1 + found.waiting
  local best, most, tokens, wait_s = 0, self.margin_s, 0, 0
  for i = 1, #found do
    local source = found[i]
    tokens = tokens + source.tokens
    wait_s = math.max(wait_s, source.wait_s)
    local gain_s = worth * (all_s - found:compute_s(missing - tokens)) - wait_s
    if gain_s > most then best, most = tokens, gain_s end
  end
  return best
end

---@param run rooflua.StoredRun
---@param stores rooflua.Store[]
---@return string? ... names
function BreakEven:store(run, stores)
  if run.why == "preempted" or not (run.prompt or self.outputs) then return end
  return every(stores)
end

return BreakEven
