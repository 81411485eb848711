-- The router `llm_d` and the gate as the configuration of llm-d's endpoint picker.
-- Source: llm-d/llm-d-router 0.9 apix/config/v1alpha1/endpointpickerconfig_types.go; names and parameters of plug-ins
-- pkg/epp/framework/plugins; deploy/config/epp-precise-prefix-cache-config.yaml
local core = require "rooflua.base.core"
local flow_control = require "rooflua.handover.flow_control"
local settings = require "rooflua.handover.settings"
local yaml = require "rooflua.text.yaml"

local endpoint_picker = {}

local format = "endpoint-picker"
local approximate, precise = "approx-prefix-cache-producer", "precise-prefix-cache-producer"

--- Scorers whose weight is a parameter of the router, in its order.
local scorers = { { "queue", "queue-scorer" }, { "kv", "kv-cache-utilization-scorer" },
  { "prefix", "prefix-cache-scorer" }, { "running", "running-requests-size-scorer" },
  { "active", "active-request-scorer" }, { "token_load", "token-load-scorer" },
  { "no_hit_lru", "no-hit-lru-scorer" }, { "load_aware", "load-aware-scorer" },
  { "session", "session-affinity-scorer" } }

local pickers = { max_score = "max-score-picker", weighted_random = "weighted-random-picker" }

--- Tokens per second by which the filter's limit in milliseconds is one in tokens; the default of its plug-in.
local prefill_rate = 15928

--- What knows where prefixes are, and the name by which scorers ask for it.
local function index_of(own, policies)
  if own:take "index" == "approximate" then
    own:pass("speculative_ttl_s", "most_holders")
    return { { { "type", approximate }, { "parameters", { { "autoTune", false },
      { "blockSizeTokens", own:whole("block_tokens", 1) },
      { "maxPrefixTokensToMatch", own:whole("max_prefix_tokens", 1) },
      { "lruCapacityPerServer", own:whole("lru_blocks", 1) } } } } }, nil
  end
  own:pass("block_tokens", "max_prefix_tokens", "lru_blocks")
  local ttl_s, holders = own:take "speculative_ttl_s", own:whole "most_holders"
  if holders == 0 then own:fail("most_holders = 0 has no place in the file: the index of llm-d has a limit") end
  return {
    { { "type", "token-producer" }, { "parameters", { { "modelName", policies.model },
      { "vllm", { { "url", "http://localhost:8000" } } } } } },
    { { "type", "endpoint-notification-source" } }, { { "type", "metrics-data-source" } },
    { { "type", "core-metrics-extractor" } },
    { { "type", precise }, { "parameters", {
      { "tokenProcessorConfig", { { "blockSize", policies.block_size } } },
      { "indexerConfig", { { "kvBlockIndexConfig", { { "inMemoryConfig", { { "podCacheSize", holders } } } } } } },
      { "speculativeIndexing", ttl_s > 0 }, { "speculativeTTL", ttl_s > 0 and ("%.9gs"):format(ttl_s) or nil } } } },
  }, precise
end

--- Where events of caches come from.
local function data_layer()
  return { { "sources", yaml.list {
    { { "pluginRef", "metrics-data-source" },
      { "extractors", yaml.list { { { "pluginRef", "core-metrics-extractor" } } } } },
    { { "pluginRef", "endpoint-notification-source" }, { "extractors", yaml.list { { { "pluginRef", precise } } } } },
  } } }
end

local function scorer_of(own, name, type_name, producer)
  local parameters
  if (name == "prefix" or name == "no_hit_lru") and producer then
    parameters = { { "prefixMatchInfoProducerName", producer } }
  elseif name == "active" then
    parameters = { { "idleThreshold", own:whole "idle_threshold" }, { "maxBusyScore", own:take "max_busy_score" } }
  end
  return { { "type", type_name }, { "parameters", parameters } }
end

--- The filter by affinity; nil where there is none.
local function filter_of(own, producer)
  local threshold = own:take "affinity_threshold"
  own:pass("max_penalty_tokens", "exploration")
  if threshold == 0 then return nil end
  return { { "type", "prefix-cache-affinity-filter" }, { "parameters", { { "affinityThreshold", threshold },
    { "explorationProbability", own:take "exploration" },
    { "maxTTFTPenaltyMs", tonumber(("%.12g"):format(own:take "max_penalty_tokens" / prefill_rate * 1000)) },
    { "peakPrefillThroughput", prefill_rate }, { "prefixMatchInfoProducerName", producer } } } }
