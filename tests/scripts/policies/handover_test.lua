-- Policies in the files of other projects: each file is read back as YAML with the figures of the scenario, and a
-- setting that has no place is named.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local shipped = require("rooflua.sandbox.chunks").require
local facts_of = require("rooflua.serving.facts").of
local json = require "rooflua.json"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local quoting = require "rooflua.text.quoting"
local written = require "rooflua.writers.formats"
local yaml = require "rooflua.text.yaml"

local function part(name, priority)
  return { name = name, priority = priority, workload = shipped "workloads.poisson" { rate_per_s = 4, num_requests = 10,
    prompt_tokens = 300, output_tokens = 20 } }
end

--- The text of a file of that format, with what the scenario says crossing JSON as it does in the program.
local function text_of(format, more)
  local scenario = scene({ model = "qwen3-8b", seed = 3, engine = { "vllm" }, replicas = 2,
    router = shipped "routers.llm_d" {},
    workload = shipped "workloads.mix" { parts = { part("chat", -1), part("bulk", 2) } } }, more)
  local opened = opening.table(scenario, {})
  local facts = json.decode(json.encode(facts_of(opened.reader, (opening.variant(opened, 1)))))
  facts.scenario = "a.lua"
  written.ready(format, facts)
  return written.file(format, {}, facts).text
end

