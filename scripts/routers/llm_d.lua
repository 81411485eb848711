--- The router of llm-d: a filter that keeps replicas which hold most of the prompt, weighted scorers, the best one
--- wins.
---
---     score = sum over scorers of weight * score in [0, 1]          ties are drawn
---
--- What replicas hold of a prompt is either what the router itself remembers to have sent there (approximate), or what
--- they have cached (precise, from events of the engines). The filter gives way where the least loaded of the replicas
--- that it would keep has many more prompt tokens in flight than the least loaded other one.
local index = require "routers.gateways.index"
local pickers = require "routers.llm_d.pickers"
local policy = require "rooflua.policy"
local releases = require "routers.llm_d.releases"
local scorers = require "routers.llm_d.scorers"
local sessions = require "routers.llm_d.sessions"

local source = "llm-d-inference-scheduler pkg/epp/framework/plugins"

--- Scorers in the order in which they are added.
local names = { "queue", "kv", "prefix", "running", "active", "token_load", "no_hit_lru", "load_aware",
  "context_length", "session", "headroom" }

---@class routers.LlmD: rooflua.Router
---@field index string
---@field affinity_threshold number
---@field max_penalty_tokens number
---@field exploration number
---@field picker string
local LlmD = policy.define {
  name = "llm_d",
  doc = "llm-d's filter by prefix affinity, its weighted scorers and its pickers; ties are drawn.",
  source = source .. ": scheduling/filter/prefixcacheaffinity, scheduling/scorer, requestcontrol/dataproducer; the "
    .. "filter by tokens in flight is that of llm-d-router 0.9",
  signals = { "waiting", "running", "kv_used_frac", "outstanding", "prefix_hit_tokens", "prefix_sent_tokens",
    "prefill_tokens_in_flight" },
  params = index.params({
    queue = { default = 2, unit = "1", min = 0, doc = "Weight of a short waiting queue." },
    kv = { default = 2, unit = "1", min = 0, doc = "Weight of a free KV cache." },
    prefix = { default = 3, unit = "1", min = 0, doc = "Weight of the share of the prompt that a replica holds." },
    running = { default = 0, unit = "1", min = 0, doc = "Weight of few running requests." },
    active = { default = 0, unit = "1", min = 0, doc = "Weight of few requests in flight, by the router's own count." },
    token_load = { default = 0, unit = "1", min = 0, doc = "Weight of few uncached prompt tokens in flight." },
    no_hit_lru = { default = 0, unit = "1", min = 0,
      doc = "Weight of the replica that got a prompt which no replica held the longest ago." },
    load_aware = { default = 0, unit = "1", min = 0,
      doc = "Weight of a short queue, against one of 128 requests: 0.5 for none." },
    context_length = { default = 0, unit = "1", min = 0,
      doc = "Weight of a range of lengths, declared for a replica, that holds the prompt tightly.",
      idle = { ranges = {} } },
    session = { default = 0, unit = "1", min = 0, doc = "Weight of the replica of the session's last request." },
    headroom = { default = 0, unit = "1", min = 0,
      doc = "Weight of little time left to the limit of TTFT, as prompts in flight foretell it." },
    idle_threshold = { default = 0, unit = "requests", min = 0, integer = true,
      source = source .. ": scheduling/scorer/activerequest, idleThreshold",
      doc = "A replica with so many requests in flight, or fewer, gets the score 1 of `active`.",
      idle = { active = 0 } },
    max_busy_score = { default = 1, unit = "1", min = 0, max = 1,
      source = source .. ": scheduling/scorer/activerequest, maxBusyScore",
      doc = "The highest score of `active` of a replica that is not idle.", idle = { active = 0 } },
    ranges = { default = {}, unit = "tokens", source = source .. ": scheduling/scorer/contextlengthaware",
      doc = "For `context_length`: {least, most} tokens of prompts, by the index of a replica.",
      idle = { context_length = 0 } },
    ttft_slo_s = { default = 1, unit = "s", min = 0, doc = "For `headroom`: the limit of TTFT.",
      idle = { headroom = 0 } },
    prefill_tokens_per_s = { default = 15928, unit = "tokens/s", min = 0, exclusive_min = true,
      source = "llm-d-router 0.9 prefixcacheaffinity: peakPrefillThroughput 15,928",
      doc = "For `headroom`: how fast a replica computes prompts, by which TTFT is foretold.",
      idle = { headroom = 0 } },
    max_prefix_tokens = { default = 131072, unit = "tokens", min = 1, integer = true,
      source = source .. ": approximateprefix, maxPrefixTokensToMatch",
      doc = "Tokens of a prompt that the approximate index looks at.", idle = { index = "precise" } },
    affinity_threshold = { default = 0, unit = "1", min = 0, max = 1,
      source = source .. ": prefixcacheaffinity, affinityThreshold (0.8 there)",
      doc = "Replicas that hold at least this share of the prompt are kept, if there is one; 0 = no filter." },
    max_penalty_tokens = { default = 286704, unit = "tokens", min = 0,
      source = "llm-d-router 0.9 prefixcacheaffinity, peakPrefillThroughput 15,928 x maxTTFTPenaltyMs 18,000",
      doc = "The filter keeps all replicas if the least loaded of those that it would keep has this many more uncached "
        .. "prompt tokens in flight than the least loaded other one; 0 = it never does.",
      idle = { affinity_threshold = 0 } },
    exploration = { default = 0, unit = "1", min = 0, max = 1,
      source = "llm-d-router 0.9 prefixcacheaffinity, explorationProbability (0.01 until 0.8)",
      doc = "Share of requests for which the filter keeps all replicas.", idle = { affinity_threshold = 0 } },
    staleness_s = { default = 0.05, unit = "s", min = 0, doc = "Greatest age of the signals.",
      source = "gateway-api-inference-extension: metrics are refreshed every 50 ms" },
    load_signals = { default = "reported", values = { "reported", "live" },
      source = "vLLM v1/core/sched/scheduler.py: update_from_output makes the statistics when a step has ended",
      doc = "Whether waiting, running and kv_used_frac are what engines reported at the end of their last step, or of "
        .. "the moment." },
    prefix_score = { default = "share", values = { "share", "relative" },
      source = "llm-d-router 0.9 (llm-d-inference-scheduler e6f6b84f); until 0.8 relative",
      doc = "What `prefix` is with the precise index: the share of the prompt, or where that is between the least and "
        .. "the most of the candidates.", idle = { index = "approximate" } },
    picker = { default = "max_score", values = { "max_score", "weighted_random" },
      source = "llm-d-inference-scheduler pkg/epp/framework/plugins/scheduling/picker",
      doc = "Whether the highest sum wins, or each replica with a probability by its sum." },
  }, { index = "approximate", block_tokens = 64, lru_blocks = 31250, holders = true }),
  presets = {
    -- llm-d guides/precise-prefix-cache-routing/router
    precise = { index = "precise", block_tokens = 64, queue = 2, kv = 2, prefix = 3, no_hit_lru = 2,
      speculative_ttl_s = releases.guide_speculative_ttl_s },
  },
}