end

local function refuse_others(own)
  own:refuse("context_length", 0, "ranges of lengths are labels of pods")
  own:refuse("headroom", 0, "llm-d foretells TTFT by a trained predictor")
  if own:take "index" == "precise" then
    own:refuse("prefix_score", "share", "llm-d 0.9 scores the share of the prompt")
  end
  own:pass("prefix_score", "ranges", "ttft_slo_s", "prefill_tokens_per_s", "load_signals", "idle_threshold",
    "max_busy_score", "lag_s", "loss")
end

--- Plug-ins and the references of the only profile.
local function routing(own, policies, plugins, refs)
  local producers, producer = index_of(own, policies)
  local filter, weighs = filter_of(own, producer), false
  local function add(plugin, weight)
    plugins[#plugins + 1] = plugin
    refs[#refs + 1] = { { "pluginRef", plugin[1][2] }, { "weight", weight } }
  end
  local needs_index = own:take "prefix" > 0 or own:take "no_hit_lru" > 0 or filter ~= nil or own:take "token_load" > 0
  for _, each in ipairs(needs_index and producers or {}) do plugins[#plugins + 1] = each end
  if filter then add(filter) end
  for _, each in ipairs(scorers) do
    local weight = own:take(each[1])
    weighs = weighs or weight > 0
    if weight > 0 then add(scorer_of(own, each[1], each[2], producer), weight) end
  end
  if not weighs then own:fail("no scorer has a weight") end
  add { { "type", pickers[own:take "picker"] } }
  plugins[#plugins + 1] = { { "type", "single-profile-handler" } }
  refuse_others(own)
  return needs_index and producer ~= nil
end

local function router_of(policies)
  local router = policies.router
  if policies.has_roles then
    core.fail("--write %s: split prefill and decode have no place in the file; it is of one profile", format)
  end
  if not router or router.own or router.name ~= "llm_d" then
    core.fail("--write %s: llm-d's endpoint picker has no router %s; use routers.llm_d", format,
      router and router.name or "that is the default")
  end
  return settings.of(format, "router", router)
end

--- The age of the load that the picker reads: one for router and gate.
local function refresh(own, gate, comments)
  local age_s = own:take "staleness_s"
  local gate_age_s = gate and gate.parameters.staleness_s
  if gate_age_s and gate_age_s ~= age_s then
    core.fail("--write %s: the gate's staleness_s = %g and the router's = %g; the picker reads load once for both",
      format, gate_age_s, age_s)
  end
  comments[#comments + 1] = ("not in this file: the picker's option --refresh-metrics-interval=%gms (staleness_s)")
    :format(age_s * 1000)
end

function endpoint_picker.text(facts)
  local policies = facts.policies
  local own, gate = router_of(policies), policies.admission
  local comments, plugins, refs = { "llm-d-router 0.9" }, yaml.list {}, yaml.list {}
  refresh(own, gate, comments)
  local has_events = routing(own, policies, plugins, refs)
  own:finish()
  local field, is_on
  if gate then
    if gate.own then core.fail("--write %s: admission %s is a file of your own", format, gate.name) end
    local more
    more, field, is_on = flow_control.of(settings.of(format, "admission", gate), comments)
    for _, each in ipairs(more) do plugins[#plugins + 1] = each end
  end
  if has_events then
    comments[#comments + 1] = "the token producer asks vLLM at http://localhost:8000: set the address"
  end
  return yaml.text { { comments = comments, map = {
    { "apiVersion", "llm-d.ai/v1alpha1" }, { "kind", "EndpointPickerConfig" },
    { "featureGates", is_on and yaml.list { "flowControl" } or nil },
    { "plugins", plugins }, { "dataLayer", has_events and data_layer() or nil },
    { "flowControl", field },
    { "schedulingProfiles", yaml.list { { { "name", "default" }, { "plugins", refs } } } },
  } } }
end

return endpoint_picker
