-- What manifests give, form by form, in the wordings of public examples.
local test = dofile "tests/scripts/harness.lua"
local deployment = require "rooflua.startup.deployment"
local launch = require "rooflua.applied.launch"
local native = require "rooflua.native"
local reading = require "rooflua.startup.reading"

local function read(...)
  local paths = {}
  for i, text in ipairs { ... } do paths[i] = test.file("file" .. i, text) end
  return deployment.of { from = paths }
end

--- The engine of a role, and its options.
local function engine_of(found, role)
  for _, each in ipairs(found.cluster.engines) do
    if each.role == role then return each end
  end
  test.check(false, "no engine of the role %s", tostring(role))
end

local function told(found) return table.concat(found.told, "\n") end

local pod = [[
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers:
      - name: server
        image: %s
        command: ["/bin/sh", "-c"]
        args:
        - >-
          vllm serve Qwen/Qwen3-8B --tensor-parallel-size $(TP)
          --max-num-seqs ${SEATS} --kv-cache-dtype $FORMAT --api-key sk-key
        env:
        - {name: TP, value: "2"}
        - {name: SEATS, value: "48"}
        - name: FORMAT
          valueFrom: {configMapKeyRef: {name: more, key: format}}
        - name: HF_TOKEN
          valueFrom: {secretKeyRef: {name: hf, key: token}}
        resources:
          limits: {nvidia.com/gpu: "2", memory: 100Gi}
          surprise: 7
]]

local function deployment_text(kind, replicas, image)
  return ("apiVersion: apps/v1\nkind: %s\nmetadata: {name: chat}\nspec:\n  %s\n  template:\n    spec:\n"):format(kind,
    replicas) .. pod:format(image)
end

test("a Deployment gives release, GPU, replicas, options with variables, and names what is not given", function()
  test.needs_yaml()
  for kind, key in pairs { Deployment = "replicas", StatefulSet = "replicas", Job = "parallelism" } do
    local found = read(deployment_text(kind, key .. ": 3", "mirror.example/vllm/vllm-openai:v0.24.0"))
    test.equal(found.engine.name .. " " .. found.release, "vllm 0.24.0")
    test.equal(found.model, "Qwen/Qwen3-8B")
    test.equal(found.options.tensor_parallel_size, 2)
    test.equal(found.options.max_num_seqs, 48)
    test.equal(found.options.kv_cache_dtype, nil)
    test.equal(found.found.facts.gpu.value, "h100-sxm")
    test.equal(found.cluster.engines[1].count, 3)
    test.has(told(found), "not given, and left out: --kv-cache-dtype $FORMAT", "FORMAT", "resources.surprise")
    test.check(not told(found):find "sk%-key", "a secret is told")
  end
end)

test("a tag that names no release is told, and no release is guessed from it", function()
  test.needs_yaml()
  for _, tag in ipairs { ":latest", ":nightly", "" } do
    local found = read(deployment_text("Deployment", "replicas: 1", "vllm/vllm-openai" .. tag))
    test.check(not found.is_stated, "the release %s is taken as stated", found.release)
    test.has(told(found), "names no release of vLLM", "--engine")
  end
end)

test("several documents, lists and files are one cluster, with its ConfigMap and its autoscaler", function()
  test.needs_yaml()
  local config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: opts}\ndata:\n  e.yaml: |\n    kv_cache_config:\n"
    .. "      dtype: fp8\n"
  local main = [[
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: chat}
  spec:
    replicas: 2
    template:
      spec:
        volumes: [{name: o, configMap: {name: opts}}]
        containers:
        - image: nvcr.io/nvidia/tensorrt-llm/release:1.2.0
          command: [trtllm-serve, Qwen/Qwen3-8B, --config, /o/e.yaml]
          volumeMounts: [{name: o, mountPath: /o/}]
]]
  local scaler = [[
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: x}
spec:
  scaleTargetRef: {kind: Deployment, name: chat}
  minReplicas: 1
  maxReplicas: 4
  metrics:
  - type: Pods
    pods: {metric: {name: %s}, target: {type: AverageValue, averageValue: "7"}}
]]
  local found = read(main, config)
  test.equal(found.release, "1.2.0")
  test.equal(found.options["kv_cache_config.dtype"], "fp8")
  local vllm = deployment_text("Deployment", "replicas: 2", "vllm/vllm-openai:v0.24.0")
  local paths = { test.file("one", vllm), test.file("two", scaler:format "vllm_num_requests_waiting") }
  local keys = launch.keys { from = paths }
  test.equal(keys.replicas[1].max, 4)
  test.equal(keys.replicas[1].autoscaler.target, 7)
  paths[2] = test.file("two", scaler:format "cpu")
  local keys_without, sentences = launch.keys { from = paths }
  test.equal(keys_without.replicas, 2)
  test.has(table.concat(sentences, "\n"), "this autoscaler is not simulated")
