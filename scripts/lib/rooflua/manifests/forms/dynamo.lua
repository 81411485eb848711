-- DynamoGraphDeployment: workers that start an engine through Dynamo, and a front end that routes.
-- Source: ai-dynamo/dynamo 0.4 to 0.8, deploy/cloud/operator/api/v1alpha1 and components/backends/*/deploy
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local dynamo_words = require "rooflua.manifests.dynamo_words"
local kubernetes = require "rooflua.manifests.forms.kubernetes"
local pods = require "rooflua.manifests.pods"
local yaml = require "rooflua.handover.yaml"

local dynamo = { name = "dynamo", title = "a DynamoGraphDeployment", extension = ".yaml" }

function dynamo.tells(root)
  local kind = root:at "kind"
  return kind ~= nil and kind.value == "DynamoGraphDeployment"
end

local function router_of(service, container, about)
  local mode
  for _, list in ipairs { service:list "envs", container and container:list "env" or {} } do
    for _, each in ipairs(list) do
      if each:text "name" == "DYN_ROUTER_MODE" then mode = each:text "value" or mode end
    end
  end
  local words = container and container:words "args" or {}
  mode = core.join(words, " "):match "%-%-router%-mode[= ](%S+)" or mode
  if mode == "kv" then
    about.routers[#about.routers + 1] = { name = "dynamo_kv", line = service:line(), file = about.file }
  end
end

local function read_worker(name, service, about)
  local spec = service:at "extraPodSpec"
  local container = spec and spec:at "mainContainer"
  local is_front = service:text "componentType" == "frontend" or name == "Frontend"
  if is_front then
    service:at("replicas"):take "the front end"
    return router_of(service, container, about)
  end
  if not container then
    about.told[#about.told + 1] = ("%s: a service without a container"):format(name)
    return
  end
  local role, release = service:text "subComponentType", service:at("labels", "app.kubernetes.io/version")
  local environment, variables = pods.environment(service, {}, "envs")
  local own = core.copy(about, { parts = {}, count = service:count "replicas" or 1, name = name, variables = variables,
    environment = environment, nodes = service:count("multinode", "nodeCount") or 1,
    gpu = pods.gpu(spec, about.told), gpus = pods.gpus(service, "resources") })
  pods.add(container, spec, own)
  for _, part in ipairs(own.parts) do
    part.role = kubernetes.role(role or "") or part.role or kubernetes.role(name)
    part.release = release and release:word() or nil
    about.parts[#about.parts + 1] = part
  end
end

function dynamo.read(root, about)
  root:text "kind"
  for _, pair in ipairs(root:pairs("spec", "services")) do read_worker(pair[1], pair[2], about) end
end

local function worker_of(part)
  local command, model_flag = dynamo_words.command(part)
  local container = { { "image", ("nvcr.io/nvidia/ai-dynamo/%s-runtime:TAG"):format(part.engine.name) } }
  local launched = containers.pairs(part, command, model_flag, function(words) dynamo_words.write(part, words) end)
  for _, pair in ipairs(launched) do container[#container + 1] = pair end
  return { { "componentType", "worker" }, { "subComponentType", part.role }, { "replicas", part.count },
    { "labels", { { "app.kubernetes.io/version", part.release } } },
    { "multinode", part.nodes > 1 and { { "nodeCount", part.nodes } } or nil },
    { "resources", { { "limits", { { "gpu", tostring(part.gpus) } } } } },
    { "extraPodSpec", { containers.selector(part) or {}, { "mainContainer", container } } } }
end

function dynamo.write(about)
  local is_kv = about.router == "dynamo_kv"
  local services = { { "Frontend", { { "componentType", "frontend" }, { "replicas", 1 },
    { "envs", is_kv and yaml.list { { { "name", "DYN_ROUTER_MODE" }, { "value", "kv" } } } or nil } } } }
  for i, part in ipairs(about.parts) do
    local role = part.role and part.role:gsub("^%l", string.upper) or ""
    services[#services + 1] = { ("%sWorker%s"):format(role, i > 1 and tostring(i) or ""), worker_of(part) }
  end
  return yaml.text { { comments = { "TAG: an image of Dynamo with the release of the label" }, map = {
    { "apiVersion", "nvidia.com/v1alpha1" }, { "kind", "DynamoGraphDeployment" },
    { "metadata", { { "name", containers.name(about.name, {}) } } }, { "spec", { { "services", services } } } } } }
end

return dynamo
