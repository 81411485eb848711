--- The router of llm-d: a filter that keeps replicas which hold most of the prompt, weighted scorers, the best one
--- wins.
---
---     score = sum over scorers of weight * score in [0, 1]          ties are drawn
---
--- What replicas hold of a prompt is either what the router itself remembers to have sent there (approximate), or what
--- they have cached (precise, from events of the engines). The filter gives way where the least loaded of the replicas
--- that it would keep has many more prompt tokens in flight than the least loaded other one.
local in_flight = require "routers.llm_d.in_flight"
local policy = require "rooflua.policy"
local scorers = require "routers.llm_d.scorers"
local sent = require "routers.llm_d.sent"

local source = "llm-d-inference-scheduler pkg/epp/framework/plugins"

---@class routers.LlmD: rooflua.Router
---@field index string
---@field affinity_threshold number
---@field max_penalty_tokens number
local LlmD = policy.define {
  name = "llm_d",
  doc = "llm-d's filter by prefix affinity and its weighted scorers; ties are drawn.",
  source = source .. ": scheduling/filter/prefixcacheaffinity, scheduling/scorer, requestcontrol/dataproducer",
  signals = { "waiting", "running", "decodes", "landing_prompts", "kv_used_frac", "outstanding", "prefix_hit_tokens" },
  params = {
    queue = { default = 2, unit = "1", min = 0, doc = "Weight of a short waiting queue." },
    kv = { default = 2, unit = "1", min = 0, doc = "Weight of a free KV cache." },
    prefix = { default = 3, unit = "1", min = 0, doc = "Weight of the share of the prompt that a replica holds." },
    running = { default = 0, unit = "1", min = 0, doc = "Weight of few running requests." },
    active = { default = 0, unit = "1", min = 0, doc = "Weight of few requests in flight, by the router's own count." },
    token_load = { default = 0, unit = "1", min = 0, doc = "Weight of few uncached prompt tokens in flight." },
    no_hit_lru = { default = 0, unit = "1", min = 0,
      doc = "Weight of the replica that got a prompt which no replica held the longest ago." },
    index = { default = "approximate", values = { "approximate", "precise" },
      doc = "Where the router knows from what replicas hold: from what it sent, or from the engines' events." },
    block_tokens = { default = 64, unit = "tokens", min = 1, integer = true, source = source .. ": approximateprefix",
      doc = "Tokens of a block of the approximate index." },
    max_prefix_tokens = { default = 131072, unit = "tokens", min = 1, integer = true,
      source = source .. ": approximateprefix, maxPrefixTokensToMatch",
      doc = "Tokens of a prompt that the approximate index looks at." },
    lru_blocks = { default = 31250, unit = "blocks", min = 1, integer = true,
      source = source .. ": approximateprefix, lruCapacityPerServer",
      doc = "Blocks that the approximate index remembers of each replica." },
    affinity_threshold = { default = 0, unit = "1", min = 0, max = 1,
      source = source .. ": prefixcacheaffinity, affinityThreshold (0.8 there)",
      doc = "Replicas that hold at least this share of the prompt are kept, if there is one; 0 = no filter." },
    max_penalty_tokens = { default = 286704, unit = "tokens", min = 0,
      source = source .. ": prefixcacheaffinity, peakPrefillThroughput 15,928 x maxTTFTPenaltyMs 18,000",
      doc = "The filter keeps all replicas if the least loaded of those that it would keep has this many more uncached "
        .. "prompt tokens in flight than the least loaded other one; 0 = it never does." },
    staleness_s = { default = 0.05, unit = "s", min = 0, doc = "Greatest age of the signals.",
      source = "gateway-api-inference-extension: metrics are refreshed every 50 ms" },
    load_signals = { default = "reported", values = { "reported", "live" },
      source = "vLLM v1/core/sched/scheduler.py: update_from_output makes the statistics when a step has ended",
      doc = "Whether waiting, running and kv_used_frac are what engines told at the end of their last step, or of the "
        .. "moment." },
  },
}