end)

test("a LeaderWorkerSet is an engine over its pods", function()
  test.needs_yaml()
  local found = read [[
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: wide}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
        - name: leader
          image: vllm/vllm-openai:v0.10.2
          command: [sh, -c, "bash /scripts/ray.sh leader --ray_cluster_size=$(LWS_GROUP_SIZE);
            python3 -m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-32B
            --tensor-parallel-size 8 --pipeline_parallel_size $(LWS_GROUP_SIZE)"]
          resources: {limits: {nvidia.com/gpu: 8}}
    workerTemplate:
      spec:
        containers: [{name: worker, image: "vllm/vllm-openai:v0.10.2", command: [sh, -c, "bash /s/ray.sh worker"]}]
]]
  local one = found.cluster.engines[1]
  test.equal(one.count, 2)
  test.equal(one.nodes, 2)
  test.equal(one.gpus, 8)
  test.equal(found.options.pipeline_parallel_size, 2)
end)

test("a compose file has defaults of variables, aliases, and its GPUs", function()
  test.needs_yaml()
  local found = read [[
x-engine: &engine
  image: ${IMAGE:-lmsysorg/sglang:v0.5.9-cu126}
  deploy: {resources: {reservations: {devices: [{driver: nvidia, device_ids: ["0", "1"], capabilities: [gpu]}]}}}
services:
  chat:
    <<: *engine
    command: >
      python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 2
      --max-running-requests ${SEATS} --context-length ${LENGTH-8192}
    environment: ["HF_TOKEN=${HF_TOKEN}", SGLANG_X]
  web: {image: nginx, ports: ["80:80"]}
]]
  test.equal(found.engine.name .. " " .. found.release, "sglang 0.5.9")
  test.equal(found.options.context_length, 8192)
  test.equal(found.options.max_running_requests, nil)
  test.equal(found.cluster.engines[1].gpus, 2)
  test.has(told(found), "left out: --max-running-requests $SEATS", "SGLANG_X")
  test.raises("more than 100000 values", function()
    local lines = { "services:", "  a: {image: x}", "x-0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]" }
    for i = 1, 9 do lines[#lines + 1] = ("x-%d: &a%d [%s]"):format(i, i, (("*a%d, "):format(i - 1)):rep(10)) end
    read(table.concat(lines, "\n"))
  end)
end)

test("scripts start engines behind exec, env, docker run, conditions and continued lines", function()
  local found = read [[
#!/usr/bin/env bash
set -euo pipefail
MODEL=Qwen/Qwen3-8B TP=2
if [ "$LONG" = 1 ]; then LENGTH=32768; else LENGTH=4096; fi
mkdir -p logs && echo "vllm serve comes"
exec env VLLM_LOGGING_LEVEL=DEBUG vllm serve "$MODEL" -tp $TP \
  --max-model-len $LENGTH --max-num-seqs "${SEATS:-40}" --port "$PORT" > logs/out.txt 2>&1
]]
  test.equal(found.model, "Qwen/Qwen3-8B")
  test.equal(found.options.tensor_parallel_size, 2)
  test.equal(found.options.max_num_seqs, 40)
  test.equal(found.options.max_model_len, nil)
  test.has(told(found), "--max-model-len $LENGTH, which a condition sets", "--port $PORT")
  local run = read("docker run --rm --gpus '\"device=0,1\"' -e HF_TOKEN=abc -v /m:/m \\\n"
    .. "  vllm/vllm-openai:v0.24.0 \\\n  --model Qwen/Qwen3-8B -tp 2\n")
  test.equal(run.release, "0.24.0")
  test.equal(run.cluster.engines[1].gpus, 2)
  test.equal(run.options.tensor_parallel_size, 2)
  test.raises("launch line is not read", function() read "#!/bin/sh\nvllm serve 'Qwen/Qwen3-8B --x\n" end)
end)

test("a job of SLURM gives nodes, GPUs and tasks", function()
  local job = [[
#!/bin/bash
#SBATCH --nodes=%d
#SBATCH --gpus-per-node=h100:8  # all of them
#SBATCH --time=01:00:00
srun --ntasks=%d --container-image=vllm#vllm-openai:v0.24.0 vllm serve Qwen/Qwen3-32B -tp %d -pp $SLURM_NNODES &
wait
]]
  local wide = read(job:format(2, 2, 8))
  test.equal(wide.release, "0.24.0")
  test.equal(wide.options.pipeline_parallel_size, 2)
  test.equal(wide.cluster.engines[1].nodes, 2)
  test.equal(wide.cluster.engines[1].gpus, 8)
  test.equal(wide.found.facts.gpu.value, "h100-sxm")
  local many = read(job:format(1, 4, 2))
  test.equal(many.cluster.engines[1].count, 4)
  test.equal(many.cluster.engines[1].gpus, 2)
end)

test("an LLMInferenceService, values of llm-d's chart and a Dynamo graph have roles and a router", function()
  test.needs_yaml()
  local kserve = read [[
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: split}
spec:
  model: {uri: "hf://Qwen/Qwen3-8B", name: chat}
  replicas: 3
  parallelism: {tensor: 2}
  router: {route: {}, gateway: {}, scheduler: {}}
  template: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: "2"}}}]}
  prefill:
    replicas: 1
    template: {containers: [{name: main, args: [--max-num-seqs, "8"], resources: {limits: {nvidia.com/gpu: "1"}}}]}
]]
  test.equal(kserve.model, "Qwen/Qwen3-8B")
  test.equal(engine_of(kserve, "decode").count, 3)
  test.equal(engine_of(kserve, "decode").options.tensor_parallel_size, 2)
  test.equal(engine_of(kserve, "prefill").options.max_num_seqs, 8)
  test.equal(kserve.cluster.router.name, "llm_d")
  local more = read [[
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
spec:
  model: {uri: "hf://Qwen/Qwen3-8B"}
  template:
    containers:
    - name: main
      env:
      - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
      - name: VLLM_ADDITIONAL_ARGS
        value: "--max-num-seqs 9 --kv-events-config '{\"topic\":\"kv@$(POD_IP)\"}' --block-size 64"
]]
  test.equal(more.options.max_num_seqs, 9)
  test.equal(more.options.block_size, 64)
  test.has(told(more), "left out: --kv-events-config", "$POD_IP")
  local helm = read [[
modelArtifacts: {uri: 'hf://"{{ .Values.modelArtifacts.name }}"', name: Qwen/Qwen3-8B, size: 20Gi}
decode:
  replicas: 2
  parallelism: {tensor: 4}
  containers: [{name: vllm, image: "ghcr.io/llm-d/llm-d:v0.3.0", modelCommand: vllmServe, args: [--max-num-seqs, "64"]}]
prefill:
  replicas: 1
  containers: [{name: vllm, image: "ghcr.io/llm-d/llm-d:v0.3.0", modelCommand: vllmServe}]
]]
  test.equal(engine_of(helm, "decode").options.tensor_parallel_size, 4)
  test.equal(engine_of(helm, "decode").options.max_num_seqs, 64)
  test.equal(engine_of(helm, "prefill").model, "Qwen/Qwen3-8B")
  local dynamo = read [[
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: split}
spec:
  services:
    Frontend: {componentType: frontend, envs: [{name: DYN_ROUTER_MODE, value: kv}]}
    VllmDecodeWorker:
      replicas: 2
      resources: {limits: {gpu: "1"}}
      extraPodSpec: {mainContainer: {image: "r/vllm-runtime:0.6.0", command: [python3, -m, dynamo.vllm],
        args: [--model, Qwen/Qwen3-8B]}}
    VllmPrefillWorker:
      resources: {limits: {gpu: "1"}}
      extraPodSpec: {mainContainer: {image: "r/vllm-runtime:0.6.0", command: [/bin/sh, -c],
        args: ["python3 -m dynamo.vllm --model Qwen/Qwen3-8B --is-prefill-worker"]}}
]]
  test.equal(engine_of(dynamo, "decode").count, 2)
  test.equal(engine_of(dynamo, "prefill").gpus, 1)
  test.equal(dynamo.cluster.router.name, "dynamo_kv")
  local trtllm = read [[
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  services:
    Worker:
      extraPodSpec: {mainContainer: {command: [python3, -m, dynamo.trtllm], args: [--model-path, Qwen/Qwen3-8B,
        --tensor-parallel-size, "2", --max-batch-size=32, --disaggregation-mode, decode, --extra-engine-args, a.yaml]}}
]]
  test.equal(trtllm.engine.name .. " " .. trtllm.model, "trtllm Qwen/Qwen3-8B")
  test.equal(trtllm.options.tp_size, 2)
  test.equal(trtllm.options.max_batch_size, 32)
  test.has(told(trtllm), "a.yaml", "only engines for decode are named")
