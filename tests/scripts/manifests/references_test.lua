-- What stands in another object or file: configurations that a service of KServe names, and autoscalers.
local test = dofile "tests/scripts/harness.lua"
local autoscalers = require "rooflua.manifests.autoscalers"
local catalogue = require "rooflua.engines.catalogue"
local chunks = require "rooflua.sandbox.chunks"
local deployment = require "rooflua.startup.deployment"
local forms = require "rooflua.manifests.forms"
local keda = require "rooflua.handover.keda"
local hpa = require "rooflua.handover.hpa"
local launch = require "rooflua.applied.launch"
local settings = require "rooflua.handover.settings"
local yaml = require "rooflua.text.yaml"

local function paths_of(...)
  local out = {}
  for i, text in ipairs { ... } do out[i] = test.file("file" .. i, text) end
  return out
end

local function read(...) return deployment.of { from = paths_of(...) } end

local function told(found) return table.concat(found.told, "\n") end

local base = [[
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: %s}
spec:
  replicas: 5
  router: {scheduler: {}}
  mystery: 3
  template:
    nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
    containers:
    - name: main
      image: vllm/vllm-openai:v0.24.0
      command: [vllm, serve, /mnt/models]
      args: [--max-num-seqs, "%d", --served-model-name, "{{ .Spec.Model.Name }}"]
      env: [{name: LIMIT, value: "8192"}, {name: VLLM_LOGGING_LEVEL, value: INFO}]
]]

local service = [[
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat}
spec:
  baseRefs: %s
  model: {uri: "hf://Qwen/Qwen3-8B", name: chat}
  replicas: 2
  template:
    containers:
    - name: main
      env: [{name: LIMIT, value: "4096"}]
      %s
]]

test("a service stands on the configurations that it names, of its file and of others", function()
  test.needs_yaml()
  local own, first = service:format("[{name: usual}]", ""), base:format("usual", 48)
  for _, texts in ipairs { { own, first }, { first, own }, { first .. "---\n" .. own } } do
    local found = read(unpack(texts))
    test.equal(found.release, "0.24.0")
    test.equal(found.model, "Qwen/Qwen3-8B")
    test.equal(found.options.max_num_seqs, 48)
    test.equal(found.options.served_model_name[1], "chat")
    test.equal(found.cluster.engines[1].count, 2)
    test.equal(found.found.facts.gpu.value, "h100-sxm")
    test.equal(found.cluster.router.name, "llm_d")
    test.has(told(found), "spec.mystery")
    test.check(not told(found):find "baseRefs", "%s", told(found))
  end
end)

test("of several configurations the later holds, of lists the whole, of containers and variables each", function()
  test.needs_yaml()
  local two = base:format("usual", 48) .. "---\n" .. base:format("more", 96)
  test.equal(read(two .. "---\n" .. service:format("[{name: usual}, {name: more}]", "")).options.max_num_seqs, 96)
  test.equal(read(two .. "---\n" .. service:format("[{name: more}, {name: usual}]", "")).options.max_num_seqs, 48)
  local found = read(two .. "---\n" .. service:format("[{name: usual}, {name: more}]",
    "args: [--max-model-len, $(LIMIT), --port, $(VLLM_LOGGING_LEVEL)]"))
  test.equal(found.options.max_num_seqs, nil)
  test.equal(found.options.max_model_len, 4096)
end)

test("a configuration that is missing, or that nothing names, is told", function()
  test.needs_yaml()
  local found = read(service:format("[{name: usual}]", "args: [--max-num-seqs, '8']"))
  test.has(told(found), "baseRefs: usual is in none of the files")
  test.has(told(read(service:format("[]", ""), base:format("usual", 48))), "usual: no service that is given names it")
  local record = forms.record("base.yaml", base:format("usual", 48))
  test.has(table.concat(record.told, "\n"), "usual: no service", "containers.args")
  test.raises("more than 32 baseRefs", function()
    read(service:format("[" .. ("{name: usual}, "):rep(33) .. "]", ""), base:format("usual", 48))
  end)
  local wide = base:format("usual", 48) .. "  more: [" .. ("1, "):rep(7000) .. "]\n"
  test.raises("more than 200000 values are merged", function()
    read(service:format("[" .. ("{name: usual}, "):rep(32) .. "]", ""), wide)
  end)
end)

