-- The router of a measured cluster, from the words of its columns `router` and `router_settings`.
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local releases = require "routers.llm_d.releases"

local router = {}

local function policy_of(name, parameters)
  local out = policies.of(Reader.new "validate", "router", name)
  return parameters and policy.with(out, parameters) or out
end

-- Settings ----------------------------------------------------------------------------------------------------------

--- What the names of settings are here. Capitals, "-" and "_" do not matter.
local weights = { queue = "queue", kv = "kv", running = "running", active = "active", activerequest = "active",
  prefix = "prefix", ["prefix(gpu)"] = "prefix", gpuprefix = "prefix", ["prefix(cpu)"] = "prefix",
  cpuprefix = "prefix", nohitlru = "no_hit_lru", tokenload = "token_load", loadaware = "load_aware" }
local settings = { affinitythreshold = "affinity_threshold", tau = "max_penalty_tokens",
  maxtokensinflightpenalty = "max_penalty_tokens", maxprefixtokenstomatch = "max_prefix_tokens",
  lrucapacityperserver = "lru_blocks", blocksizetokens = "block_tokens", podcachesize = "most_holders" }
--- Settings that are read together with others, or elsewhere.
local apart = core.set { "maxprefixblockstomatch", "peakprefillthroughput", "maxttftpenaltyms", "mincachedtokendelta",
  "speculativettl" }

local function plain(name) return (name:lower():gsub("[%-_%s]", "")) end

--- {name = number} of "name=number" in a text, and of "weight 1 each (a, b)".
local function numbers_of(text)
  local out = {}
  for name, value in text:gmatch "([%a][%w%-_]*%(?%a*%)?)%s*=%s*([%d.]+)" do
    out[plain(name)] = tonumber((value:gsub("%.$", "")))
  end
  local weight, list = text:match "weight ([%d.]+) each %((.-)%)"
  for name in (list or ""):gmatch "[^,]+" do out[plain(name)] = tonumber(weight) end
  return out
end

--- How long the precise index believes what was sent, as the text states it; nil: it states nothing.
local function speculative_ttl_s(text, given)
  local plainly = text:lower():match "speculative%s*indexing%s*=%s*(%a+)"
  if plainly == "false" then return 0 end
  if given.speculativettl then return given.speculativettl end
  return plainly and releases.guide_speculative_ttl_s
end

--- Parameters of routers.llm_d that a text states, and notes on what is not read.
local function stated(text, day, index, notes)
  local given, out = numbers_of(text), releases.of(day, index)
  local block = tonumber(text:match "block (%d+) tokens")
  out.block_tokens = block or out.block_tokens
  local has_weights = false
  for name, value in core.sorted_pairs(given) do
    if weights[name] then -- prefixes in GPUs and in CPU memory are two scorers of one index here
      out[weights[name]], has_weights = (has_weights and out[weights[name]] or 0) + value, true
    elseif settings[name] then
      out[settings[name]] = value
    elseif not apart[name] then
      notes[#notes + 1] = ("router_settings: %s is not read"):format(name)
    end
  end
  if given.maxprefixblockstomatch then
    out.max_prefix_tokens = given.maxprefixblockstomatch * (out.block_tokens or 64)
  end
  if given.peakprefillthroughput and given.maxttftpenaltyms then
    out.max_penalty_tokens = given.peakprefillthroughput * given.maxttftpenaltyms / 1000
  end
  if text:lower():find "weighted.random" then out.picker = "weighted_random" end
  out.speculative_ttl_s = speculative_ttl_s(text, given)
  if has_weights then
    for _, name in pairs(weights) do out[name] = out[name] or 0 end
  end
  return out, has_weights
end

-- Routers -----------------------------------------------------------------------------------------------------------

--- The scorer that follows a filter by affinity; llm-d's guide has the load in tokens.
local function after_filter(said)
  local out = { queue = 0, kv = 0, prefix = 0, token_load = 1, affinity_threshold = 0.8 }
  if said:find "active request" then out.token_load, out.active = 0, 1 end
  return out
end

local function llm_d(said, row, day, notes)
  local index = said:find "precise" and "precise" or "approximate"
  local given, has_weights = stated(row.router_settings, day, index, notes)
  local out = {}
  if said:find "affinity filter" or said:find "token aware" then
    out = after_filter(said)
  elseif said:find "no prefix" or said:find "^load" then
    out = { prefix = 0 }
  elseif not has_weights then
    notes[#notes + 1] = "weights of the router are not stated: llm-d's queue 2, kv 2, prefix 3"
  end
  for name, value in pairs(given) do out[name] = value end
  if index == "precise" then
    out.index, out.block_tokens, out.max_prefix_tokens = "precise", nil, nil
    local since = releases.speculates_since
    if not out.speculative_ttl_s and row.router_settings:find "guide" and (day == "" or day >= since) then
      out.speculative_ttl_s = releases.guide_speculative_ttl_s
      notes[#notes + 1] = ("router: what was sent is believed for %g s, as in llm-d's guide"):format(
        out.speculative_ttl_s)
    end
  end
  return policy_of("llm_d", out)
end

--- Words that a router of llm-d is described with.
local words = { "weighted", "prefix", "token load", "token aware", "load only", "^load", "llm%-d", "epp",
  "active request" }

--- @param row table of rows.read
--- @param replicas integer behind the router
--- @param day string of the run, or ""
--- @param notes string[] to which sentences are added
--- @return any router of a scenario; nil where there is one replica
function router.of(row, replicas, day, notes)
  if replicas <= 1 then return nil end
  local said = row.router:lower()
  if said == "" then
    notes[#notes + 1] = "the router is not stated: llm-d's weighted sum"
    return llm_d("weighted sum", row, day, notes)
  end
  if said:find "kubernetes service" or said:find "^k8s" or said:find "^random" then return policy_of "random" end
  if said:find "round robin" or said:find "round%-robin" or said:find "^none" then return policy_of "round_robin" end
  for _, word in ipairs(words) do
    if said:find(word) then return llm_d(said, row, day, notes) end
  end
  return core.fail("%s: router: nothing is known of '%s'", row.where, row.router)
end

return router