end)

test("what a log says holds, and what differs is told", function()
  test.needs_yaml()
  local wordings = dofile "tests/scripts/startup/wordings.lua"
  local log = wordings.text(wordings.list[3], wordings.figures)
  local own = ("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n"
    .. "  - image: vllm/vllm-openai:v0.24.0\n"
    .. "    args: [--model, meta-llama/Llama-3.1-8B-Instruct, --max-model-len, '%d', --enforce-eager]\n")
  local found = read(own:format(8192), log)
  test.equal(found.release, "0.10.2")
  test.equal(found.options.max_model_len, 4096)
  test.equal(found.options.enforce_eager, nil)
  test.has(told(found), "release: ", "0.24.0", "max_model_len: ", "says 4096", "says 8192", "enforce_eager: ")
  test.check(not told(read(own:format(4096), log)):find "max_model_len:", "a conflict is told where there is none")
end)

test("templates, other kinds and other models are named", function()
  test.needs_yaml()
  test.raises("helm template", function() read "apiVersion: v1\nkind: Pod\nspec: {a: {{ .Values.x }}}\n" end)
  test.raises("starts no engine", function() read "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n" end)
  local one = "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: vllm/vllm-openai, args: [--model, %s]}]}\n"
  test.raises("give files of one model", function() read(one:format "a/b", one:format "c/d") end)
  local held = read(one:format '"{{ model }}"')
  test.equal(held.model, nil)
  test.has(told(held), "--model {{ model }}")
  test.equal(reading.record("x", "just a text\n"), nil)
  test.equal(reading.record("x", "arrival_s,prompt_tokens\n" .. ("0,10\n"):rep(400000)), nil)
  test.equal(reading.record("x", "pip install x\nvllm serve a/b\n").parts[1].words[3], "a/b")
end)

test("aliases and several documents are values; a recursive alias and a deep one are refused", function()
  test.needs_yaml()
  local found = native.yaml_documents("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n---\n[1]\n", "f")
  test.equal(#found, 2)
  test.equal(found[1].value.c.b, 1)
  test.equal(found[1].value.d.b + found[1].value.d.e, 3)
  test.equal(found[1].lines["d.e"], 3)
  test.raises("has no anchor", function() native.yaml_documents("a: &x [*x]\n", "f") end)
  local deep = { "a0: &a0 [1]" }
  for i = 1, 90 do deep[#deep + 1] = ("a%d: &a%d [*a%d]"):format(i, i, i - 1) end
  test.raises("too deep", function() native.yaml_documents(table.concat(deep, "\n"), "f") end)
end)

test.finish()
