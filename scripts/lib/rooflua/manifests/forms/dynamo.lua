-- DynamoGraphDeployment: workers that start an engine through Dynamo, and a front end that routes.
-- Source: ai-dynamo/dynamo 0.4 to 1.3, deploy/operator/api/v1alpha1, api/v1beta1 and components/backends/*/deploy
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local dynamo_words = require "rooflua.manifests.dynamo_words"
local kubernetes = require "rooflua.manifests.forms.kubernetes"
local pods = require "rooflua.manifests.pods"
local yaml = require "rooflua.text.yaml"

local dynamo = { name = "dynamo", title = "a DynamoGraphDeployment", extension = ".yaml",
  kind = "DynamoGraphDeployment" }

--- A front end routes by the blocks of prompts where it says so.
local function read_front(service, main, own)
  local words = main and core.join(main:words "args", " ") or ""
  if main then pods.add_environment(own, main, "env") end
  if (words:match "%-%-router%-mode[= ](%S+)" or own.variables.DYN_ROUTER_MODE) == "kv" then
    own.routers[#own.routers + 1] = { name = "dynamo_kv", line = service:line(), file = own.file }
  end
  if main then main:take "the front end" end
end

--- Reads a service, of which `main` is the container and `spec` the pod.
local function read_service(name, service, spec, main, about)
  local kind = service:text "componentType" or service:text "type"
  local own = core.copy(about, { gpus = pods.gpus(service), name = name, count = service:count "replicas" or 1,
    nodes = service:count("multinode", "nodeCount") or 1,
    release = service:text("labels", "app.kubernetes.io/version") })
  pods.add_environment(own, service, "envs")
  if kind == "frontend" or name == "Frontend" then return read_front(service, main, own) end
  if not main then return end
  own.role, own.gpu = kubernetes.role(service:text "subComponentType", kind, name), pods.gpu(spec, about.told)
  pods.add(main, spec, own)
end

--- Of v1alpha1 the services by name, of v1beta1 the list of components.
function dynamo.read(root, about)
  for _, pair in ipairs(root:pairs("spec", "services")) do
    local spec = pair[2]:at "extraPodSpec"
    read_service(pair[1], pair[2], spec, spec and spec:at "mainContainer", about)
  end
  for _, component in ipairs(root:list("spec", "components")) do
    local spec = component:at("podTemplate", "spec")
    local containers_of = spec and spec:list "containers" or {}
    local main = containers_of[1]
    for _, each in ipairs(containers_of) do
      if each:text "name" == "main" then main = each end
    end
    read_service(component:text "name" or "", component, spec, main, about)
  end
end

local function worker_of(part)
  local command, args, env = containers.pairs(part, dynamo_words.written(part))
  return { { "componentType", "worker" }, { "subComponentType", part.role }, { "replicas", part.count },
    { "labels", { { "app.kubernetes.io/version", part.release } } },
    { "multinode", part.nodes > 1 and { { "nodeCount", part.nodes } } or nil },
    { "resources", { { "limits", { { "gpu", tostring(part.gpus) } } } } },
    { "extraPodSpec", { containers.selector(part), { "mainContainer", { { "image",
      ("nvcr.io/nvidia/ai-dynamo/%s-runtime:TAG"):format(part.engine.name) }, command, args, env } } } } }
end

function dynamo.write(about)
  local kv = about.router == "dynamo_kv" and yaml.list { { { "name", "DYN_ROUTER_MODE" }, { "value", "kv" } } } or nil
  local services = { { "Frontend", { { "componentType", "frontend" }, { "replicas", 1 }, { "envs", kv } } } }
  for i, part in ipairs(about.parts) do
    services[i + 1] = { (part.role or "engine"):gsub("^%l", string.upper) .. "Worker", worker_of(part) }
  end
  return yaml.text { { comments = { "TAG: an image of Dynamo with the release of the label" },
    map = containers.object("nvidia.com/v1alpha1", "DynamoGraphDeployment", containers.name(about.name, {}),
      { { "services", services } }) } }
end

return dynamo
