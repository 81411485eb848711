--- Scores summed with weights: each scorer gives a replica 0 (worst) to 1 (best); the highest sum wins.
local policy = require "rooflua.policy"

---@class routers.Weighted: rooflua.Router
---@field queue number
---@field kv number
---@field running number
---@field outstanding number
---@field prefix number
local Weighted = policy.define {
  name = "weighted",
  doc = "Weighted sum of scorers; ties to the first. Scorers are the fields of Weighted.scorers.",
  source = "gateway-api-inference-extension and llm-d: weighted scorers",
  signals = { "waiting", "kv_used_frac", "running", "outstanding", "prefix_hit_tokens" },
  params = {
    queue = { default = 2, unit = "1", min = 0, doc = "Weight of a short waiting queue." },
    kv = { default = 2, unit = "1", min = 0, doc = "Weight of a free KV cache." },
    running = { default = 0, unit = "1", min = 0, doc = "Weight of few running requests." },
    outstanding = { default = 0, unit = "1", min = 0,
      doc = "Weight of few outstanding requests." },
    prefix = { default = 3, unit = "1", min = 0, doc = "Weight of the cached part of the prompt." },
    staleness_s = { default = 0.05, unit = "s", min = 0,
      doc = "Greatest age of the signals.",
      source = "gateway-api-inference-extension: metrics are refreshed every 50 ms" },
  },
}

--- Scorer that prefers small values: 1 for the smallest among the replicas, 0 for the largest.
local function prefer_small(field)
  return function(_, replica, replicas)
    local low, high = math.huge, -math.huge
    for i = 1, #replicas do
      local value = replicas[i][field]
      if value < low then low = value end
      if value > high then high = value end
    end
    if high == low then return 1 end
    return (high - replica[field]) / (high - low)
  end
end

Weighted.scorers = {
  queue = prefer_small("waiting"),
  running = prefer_small("running"),
  outstanding = prefer_small("outstanding"),
  kv = function(_, replica) return 1 - replica.kv_used_frac end,
  prefix = function(request, replica) return replica.prefix_hit_tokens / request.prompt_tokens end,
}
local order = { "queue", "kv", "running", "outstanding", "prefix" }

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function Weighted:route(request, replicas)
  local best, highest = 1, -1
  for i = 1, #replicas do
    local score = 0
    for j = 1, #order do
      local weight = self[order[j]]
      if weight > 0 then score = score + weight * Weighted.scorers[order[j]](request, replicas[i], replicas) end
    end
    if score > highest then best, highest = i, score end
  end
  return best
end

return Weighted