local engine = [[
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 2
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers: [{name: s, image: "vllm/vllm-openai:v0.24.0", args: [--model, Qwen/Qwen3-8B]}]
]]

local function entry_of(...)
  local keys, sentences = launch.keys { from = paths_of(engine, ...) }
  return type(keys.replicas) == "table" and keys.replicas[1] or nil, table.concat(sentences, "\n")
end

test("an autoscaler is read as it is written", function()
  test.needs_yaml()
  local metrics = { hpa = { "waiting", "running", "kv_used_frac" }, keda = { "outstanding", "waiting", "arrivals" } }
  local writers = { hpa = hpa, keda = keda }
  for class, list in pairs(metrics) do
    for i = 1, 12 do
      local given = { metric = list[1 + i % #list], target = math.random(1, 400) / 8, up_window_s = math.random(0, 9),
        down_window_s = math.random(0, 900), up_pods = math.random(0, 3), up_percent = 50 * math.random(0, 3),
        down_percent = math.random(0, 100), period_s = math.random(1, 60), tolerance = math.random(1, 20) / 100 }
      if class == "keda" then
        given.polling_s, given.cooldown_s, given.activation = math.random(1, 90), math.random(0, 900), i
      end
      local policy, parameters = chunks.shipped("autoscalers." .. class)(given), { interval_s = 15 }
      for name in pairs(given) do parameters[name] = policy[name] end
      if class == "keda" then parameters.triggers, parameters.prefill_tokens_per_s = {}, 0 end
      local own = { min = class == "keda" and i % 2 or 1, max = 2 + i }
      local document = writers[class].document(own, settings.of(class, "autoscaler",
        { name = class, parameters = parameters }), "chat", "vllm")
      local entry, sentences = entry_of(yaml.text { document })
      test.check(entry and entry.autoscaler, "%d: %s", i, sentences)
      test.equal(entry.min, own.min)
      test.equal(entry.max, own.max)
      for name, value in pairs(given) do
        local is_moot = name == "period_s" and given.up_pods + given.up_percent + given.down_percent == 0
        test.check(is_moot or entry.autoscaler[name] == value, "%s %s: %s, written %s", class, name,
          tostring(entry.autoscaler[name]), tostring(value))
      end
    end
  end
end)

local scaled = [[
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s}
spec:
  scaleTargetRef: {name: %s}
  minReplicaCount: 1
  maxReplicaCount: 6
  triggers:
  - type: %s
    metadata: {serverAddress: http://p, query: '%s', threshold: "12"}
]]

test("a ScaledObject is simulated where its queries are sums that are known, and told else", function()
  test.needs_yaml()
  local entry, sentences = entry_of(scaled:format("chat", "prometheus", "vllm:num_requests_waiting{a=\"b+c\"}"))
  test.equal(entry.autoscaler.metric, "waiting")
  test.equal(entry.autoscaler.target, 12)
  test.has(sentences, "taken as its sum over all replicas")
  test.has(sentences, 'triggers[1]: the labels {a="b+c"} are not read: all replicas count')
  local two = scaled:format("chat", "prometheus", "sum(vllm:num_requests_waiting)")
    .. "  - {type: prometheus, metadata: {query: sum(vllm:kv_cache_usage_perc), threshold: '0.5'}}\n"
  entry = entry_of(two)
  test.equal(entry.autoscaler.triggers[1].metric, "kv_used_frac")
  for _, each in ipairs { { "cpu", "" }, { "prometheus", "avg(vllm:num_requests_waiting)" } } do
    entry, sentences = entry_of(scaled:format("chat", each[1], each[2]))
    test.equal(entry, nil)
    test.has(sentences, "this autoscaler is not simulated")
  end
  entry, sentences = entry_of(scaled:format("other", "prometheus", "sum(vllm:num_requests_waiting)"))
  test.equal(entry, nil)
  test.has(sentences, "is of other, which starts no engine")
  local steps = "  advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {policies: "
    .. "[{type: Pods, value: 1, periodSeconds: 60}]}}}}\n"
  sentences = told(read(engine, two .. steps))
  test.has(sentences, "behavior.scaleDown: these policies are not simulated")
end)

test("queries that count twice, scale or compare are none that is known", function()
  local names = catalogue.of("vllm").prometheus
  for query, metric in pairs { ["(sum(vllm:num_requests_running) or vector(0)) + sum(vllm:num_requests_waiting)"]
    = "outstanding", ["sum(vllm:num_requests_waiting) + sum(vllm:num_requests_waiting)"] = false,
    ["2 * sum(vllm:num_requests_waiting)"] = false, ["sum(vllm:num_requests_running)"] = false,
    ["sum(vllm:num_requests_waiting) > 3"] = false, ["max(vllm:num_requests_waiting)"] = false,
    ["sum(rate(vllm:prompt_tokens_total[1m]))"] = false, [""] = false, ["+"] = false,
    ["sum(rate(llm_d_epp_request_total[2m]))"] = "arrivals" } do
    test.equal(autoscalers.metric(query, names) or false, metric, query)
  end
end)

test("an InferenceService runs vLLM behind KServe's server, or a container of its own", function()
  test.needs_yaml()
  local text = [[
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    minReplicas: 3
    nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
    %s
]]
  local model = 'model: {modelFormat: {name: %s}, storageUri: "hf://Qwen/Qwen3-8B", args: [--model_name=chat, %s, '
    .. '--max-model-len=4096], resources: {limits: {nvidia.com/gpu: 2}}}'
  local found = read(text:format(model:format("huggingface", "--tensor-parallel-size, '2'")))
  test.equal(found.model, "Qwen/Qwen3-8B")
  test.equal(found.options.max_model_len, 4096)
  test.equal(found.options.tensor_parallel_size, 2)
  test.equal(found.cluster.engines[1].count, 3)
  found = read(text:format('containers: [{image: "vllm/vllm-openai:v0.24.0", args: [--model, Qwen/Qwen3-8B]}]'))
  test.equal(found.release, "0.24.0")
  local record = forms.record("x", text:format(model:format("sklearn", "-x")))
  test.has(table.concat(record.told, " "), "the format sklearn starts no engine")
  record = forms.record("x", text:format(model:format("huggingface", "--backend=huggingface")))
  test.has(table.concat(record.told, " "), "starts no engine that is known")
end)

test("a Dynamo graph of v1beta1 has components", function()
  test.needs_yaml()
  local worker = "  - name: %s\n    type: %s\n    replicas: 2\n    podTemplate: {spec: {containers: [{name: main, "
    .. "command: [python3, -m, dynamo.sglang], args: [--model-path, Qwen/Qwen3-8B, --disaggregation-mode, %s], "
    .. 'resources: {limits: {nvidia.com/gpu: "1"}}}]}}\n'
  local found = read("apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nspec:\n  components:\n"
    .. "  - name: F\n    type: frontend\n    podTemplate: {spec: {containers: [{name: main, env: [{name: "
    .. "DYN_ROUTER_MODE, value: kv}]}]}}\n" .. worker:format("a", "worker", "prefill")
    .. worker:format("b", "decode", "decode"))
  test.equal(#found.cluster.engines, 2)
  test.equal(found.cluster.main.role, "decode")
  test.equal(found.cluster.main.count, 2)
  test.equal(found.cluster.router.name, "dynamo_kv")
end)

test("a shortened flag is no secret because its last word is one", function()
  test.needs_yaml()
  local found = read((engine:gsub("%-%-model,", "--max-num-batched-token, '2048', --model,")))
  test.equal(found.options.max_num_batched_tokens, 2048)
end)

test.finish()