local function documents(text)
  local out = {}
  for each in (text .. "\n---\n"):gmatch "(.-)\n%-%-%-\n" do out[#out + 1] = native.yaml_decode(each, "yaml") end
  return out
end

local function document(format, more)
  test.needs_yaml()
  local list = documents(text_of(format, more))
  test.equal(#list, 1)
  return list[1]
end

local function pool(autoscaler, more)
  local own = { max = 4, count = 2, autoscaler = autoscaler, start = { init_s = 20 } }
  for key, value in pairs(more or {}) do own[key] = value end
  return { replicas = { own } }
end

--- The plug-in of that type, and the reference to it in the only profile.
local function plugin(config, type_name)
  local found, ref
  for _, each in ipairs(config.plugins) do found = each.type == type_name and each or found end
  for _, each in ipairs(config.schedulingProfiles[1].plugins) do ref = each.pluginRef == type_name and each or ref end
  return found, ref
end

test("the picker's configuration has the router's weights, in plug-ins that are declared", function()
  local config = document("endpoint-picker", { router = shipped "routers.llm_d" { queue = 1.5, kv = 0, prefix = 4,
    active = 0.25, idle_threshold = 2, affinity_threshold = 0.8, max_penalty_tokens = 15928 } })
  test.equal(config.apiVersion, "llm-d.ai/v1alpha1")
  test.equal(config.kind, "EndpointPickerConfig")
  for name, weight in pairs { ["queue-scorer"] = 1.5, ["prefix-cache-scorer"] = 4, ["active-request-scorer"] = 0.25 } do
    local own, ref = plugin(config, name)
    test.check(own and ref, "%s is missing", name)
    test.equal(ref.weight, weight, name)
  end
  test.equal(plugin(config, "kv-cache-utilization-scorer"), nil)
  test.equal(plugin(config, "active-request-scorer").parameters.idleThreshold, 2)
  test.equal(plugin(config, "prefix-cache-affinity-filter").parameters.maxTTFTPenaltyMs, 1000)
  local index = plugin(config, "approx-prefix-cache-producer").parameters
  test.equal(index.blockSizeTokens, 64)
  test.equal(index.lruCapacityPerServer, 31250)
  test.equal(config.flowControl, nil)
  local types = {}
  for _, each in ipairs(config.plugins) do types[each.type] = true end
  for _, each in ipairs(config.schedulingProfiles[1].plugins) do
    test.check(types[each.pluginRef], "%s is not declared", each.pluginRef)
  end
end)

test("the precise index has events of caches as its source, and blocks of the engine", function()
  local config = document("endpoint-picker", { router = shipped("routers.llm_d"):preset "precise" {} })
  local index = plugin(config, "precise-prefix-cache-producer").parameters
  test.equal(index.tokenProcessorConfig.blockSize, 16)
  test.equal(index.speculativeTTL, "2s")
  test.equal(plugin(config, "prefix-cache-scorer").parameters.prefixMatchInfoProducerName,
    "precise-prefix-cache-producer")
  test.equal(config.dataLayer.sources[2].extractors[1].pluginRef, "precise-prefix-cache-producer")
end)

test("a gate is the picker's flow control", function()
  local config = document("endpoint-picker", { admission = shipped "admission.bands" { fair = "round_robin",
    order = "edf", max_held = 500, deadline_s = 90, queue_threshold = 7, kv_threshold = 0.75,
    limit = 0.9, min_ceiling = 0.9 } })
  test.equal(config.featureGates[1], "flowControl")
  local flow, detector = config.flowControl, plugin(config, "utilization-detector").parameters
  test.equal(flow.defaultRequestTTL, "90s")
  test.equal(flow.defaultPriorityBand.maxRequests, "500")
  test.equal(flow.defaultPriorityBand.fairnessPolicyRef, "round-robin-fairness-policy")
  test.equal(flow.defaultPriorityBand.orderingPolicyRef, "edf-ordering-policy")
  test.equal(flow.saturationDetector.pluginRef, "utilization-detector")
  test.equal(detector.queueDepthThreshold, 7)
  test.equal(detector.kvCacheUtilThreshold, 0.75)
  test.equal(plugin(config, flow.usageLimitPolicyPluginRef).parameters.threshold, 0.9)
  config = document("endpoint-picker", { admission = shipped "admission.program_aware" { service_weight = 0.6,
    wait_weight = 0.4, half_life_s = 30, detector = "tokens", max_tokens = 5000 } })
  local las = plugin(config, "program-aware-fairness").parameters
  test.equal(las.lasWeightService, 0.6)
  test.equal(las.lasHalfLifeSeconds, 30)
  test.equal(plugin(config, "concurrency-detector").parameters.maxTokenConcurrency, 5000)
  config = document("endpoint-picker", { admission = shipped("admission.saturation"):preset "gaie" {} })
  test.equal(config.featureGates, nil)
  test.equal(config.flowControl.saturationDetector.pluginRef, "utilization-detector")
end)

test("what the picker cannot do is refused by its name", function()
  local function fails(message, more) test.raises(message, function() text_of("endpoint-picker", more) end) end
  local Bands, LlmD = shipped "admission.bands", shipped "routers.llm_d"
  fails("no router round_robin", { router = shipped "routers.round_robin" {} })
  fails("router llm_d: headroom = 1 has no place", { router = LlmD { headroom = 1 } })
  fails("context_length = 1", { router = LlmD { context_length = 1, ranges = { { 0, 100 } } } })
  fails("no scorer has a weight", { router = LlmD { queue = 0, kv = 0, prefix = 0 } })
  fails("prefix_score = relative", { router = LlmD { index = "precise", prefix_score = "relative" } })
  fails("admission bands: fair = \"vtc\"", { admission = Bands { fair = "vtc" } })
  fails("count = generated", { admission = Bands { fair = "las" } })
  fails("credit = true", { admission = Bands { credit = true } })
  fails("min_ceiling = 0.5", { admission = Bands { min_ceiling = 0.5 } })
  fails("max_held_tokens = 100", { admission = Bands { max_held_tokens = 100 } })
  fails("queue_threshold: expected a whole number", { admission = Bands { queue_threshold = 2.5 } })
  fails("staleness_s = 1 and the router's", { admission = Bands { staleness_s = 1 } })
  fails("admission token_bucket", { admission = shipped "admission.token_bucket" {} })
  local Own = policy.define { name = "own_gate", doc = "Lets all pass.", signals = {}, params = {} }
  function Own:admit() return "pass" end -- luacheck: ignore 212
  fails("own_gate is a file of your own", { admission = Own {} })
end)

test("a setting that stands elsewhere is a comment", function()
  local text = text_of("endpoint-picker", { router = shipped "routers.llm_d" { staleness_s = 0.2 } })
  test.check(text:find("--refresh-metrics-interval=200ms", 1, true), "%s", text)
  text = text_of("endpoint-picker", { admission = shipped "admission.bands" { interval_s = 0.01 } })
  test.check(text:find("interval_s = 0.01", 1, true), "%s", text)
  text = text_of("hpa", pool(shipped "autoscalers.hpa" { interval_s = 30 }))
  test.check(text:find("--horizontal-pod-autoscaler-sync-period=30s", 1, true), "%s", text)
  text = text_of("dynamo-planner", pool(shipped "autoscalers.planner_load" {}))
  test.check(text:find("grace_intervals = 3", 1, true), "%s", text)
end)

test("every parameter of the policies that are handed over has a place, a comment or a refusal", function()
  local ok = 0
  for format, list in pairs { ["endpoint-picker"] = { "admission.always", "admission.bands", "admission.concurrency",
    "admission.program_aware" }, hpa = { "autoscalers.hpa" }, keda = { "autoscalers.keda" },
    ["dynamo-planner"] = { "autoscalers.planner_load", "autoscalers.planner_sla" } } do
    for _, name in ipairs(list) do
      local class = shipped(name)
      local more = format == "endpoint-picker" and { admission = class {} } or pool(class {})
      test.check(#text_of(format, more) > 100, "%s", name)
      ok = ok + 1
    end
  end
  test.equal(ok, 8)
end)

test("classes are objectives, and the more urgent has the higher priority", function()
  test.needs_yaml()
  local list = documents(text_of "inference-objective")
  test.equal(#list, 2)
  test.equal(list[1].kind, "InferenceObjective")
  test.equal(list[1].metadata.name, "chat")
  test.equal(list[1].spec.priority, 1)
  test.equal(list[2].spec.priority, -2)
  test.equal(list[1].spec.poolRef.name, "qwen3-8b")
  test.raises("has no classes", function()
    text_of("inference-objective", { workload = shipped "workloads.poisson" { rate_per_s = 1, num_requests = 3 } })
  end)
  test.raises("same name in Kubernetes", function()
    text_of("inference-objective", { workload = shipped "workloads.mix" { parts = { part("a b"), part("a-b") } } })
  end)
end)

test("an HPA has the target, the windows and the policies of the autoscaler", function()
  local object = document("hpa", pool(shipped "autoscalers.hpa" { metric = "running", target = 12.5,
    down_window_s = 120, up_window_s = 30, up_pods = 2, up_percent = 0, down_percent = 50,
    period_s = 60, tolerance = 0.05 }, { min = 2 }))
  local spec = object.spec
  test.equal(object.apiVersion, "autoscaling/v2")
  test.equal(spec.minReplicas, 2)
  test.equal(spec.maxReplicas, 4)
  test.equal(spec.metrics[1].pods.metric.name, "vllm_num_requests_running")
  test.equal(spec.metrics[1].pods.target.averageValue, "12500m")
  local up, down = spec.behavior.scaleUp, spec.behavior.scaleDown
  test.equal(up.stabilizationWindowSeconds, 30)
  test.equal(down.stabilizationWindowSeconds, 120)
  test.equal(up.tolerance, "50m")
  test.equal(#up.policies, 1)
  test.equal(up.policies[1].value, 2)
  test.equal(down.policies[1].type, "Percent")
  test.equal(down.policies[1].periodSeconds, 60)
  object = document("hpa", pool(shipped "autoscalers.hpa" { down_percent = 0 }))
  test.equal(object.spec.behavior.scaleDown.selectPolicy, "Disabled")
  test.equal(object.spec.behavior.scaleDown.policies, nil)
  test.raises("metric = \"outstanding\" has no place", function()
    text_of("hpa", pool(shipped "autoscalers.hpa" { metric = "outstanding" }))
  end)
  test.raises("up_window_s: expected a whole number", function()
    text_of("hpa", pool(shipped "autoscalers.hpa" { up_window_s = 0.5 }))
  end)
  test.raises("no pool has the autoscaler hpa", function() text_of "hpa" end)
end)

test("a ScaledObject scales to none, by requests that run, wait or are held in front", function()
  local spec = document("keda", pool(shipped "autoscalers.keda" { target = 24, activation = 1, polling_s = 10,
    cooldown_s = 200 }, { min = 0 })).spec
  test.equal(spec.minReplicaCount, 0)
  test.equal(spec.maxReplicaCount, 4)
  test.equal(spec.pollingInterval, 10)
  test.equal(spec.cooldownPeriod, 200)
  local trigger = spec.triggers[1].metadata
  test.equal(trigger.threshold, "24")
  test.equal(trigger.activationThreshold, "1")
  for _, series in ipairs { "vllm:num_requests_running", "vllm:num_requests_waiting", "flow_control_queue_size" } do
    test.check(trigger.query:find(series, 1, true), "%s is not in %s", series, trigger.query)
  end
  spec = document("keda", pool(shipped "autoscalers.keda" { metric = "arrivals" })).spec
  test.check(spec.triggers[1].metadata.query:find("rate(", 1, true), "no rate")
end)

test("Dynamo's planner has the thresholds, in its units", function()
  local config = document("dynamo-planner", pool(shipped "autoscalers.planner_load" { kv_up = 0.8, kv_down = 0.35,
    interval_s = 60 }))
  test.equal(config.optimization_target, "load")
  test.equal(config.mode, "agg")
  test.equal(config.backend, "vllm")
  test.equal(config.decode_scale_up_kv_rate, 80)
  test.equal(config.decode_scale_down_kv_rate, 35)
  test.equal(config.load_adjustment_interval, 60)
  test.equal(config.max_gpu_budget, 4)
  config = document("dynamo-planner", pool(shipped "autoscalers.planner_sla" { ttft_s = 0.3, itl_s = 0.0125 }))
  test.equal(config.optimization_target, "sla")
  test.equal(config.ttft, 300)
  test.equal(config.itl, 12.5)
  test.raises("watch = \"queue\" has no place", function()
    text_of("dynamo-planner", pool(shipped "autoscalers.planner_load" { watch = "queue" }))
  end)
end)

test("texts of any kind stay one scalar, and comments one line", function()
  test.needs_yaml()
  local values = { "a: b", "- x", "yes", "1e3", "'", "\"", "a\nb", "#", "{}", "\226\128\168", "" }
  for _, value in ipairs(values) do
    local text = yaml.text { { comments = { value }, map = { { "k", value }, { "l", yaml.list { value } },
      yaml.comment(value), { "m", { { "n", value } } } } } }
    local read = native.yaml_decode(text, "yaml")
    test.equal(read.k, value)
    test.equal(read.l[1], value)
    test.equal(read.m.n, value)
  end
  test.equal(quoting.comment "a\nb: c", "# a\\nb: c")
end)

test.finish()
