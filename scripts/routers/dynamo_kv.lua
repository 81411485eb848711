--- Dynamo's KV router: the replica with the lowest cost in blocks.
---
---     cost = prefill_load_scale * max(0, (tokens in flight + prompt) / block - overlap_score_credit * overlap)
---            + blocks in flight with those of this prompt
---
--- Prompt tokens and blocks in flight are the router's own counts (what it sent, until the first token and until the
--- end). Where decode replicas are picked nothing has to be computed, and overlap does not count.
--- With a temperature the replica is drawn: exp(-cost / (range of costs * temperature)).
local index = require "routers.gateways.index"
local policy = require "rooflua.policy"

local source = "ai-dynamo/dynamo lib/kv-router/src/scheduling/selector.rs"

---@class routers.DynamoKv: rooflua.Router
---@field overlap_score_credit number
---@field prefill_load_scale number
---@field temperature number
---@field index string
---@field block_tokens integer
local DynamoKv = policy.define {
  name = "dynamo_kv",
  doc = "Dynamo's KV router: the fewest blocks to compute and in flight; equal ones are drawn.",
  source = source,
  signals = { "prefix_hit_tokens", "prefix_sent_tokens", "prefill_tokens_in_flight", "blocks_in_flight",
    "shared_blocks_in_flight" },
  params = index.params({
    overlap_score_credit = { default = 1, unit = "1", min = 0, source = source,
      doc = "How much of the cached part of a prompt is taken off what must be computed." },
    prefill_load_scale = { default = 1, unit = "1", min = 0,
      source = source .. " (until 0.8: kv_overlap_score_weight)",
      doc = "Weight of blocks that must be computed, against those in flight." },
    temperature = { default = 0, unit = "1", min = 0, source = source .. ": router_temperature",
      doc = "Of the softmax by which the replica is drawn; 0 = the lowest cost." },
  }, { index = "precise", block_tokens = 16, lru_blocks = 1048576, ttl_s = 120,
    source = "ai-dynamo/dynamo lib/llm/src/kv_router/approx.rs: ttl 120 s; router_max_tree_size 2^20 blocks" }),
}

function DynamoKv:start(rng) self.draws = rng:stream "router" end

function DynamoKv:prefix_index() return index.of(self, "last") end

local function cost_of(self, request, replica, decodes)
  local block = self.block_tokens
  local overlap = self.index == "approximate" and replica.prefix_sent_tokens or replica.prefix_hit_tokens
  local blocks = replica.blocks_in_flight + math.floor(request.prompt_tokens / block) - replica.shared_blocks_in_flight
  if decodes then return blocks end
  local prefill = (replica.prefill_tokens_in_flight + request.prompt_tokens) / block
  return self.prefill_load_scale * math.max(0, prefill - self.overlap_score_credit * overlap / block) + blocks
end

--- The place of the lowest cost, drawn among equal ones.
local function lowest(self, costs)
  local best, least, equal = 1, math.huge, 0
  for i = 1, #costs do
    if costs[i] < least then
      best, least, equal = i, costs[i], 1
    elseif costs[i] == least then
      equal = equal + 1
      if self.draws:integer(1, equal) == 1 then best = i end
    end
  end
  return best
end

local function drawn(self, costs)
  local low, high = math.huge, -math.huge
  for i = 1, #costs do low, high = math.min(low, costs[i]), math.max(high, costs[i]) end
  if low == high then return self.draws:integer(1, #costs) end
  local weights, sum = {}, 0
  for i = 1, #costs do
    weights[i] = math.exp((low - costs[i]) / ((high - low) * self.temperature))
    sum = sum + weights[i]
  end
  local left = self.draws:uniform(0, sum)
  for i = 1, #costs do
    left = left - weights[i]
    if left < 0 then return i end
  end
  return #costs
end

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function DynamoKv:route(request, replicas)
  local costs, decodes = {}, replicas.decode_stage
  for i = 1, #replicas do costs[i] = cost_of(self, request, replicas[i], decodes) end
  return self.temperature > 0 and drawn(self, costs) or lowest(self, costs)
end

return DynamoKv