function LlmD:prefix_index() return index.of(self) end

function LlmD:start(rng)
  self.draws, self.explored, self.cold, self.cold_count = rng:stream "router", rng:stream "exploration", {}, 0
  self.sessions, self.scorers = sessions.new(), {}
  for _, name in ipairs(names) do
    if self[name] > 0 then table.insert(self.scorers, { weight = self[name], score = scorers[name] }) end
  end
end

--- What this request sees of its candidates, each by its place.
local function look(self, request, replicas)
  local seen = { waiting = {}, running = {}, kv_used = {}, outstanding = {}, share = {}, uncached = {}, in_flight = {},
    cold = {}, index = {}, is_precise = self.index == "precise", any_hit = false,
    prompt_tokens = request.prompt_tokens }
  local prompt, whole = request.prompt_tokens, request.prompt_tokens
  if not seen.is_precise then
    local block = self.block_tokens
    whole = math.max(1, math.floor(math.min(prompt, self.max_prefix_tokens) / block)) * block
  end
  for i = 1, #replicas do
    local replica = replicas[i]
    local held = seen.is_precise and replica.prefix_hit_tokens or replica.prefix_sent_tokens
    seen.index[i] = replica.index
    seen.waiting[i], seen.running[i], seen.kv_used[i] = replica.waiting, replica.running, replica.kv_used_frac
    seen.outstanding[i], seen.in_flight[i] = replica.outstanding, replica.prefill_tokens_in_flight
    seen.share[i] = held / whole
    seen.uncached[i], seen.any_hit = math.max(0, prompt - held), seen.any_hit or held > 0
    seen.cold[i] = self.cold[replica.index] or 0
  end
  local session = request.session
  if self.session > 0 and session then seen.last_of_session = self.sessions:last(session) end
  return seen
end

--- The places that the filter keeps.
local function kept(self, seen, count)
  local sticky, all = {}, {}
  local least_sticky, least_other = math.huge, math.huge
  local filters = self.affinity_threshold > 0
  if filters and self.exploration > 0 then filters = self.explored:uniform(0, 1) >= self.exploration end
  for i = 1, count do
    all[i] = i
    if filters and seen.share[i] >= self.affinity_threshold then
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
  local out = {}
  for name, values in pairs(seen) do
    if type(values) == "table" then
      out[name] = {}
      for _, place in ipairs(places) do out[name][place] = values[place] end
    else
      out[name] = values
    end
  end
  return out
end

--- The sum of the scores of one place.
local function sum_of(self, seen, place)
  local sum = 0
  for _, each in ipairs(self.scorers) do sum = sum + each.weight * each.score(seen, place, self) end
  return sum
end

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function LlmD:route(request, replicas)
  local seen = look(self, request, replicas)
  local places = kept(self, seen, #replicas)
  if #places < #replicas then seen = only(seen, places) end
  local best = pickers[self.picker](places, function(place) return sum_of(self, seen, place) end, self.draws)
  if not seen.any_hit then
    self.cold_count = self.cold_count + 1
    self.cold[seen.index[best]] = self.cold_count
  end
  if self.session > 0 and request.session then self.sessions:set(request.session, seen.index[best]) end
  return best
end

return LlmD
