-- DynamoGraphDeployment: workers that start an engine through Dynamo, and a front end that routes.
-- Source: ai-dynamo/dynamo 0.4 to 0.8, deploy/cloud/operator/api/v1alpha1 and components/backends/*/deploy
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local dynamo_words = require "rooflua.manifests.dynamo_words"
local kubernetes = require "rooflua.manifests.forms.kubernetes"
local pods = require "rooflua.manifests.pods"
local yaml = require "rooflua.text.yaml"

local dynamo = { name = "dynamo", title = "a DynamoGraphDeployment", extension = ".yaml",
  kind = "DynamoGraphDeployment" }

--- A front end routes by the blocks of prompts where it says so.
local function read_front(service, spec, own)
  local words = spec and core.join(spec:words("mainContainer", "args"), " ") or ""
  if (words:match "%-%-router%-mode[= ](%S+)" or own.variables.DYN_ROUTER_MODE) == "kv" then
    own.routers[#own.routers + 1] = { name = "dynamo_kv", line = service:line(), file = own.file }
  end
  if spec then spec:take "the front end" end
end

function dynamo.read(root, about)
  for _, pair in ipairs(root:pairs("spec", "services")) do
    local name, service = pair[1], pair[2]
    local spec, own = service:at "extraPodSpec", core.copy(about, { gpus = pods.gpus(service), name = name,
      count = service:count "replicas" or 1, nodes = service:count("multinode", "nodeCount") or 1,
      release = service:text("labels", "app.kubernetes.io/version") })
    pods.add_environment(own, service, "envs")
    if service:text "componentType" == "frontend" or name == "Frontend" then
      read_front(service, spec, own)
    elseif spec and spec:at "mainContainer" then
      own.role = kubernetes.role(service:text "subComponentType", name)
      own.gpu = pods.gpu(spec, about.told)
      pods.add(spec:at "mainContainer", spec, own)
    end
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