local names = { "queue", "kv", "prefix", "running", "active", "token_load", "no_hit_lru" }

function LlmD:start(rng)
  self.draws, self.tokens, self.cold, self.cold_count = rng:stream "router", in_flight.new(), {}, 0
  local most = math.ceil(self.max_prefix_tokens / self.block_tokens)
  self.sent = sent.new { block_tokens = self.block_tokens, most_blocks = most, capacity_blocks = self.lru_blocks }
  self.scorers = {}
  for _, name in ipairs(names) do
    if self[name] > 0 then table.insert(self.scorers, { weight = self[name], score = scorers[name] }) end
  end
end

--- What this request sees of its candidates, each by its place.
local function look(self, request, replicas)
  local seen = { waiting = {}, running = {}, kv_used = {}, outstanding = {}, share = {}, uncached = {}, in_flight = {},
    cold = {}, is_precise = self.index == "precise", any_hit = false }
  local chain = not seen.is_precise and self.sent:chain(request, replicas) or nil
  local prompt, blocks = request.prompt_tokens, chain and self.sent:blocks(chain)
  for i = 1, #replicas do
    local replica = replicas[i]
    local held = chain and self.sent:tokens(chain, replica.index) or replica.prefix_hit_tokens
    seen.waiting[i], seen.running[i], seen.kv_used[i] = replica.waiting, replica.running, replica.kv_used_frac
    seen.outstanding[i], seen.in_flight[i] = replica.outstanding, self.tokens:of(replica)
    seen.share[i] = chain and held / self.block_tokens / blocks or held / prompt
    seen.uncached[i], seen.any_hit = math.max(0, prompt - held), seen.any_hit or held > 0
    seen.cold[i] = self.cold[replica.index] or 0
  end
  return seen, chain
end

--- The places that the filter keeps.
local function kept(self, seen, count)
  local sticky, all = {}, {}
  local least_sticky, least_other = math.huge, math.huge
  for i = 1, count do
    all[i] = i
    if self.affinity_threshold > 0 and seen.share[i] >= self.affinity_threshold then
      sticky[#sticky + 1] = i
      least_sticky = math.min(least_sticky, seen.in_flight[i])
    else
      least_other = math.min(least_other, seen.in_flight[i])
    end
  end
  if #sticky == 0 then return all end
  local gives_way = self.max_penalty_tokens > 0 and least_sticky - least_other > self.max_penalty_tokens
  return gives_way and all or sticky
end

--- The same of the candidates that were kept: scorers compare only those.
local function only(seen, places)
  local out = { is_precise = seen.is_precise, any_hit = seen.any_hit }
  for name, values in pairs(seen) do
    if type(values) == "table" then
      out[name] = {}
      for _, place in ipairs(places) do out[name][place] = values[place] end
    end
  end
  return out
end

--- The place with the highest score, drawn among equal ones.
local function best_of(self, seen, places)
  local best, highest, equal = places[1], -math.huge, 0
  for _, place in ipairs(places) do
    local score = 0
    for _, each in ipairs(self.scorers) do score = score + each.weight * each.score(seen, place) end
    if score > highest then
      best, highest, equal = place, score, 1
    elseif score == highest then
      equal = equal + 1
      if self.draws:integer(1, equal) == 1 then best = place end
    end
  end
  return best
end

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function LlmD:route(request, replicas)
  local seen, chain = look(self, request, replicas)
  local places = kept(self, seen, #replicas)
  if #places < #replicas then seen = only(seen, places) end
  local best = best_of(self, seen, places)
  local replica = replicas[best]
  if chain then self.sent:add(chain, replica.index) end
  if not seen.any_hit then
    self.cold_count = self.cold_count + 1
    self.cold[replica.index] = self.cold_count
  end
  self.tokens:add(replica, seen.uncached[best])
  return best
end

return LlmD
