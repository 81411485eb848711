-- Objects of Kubernetes: Deployment, StatefulSet, ReplicaSet, Pod, Job, lists of them, their ConfigMaps, and what
-- stands beside them: autoscalers, endpoint pickers.
-- Source: kubernetes 1.23 to 1.34, staging/src/k8s.io/api: apps/v1, batch/v1, core/v1, autoscaling/v2
local autoscalers = require "rooflua.manifests.autoscalers"
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local inference_service = require "rooflua.manifests.forms.inference_service"
local manifest = require "rooflua.manifests.deployments"
local pods = require "rooflua.manifests.pods"

local kubernetes = { name = "kubernetes", title = "a manifest of Kubernetes", extension = ".yaml" }

--- The key of the count, by kinds that have pods.
local counts = { Deployment = "replicas", StatefulSet = "replicas", ReplicaSet = "replicas", Job = "parallelism",
  DaemonSet = "", Pod = "" }

--- Kinds whose objects change nothing that a simulation says.
local idle = core.set { "Service", "Secret", "PersistentVolumeClaim", "PersistentVolume", "Namespace", "Ingress",
  "Role", "ServiceAccount", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceMonitor", "PodMonitor",
  "HTTPRoute", "Gateway", "NetworkPolicy", "PodDisruptionBudget", "StorageClass", "InferencePool", "InferenceModel" }

--- The role that names say; nil where they say none.
function kubernetes.role(...)
  for i = 1, select("#", ...) do
    local name = (select(i, ...) or ""):lower()
    local is_prefill, is_decode = name:find "prefill" ~= nil, name:find "decode" ~= nil
    if is_prefill ~= is_decode then return is_prefill and "prefill" or "decode" end
  end
end

local others = {}

function others.ConfigMap(root, about, name)
  about.config_maps[name] = {}
  for _, pair in ipairs(root:pairs "data") do
    about.config_maps[name][pair[1]] = pair[2].value
    pair[2]:take "..."
  end
end

others.HorizontalPodAutoscaler, others.ScaledObject = autoscalers.hpa, autoscalers.scaled_object
others.InferenceService = inference_service.read

--- Whether a pod is the endpoint picker of llm-d, or of the inference extension that it is built on.
local function is_picker(spec)
  local first = spec and spec:list("containers")[1]
  local image = first and first:at "image" and tostring(first:at("image").value) or ""
  return image:find "/epp%f[:@%z]" or image:find "llm%-d%-inference%-scheduler" or image:find "llm%-d%-router"
end

function kubernetes.read(root, about)
  local kind, name = root:text "kind" or "", root:text("metadata", "name") or ""
  for _, item in ipairs(kind:find "List$" and root:list "items" or {}) do about.read_object(item) end
  if kind:find "List$" then return end
  if others[kind] then return others[kind](root, about, name) end
  if idle[kind] then return root:take(kind) end
  local spec = kind == "Pod" and root:at "spec" or root:at("spec", "template", "spec")
  if not counts[kind] then
    about.told[#about.told + 1] = ("%s %s is not read"):format(kind, name)
  elseif is_picker(spec) then
    about.routers[#about.routers + 1] = { name = "llm_d", line = root:line(), file = about.file }
    spec:take "the endpoint picker"
  else
    if kind == "DaemonSet" then about.told[#about.told + 1] = "a DaemonSet: taken for one node" end
    pods.read(spec, core.copy(about, { count = root:count("spec", counts[kind]) or 1, name = name,
      role = kubernetes.role(root:text("spec", "template", "metadata", "labels", "llm-d.ai/role"), name) }))
  end
end

function kubernetes.write(about)
  local list = {}
  for i, part in ipairs(about.parts) do
    local words, program = containers.words(part, "/options/options.yaml")
    list[i] = { name = containers.name(about.name, part), replicas = part.count, gpus = part.gpus,
      image = containers.image(part), words = words, command_words = program, port = part.engine.port,
      config = containers.file(part), variables = containers.variables(part), gpu = gpus.written(part.gpu) }
  end
  return manifest.text(list)
end

kubernetes.is_one_node = true

return kubernetes
