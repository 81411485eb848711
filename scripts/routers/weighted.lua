--- Scores summed with weights: each scorer gives a replica 0 (worst) to 1 (best); the highest sum wins.
local members = require "routers.gateways.members"
local policy = require "rooflua.policy"

---@class routers.Weighted: rooflua.Router
---@field queue number
---@field kv number
---@field running number
---@field outstanding number
---@field prefix number
local Weighted = policy.define {
  name = "weighted",
  doc = "Weighted sum of scorers; ties to the first. A scorer is 1 for the best replica.",
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
local function prefer_small(value, low, high)
  if high == low then return 1 end
  return (high - value) / (high - low)
end

--- Scorers of load, in the order in which they are added: a name, the signal, and whether its range is needed.
local order = {
  { "queue", "waiting", prefer_small }, { "kv", "kv_used_frac", function(used) return 1 - used end },
  { "running", "running", prefer_small }, { "outstanding", "outstanding", prefer_small },
}

--- The least and the largest value of a signal.
local function range_of(replicas, signal)
  local low, high = math.huge, -math.huge
  for i = 1, #replicas do
    local value = replicas[i][signal]
    if value < low then low = value end
    if value > high then high = value end
  end
  return low, high
end

--- Scores of all replicas by their load, and the first replica with the highest one.
local function score_loads(self, replicas)
  local scores = {}
  for i = 1, #replicas do scores[i] = 0 end
  for _, each in ipairs(order) do
    local weight, signal, scorer = self[each[1]], each[2], each[3]
    if weight > 0 then
      local low, high = range_of(replicas, signal)
      for i = 1, #replicas do scores[i] = scores[i] + weight * scorer(replicas[i][signal], low, high) end
    end
  end
  local best = 1
  for i = 2, #replicas do
    if scores[i] > scores[best] then best = i end
  end
  return scores, best
end

--- The scores hold until the signals are taken again, unless they depend on a signal that is always fresh.
local function known_loads(self, replicas)
  local of_all = members.key(replicas) -- replicas for prompts and those for decodes are scored apart
  self.known = self.known or {}
  local known = self.known[of_all]
  if not known or known.taken_s ~= replicas.signals_s or self.staleness_s == 0 or self.outstanding > 0 then
    known = { taken_s = replicas.signals_s }
    known.scores, known.best = score_loads(self, replicas)
    self.known[of_all] = known
  end
  return known.scores, known.best
end

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function Weighted:route(request, replicas)
  local scores, best = known_loads(self, replicas)
  if self.prefix == 0 then return best end
  local highest = scores[best]
  for k = 1, replicas.prefix_holders do -- the others have nothing of the prompt cached
    local place = replicas:prefix_holder(k)
    local score = scores[place] + self.prefix * (replicas[place].prefix_hit_tokens / request.prompt_tokens)
    if score > highest or score == highest and place < best then best, highest = place, score end
  end
  return best
end

return Weighted
