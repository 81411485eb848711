-- Objects of Kubernetes: Deployment, StatefulSet, ReplicaSet, Pod, Job, lists of them, their ConfigMaps, and what
-- stands beside them: autoscalers, endpoint pickers.
-- Source: kubernetes 1.23 to 1.34, staging/src/k8s.io/api: apps/v1, batch/v1, core/v1, autoscaling/v2
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local manifest = require "rooflua.plan.kubernetes"
local pods = require "rooflua.manifests.pods"

local kubernetes = { name = "kubernetes", title = "a manifest of Kubernetes", extension = ".yaml" }

--- Keys of the count and of the pod's spec, by kind.
local kinds = {
  Deployment = { { "spec", "replicas" }, { "spec", "template", "spec" } },
  StatefulSet = { { "spec", "replicas" }, { "spec", "template", "spec" } },
  ReplicaSet = { { "spec", "replicas" }, { "spec", "template", "spec" } },
  Job = { { "spec", "parallelism" }, { "spec", "template", "spec" } },
  Pod = { nil, { "spec" } },
  DaemonSet = { nil, { "spec", "template", "spec" } },
}

--- Kinds whose objects change nothing that a simulation says.
local idle = core.set { "Service", "Secret", "PersistentVolumeClaim", "PersistentVolume", "Namespace", "Ingress", "Role",
  "ServiceAccount", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceMonitor", "PodMonitor", "HTTPRoute",
  "Gateway", "NetworkPolicy", "PodDisruptionBudget", "StorageClass", "ResourceClaimTemplate", "InferenceModel",
  "InferenceObjective", "DestinationRule" }

function kubernetes.tells(root)
  local kind = root:at "kind"
  return root:at "apiVersion" ~= nil and kind ~= nil and type(kind.value) == "string"
end

--- A role that names say: of the object, or of the label llm-d.ai/role.
function kubernetes.role(...)
  for _, name in ipairs { ... } do
    local is_prefill, is_decode = name:lower():find "prefill" ~= nil, name:lower():find "decode" ~= nil
    if is_prefill ~= is_decode then return is_prefill and "prefill" or "decode" end
  end
end

local function config_map(root, about)
  local name, data = root:text("metadata", "name"), {}
  for _, pair in ipairs(root:pairs "data") do
    data[pair[1]] = pair[2].value
    pair[2]:take("a file", "...")
  end
  if name then about.config_maps[name] = data end
end

--- An autoscaler of one metric that engines report of a pod.
local function autoscaler(root, about)
  local metrics, target = root:list("spec", "metrics"), root:text("spec", "scaleTargetRef", "name")
  local own = { kind = "HorizontalPodAutoscaler", target = target, min = root:count("spec", "minReplicas") or 1,
    max = root:count("spec", "maxReplicas"), file = about.file, line = root:line() }
  local one = #metrics == 1 and metrics[1]
  if one and one:text "type" == "Pods" then
    own.series = one:text("pods", "metric", "name")
    own.value = one:text("pods", "target", "averageValue")
    one:text("pods", "target", "type")
  end
  about.autoscalers[#about.autoscalers + 1] = own
end

--- Whether a pod is the endpoint picker of llm-d, or of the inference extension it is built on.
local function is_picker(spec)
  for _, each in ipairs(spec:list "containers") do
    local image = each:at "image"
    image = image and type(image.value) == "string" and image.value or ""
    if image:find "/epp[:@]" or image:find "/epp$" or image:find "llm%-d%-inference%-scheduler" or image:find "llm%-d%-router" then
      each:text "image"
      return true
    end
  end
  return false
end

local others = { ConfigMap = config_map, HorizontalPodAutoscaler = autoscaler }

function kubernetes.read(root, about)
  local kind = root:text "kind"
  if kind:find "List$" then
    for _, item in ipairs(root:list "items") do
      if kubernetes.tells(item) then about.read_object(item) end
    end
    return
  end
  local keys = kinds[kind]
  if others[kind] then return others[kind](root, about) end
  if idle[kind] then return root:take("without effect", kind) end
  if not keys then
    about.told[#about.told + 1] = ("%s %s is not read"):format(kind, root:text("metadata", "name") or "")
    return
  end
  local spec = root:at(unpack(keys[2]))
  if spec and is_picker(spec) then
    about.routers[#about.routers + 1] = { name = "llm_d", line = root:line(), file = about.file }
    return spec:take("the endpoint picker", "...")
  end
  local name = root:text("metadata", "name") or ""
  local label = root:text("spec", "template", "metadata", "labels", "llm-d.ai/role") or ""
  if kind == "DaemonSet" and spec then
    about.told[#about.told + 1] = ("DaemonSet %s: the number of nodes is not given; taken for one"):format(name)
  end
  pods.read(spec, core.copy(about, { count = keys[1] and root:count(unpack(keys[1])) or 1, name = name,
    role = kubernetes.role(label, name) }))
end

function kubernetes.write(about)
  local list = {}
  for i, part in ipairs(about.parts) do
    if part.nodes > 1 then core.fail "--as kubernetes: an engine over several nodes is written with --as lws" end
    local words, program = containers.words(part, "/options/options.yaml")
    list[i] = { name = containers.name(about.name, part), replicas = part.count, gpus = part.gpus,
      image = containers.image(part), words = words, command_words = program, port = part.engine.port,
      config = containers.file(part), variables = containers.variables(part), gpu = gpus.written(part.gpu) }
  end
  return manifest.text(list)
end

return kubernetes
