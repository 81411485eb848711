-- Classes with a priority as InferenceObjectives. A request names its own in a header.
-- Source: llm-d/llm-d-router 0.9 apix/v1alpha2/inferenceobjective_types.go, shared_types.go (PoolObjectReference),
-- pkg/epp/metadata/consts.go (ObjectiveKey)
local core = require "rooflua.base.core"
local quoting = require "rooflua.text.quoting"
local yaml = require "rooflua.text.yaml"

local inference_objective = {}

local most = 2147483647 -- of an int32

function inference_objective.text(facts)
  local policies, documents, seen = facts.policies, {}, {}
  local pool = quoting.name(policies.model, "model")
  for _, class in ipairs(policies.classes) do
    local priority = -(class.priority or 0)
    local name = quoting.name(class.name, "class")
    if seen[name] then
      core.fail("--write inference-objective: the classes %s and %s have the same name in Kubernetes, %s", seen[name],
        class.name, name)
    end
    if priority > most then core.fail("--write inference-objective: class %s: priority is out of range", class.name) end
    seen[name] = class.name
    documents[#documents + 1] = { map = {
      { "apiVersion", "llm-d.ai/v1alpha2" }, { "kind", "InferenceObjective" },
      { "metadata", { { "name", name } } },
      { "spec", { { "priority", priority == 0 and 0 or priority }, { "poolRef", {
        { "group", "inference.networking.k8s.io" }, { "kind", "InferencePool" }, { "name", pool } } } } },
    } }
  end
  if #documents == 0 then
    core.fail "--write inference-objective: the workload has no classes with a priority; workloads.mix has"
  end
  documents[1].comments = { "llm-d-router 0.9. The highest priority goes first there, so that the signs are turned.",
    "A request says its class in the header x-llm-d-inference-objective.",
    ("%s is the name of the InferencePool"):format(pool) }
  return yaml.text(documents)
end

return inference_objective
