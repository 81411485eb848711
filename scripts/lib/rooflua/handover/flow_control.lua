-- A gate as the flow control of llm-d's endpoint picker.
-- Source: llm-d/llm-d-router 0.9 apix/config/v1alpha1/endpointpickerconfig_types.go (FlowControlConfig) and
-- pkg/epp/framework/plugins/flowcontrol
local flow_control = {}

local las = "program-aware-fairness"
local fairness = { global = "global-strict-fairness-policy", round_robin = "round-robin-fairness-policy", las = las }
local ordering = { fcfs = "fcfs-ordering-policy", edf = "edf-ordering-policy" }

local function utilization(own)
  return { { "type", "utilization-detector" }, { "parameters", {
    { "queueDepthThreshold", own:whole("queue_threshold", 1) },
    { "kvCacheUtilThreshold", own:take "kv_threshold" } } } }
end

local function concurrency(own, mode)
  own:pass("max_concurrency", "max_tokens")
  return { { "type", "concurrency-detector" }, { "parameters", { { "concurrencyMode", mode },
    { "maxConcurrency", mode == "requests" and own:whole("max_concurrency", 1) or nil },
    { "maxTokenConcurrency", mode == "tokens" and own:whole("max_tokens", 1) or nil } } } }
end

--- The plug-in that shares between flows: service of programs needs one with parameters.
local function fair_plugin(own)
  local fair = own:take "fair"
  if fair == "vtc" then
    own:fail("fair = \"vtc\" has no place in the file: llm-d 0.9 has global, round_robin and las")
  end
  if fair ~= "las" then
    own:pass("count", "estimate_tokens", "prompt_weight", "output_weight", "half_life_s")
    return { { "type", fairness[fair] } }
  end
  own:refuse("count", "end", "llm-d counts a request's service at its end; say count = \"end\"")
  own:refuse("prompt_weight", 1, "llm-d counts a token of a prompt once")
  own:refuse("output_weight", 2, "llm-d counts a token of output twice")
  own:pass "estimate_tokens"
  local half_life_s = own:take "half_life_s"
  return { { "type", las }, { "parameters", { { "strategy", "las" },
    { "lasWeightService", own.values.service_weight and own:take "service_weight" or 1 },
    { "lasWeightHeadWait", own.values.wait_weight and own:take "wait_weight" or 0 },
    { "lasDecayFactor", half_life_s == 0 and 1 or nil },
    { "lasHalfLifeSeconds", half_life_s } } } }
end

--- What of all queues has no place, or another one.
local function refuse_others(own)
  own:refuse("slo_deadline", false, "llm-d's queues have one time to live; say deadline_s")
  own:refuse("expire_queued", false, "llm-d ends nothing that waits at a replica")
  own:refuse("max_held_tokens", 0, "llm-d bounds requests and bytes; say max_held")
  if own.values.credit ~= nil then
    own:refuse("credit", false, "llm-d does not count what it let go since it read the load")
  end
end

--- llm-d's own clock: policies that ask whenever something changes let more go at once.
local function clock(own, comments)
  local interval_s, at_a_time = own:take "interval_s", own:take "most"
  if interval_s ~= 0.001 or at_a_time ~= 1 then
    comments[#comments + 1] = ("not in this file: interval_s = %g, most = %d; llm-d lets one request go when one comes "
      .. "and every 0.001 s"):format(interval_s, at_a_time)
  end
end

local function flow(own, comments)
  comments[#comments + 1] = ("requests say their flow, here the %s, in the header x-llm-d-inference-fairness-id")
    :format(own:take "flow")
end

--- Plug-ins and the field flowControl of a gate that holds requests.
local function holding(own, detector, limit, comments)
  refuse_others(own)
  clock(own, comments)
  flow(own, comments)
  local fair, order = fair_plugin(own), ordering[own:take "order"]
  local plugins = { detector, fair, { { "type", order } } }
  if limit ~= 1 then
    plugins[#plugins + 1] = { { "type", "static-usage-limit-policy" }, { "parameters", { { "threshold", limit } } } }
  end
  local ttl_s, held = own:take "deadline_s", own:whole "max_held"
  return plugins, {
    { "defaultRequestTTL", ttl_s > 0 and ("%.9gs"):format(ttl_s) or nil },
    { "defaultPriorityBand", { { "maxRequests", held > 0 and ("%d"):format(held) or nil },
      { "fairnessPolicyRef", fair[1][2] }, { "orderingPolicyRef", order } } },
    { "usageLimitPolicyPluginRef", limit ~= 1 and "static-usage-limit-policy" or nil },
    { "saturationDetector", { { "pluginRef", detector[1][2] } } },
  }
end

local gates = {}

function gates.always() return {}, nil, false end

function gates.bands(own, comments)
  own:refuse("min_ceiling", own:take "limit", "ceilings by priority came after llm-d 0.9; say min_ceiling = limit")
  local kind = own:take "detector"
  local detector
  if kind == "utilization" then
    own:pass("max_concurrency", "max_tokens")
    detector = utilization(own)
  else
    own:pass("queue_threshold", "kv_threshold")
    detector = concurrency(own, kind == "concurrency" and "requests" or "tokens")
  end
  local plugins, field = holding(own, detector, own:take "limit", comments)
  return plugins, field, true
end

gates.program_aware = gates.bands

function gates.concurrency(own, comments)
  own:refuse("full", "hold", "without flow control llm-d refuses only what has a priority below 0; say full = \"hold\"")
  local plugins, field = holding(own, concurrency(own, own:take "mode"), 1, comments)
  return plugins, field, true
end

function gates.saturation(own, comments)
  local detector, limit = utilization(own), own:take "limit"
  if own:take "full" == "hold" then
    own:refuse("shed_from", math.min(0, own:take "shed_from"), "llm-d holds all or none; say shed_from = 0")
    local plugins, field = holding(own, detector, limit, comments)
    return plugins, field, true
  end
  own:refuse("shed_from", 1, "llm-d refuses what has a priority below 0, which is above 0 here; say shed_from = 1")
  own:refuse("limit", 1, "llm-d refuses from a saturation of 1 on")
  refuse_others(own)
  own:refuse("deadline_s", 0, "nothing is held")
  own:pass("max_held", "interval_s", "most", "flow", "fair", "order", "count", "estimate_tokens", "prompt_weight",
    "output_weight", "half_life_s")
  comments[#comments + 1] = "without flow control requests of a priority below 0 are refused while saturated"
  return { detector }, { { "saturationDetector", { { "pluginRef", "utilization-detector" } } } }, false
end

--- Plug-ins, the field flowControl or nil, and whether the feature of that name is on.
--- @param own table settings of the gate
--- @param comments string[] gets what the file cannot say
function flow_control.of(own, comments)
  local gate = gates[own.name]
  if not gate then
    own:fail("llm-d's endpoint picker has no such gate; always, bands, concurrency, program_aware and saturation are "
      .. "in it")
  end
  local plugins, field, is_on = gate(own, comments)
  own:pass "staleness_s"
  own:finish()
  return plugins, field, is_on
end

return flow_control
