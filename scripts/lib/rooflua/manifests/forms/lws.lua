-- LeaderWorkerSet: an engine over several pods.
-- Source: kubernetes-sigs/lws 0.5 to 0.7, api/leaderworkerset/v1/leaderworkerset_types.go
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local kubernetes = require "rooflua.manifests.forms.kubernetes"
local pods = require "rooflua.manifests.pods"
local yaml = require "rooflua.text.yaml"

local lws = { name = "lws", title = "a LeaderWorkerSet", extension = ".yaml", kind = "LeaderWorkerSet" }

--- Reads the leader, whose command is the engine's; workers join it.
function lws.read(root, about)
  local template = root:at("spec", "leaderWorkerTemplate") or root
  local leader, worker, size = template:at "leaderTemplate", template:at "workerTemplate", template:count "size" or 1
  if leader and worker then worker:take "workers join the leader" end
  leader = leader or worker
  if not leader then core.fail "a LeaderWorkerSet without leaderTemplate and workerTemplate" end
  pods.read(leader:at "spec", core.copy(about, { count = root:count("spec", "replicas") or 1, nodes = size,
    variables = { LWS_GROUP_SIZE = tostring(size) },
    role = kubernetes.role(leader:text("metadata", "labels", "llm-d.ai/role"), root:text("metadata", "name")) }))
end

function lws.write(about)
  local documents = {}
  for i, part in ipairs(about.parts) do
    local name = containers.name(about.name, part)
    local pod = { { "metadata", { { "labels", { { "app", name } } } } }, { "spec", { containers.selector(part),
      { "containers", containers.list(part, "engine") } } } }
    local template = { { "size", part.nodes }, { "leaderTemplate", pod }, { "workerTemplate", pod } }
    documents[i] = { comments = { "workers join the leader as the engine's documentation says" },
      map = containers.object("leaderworkerset.x-k8s.io/v1", lws.kind, name, { { "replicas", part.count },
        { "leaderWorkerTemplate", template } }) }
  end
  return yaml.text(documents)
end

return lws
