-- LeaderWorkerSet: an engine over several pods.
-- Source: kubernetes-sigs/lws 0.5 to 0.7, api/leaderworkerset/v1/leaderworkerset_types.go
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local kubernetes = require "rooflua.manifests.forms.kubernetes"
local pods = require "rooflua.manifests.pods"
local yaml = require "rooflua.handover.yaml"

local lws = { name = "lws", title = "a LeaderWorkerSet", extension = ".yaml" }

function lws.tells(root)
  local kind = root:at "kind"
  return kind ~= nil and kind.value == "LeaderWorkerSet"
end

--- Reads the leader, whose command is the engine's; workers join it.
function lws.read(root, about)
  root:text "kind"
  local template, name = root:at("spec", "leaderWorkerTemplate"), root:text("metadata", "name") or ""
  if not template then core.fail("%s: spec.leaderWorkerTemplate is missing", about.file) end
  local size = template:count "size" or 1
  local leader = template:at "leaderTemplate"
  local worker = template:at "workerTemplate"
  local own = core.copy(about, { count = root:count("spec", "replicas") or 1, nodes = size, name = name,
    variables = { LWS_GROUP_SIZE = tostring(size) },
    role = kubernetes.role((leader or worker or root):text("metadata", "labels", "llm-d.ai/role") or "", name) })
  pods.read((leader or worker) and (leader or worker):at "spec", own)
  if leader and worker and worker:at "spec" then
    worker:at("spec"):take("workers join the leader", "...")
  end
end

function lws.write(about)
  local documents = {}
  for i, part in ipairs(about.parts) do
    local pod = { { "metadata", { { "labels", { { "app", containers.name(about.name, part) } } } } },
      { "spec", containers.pod(part) } }
    documents[i] = { map = { { "apiVersion", "leaderworkerset.x-k8s.io/v1" }, { "kind", "LeaderWorkerSet" },
      { "metadata", { { "name", containers.name(about.name, part) } } },
      { "spec", { { "replicas", part.count }, { "leaderWorkerTemplate", { { "size", part.nodes },
        { "leaderTemplate", pod }, { "workerTemplate", pod } } } } } } }
  end
  return "# Workers join the leader as the engine's documentation says.\n" .. yaml.text(documents)
end

return lws
