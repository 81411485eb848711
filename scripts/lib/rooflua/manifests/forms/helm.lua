-- Values of the Helm chart llm-d-modelservice.
-- Source: llm-d-incubation/llm-d-modelservice 0.2 to 0.4, charts/llm-d-modelservice/values.yaml and templates
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local kserve = require "rooflua.manifests.forms.kserve"
local pods = require "rooflua.manifests.pods"
local yaml = require "rooflua.handover.yaml"

local helm = { name = "helm", title = "values of llm-d's modelservice chart", extension = ".yaml" }

function helm.tells(root)
  return root:at "kind" == nil and root:at "modelArtifacts" ~= nil and (root:at "decode" or root:at "prefill") ~= nil
end

--- The GPU that `acceleratorTypes` names.
local function gpu_of(own, told)
  local label, values = own:text("acceleratorTypes", "labelKey"), own:list("acceleratorTypes", "labelValues")
  if not label or not gpus.is_label(label) or #values ~= 1 then return nil end
  local value = values[1]:word() or ""
  local known = gpus.known(value)
  if not known then told[#told + 1] = ("the GPU '%s' is not known here"):format(value) end
  return known
end

--- Nodes of one engine: `parallelism.workers` of a multi-node service.
local function nodes_of(own, root)
  if root:text "multinode" ~= "true" then return 1 end
  local data, here = own:count("parallelism", "data"), own:count("parallelism", "dataLocal")
  return own:count("parallelism", "workers") or data and here and here > 0 and math.max(1, math.floor(data / here)) or 1
end

local function read_role(root, about, name, role, model)
  local own = root:at(name)
  local is_created = own and own:text "create" ~= "false"
  local count = is_created and (own:count "replicas" or 1) or 0
  if count == 0 then return end
  local here, tensor = own:count("parallelism", "dataLocal") or 1, own:count("parallelism", "tensor")
  local more = core.copy(about, { count = count, nodes = nodes_of(own, root), role = role, name = name,
    gpu = gpu_of(own, about.told), gpus = tensor and tensor * here or nil })
  for _, container in ipairs(own:list "containers") do
    local command = container:text "modelCommand"
    if command == "vllmServe" or command == "imageDefault" then
      more.words = kserve.words(own, model, true)
    else
      more.words = kserve.words(own, model)
    end
    pods.add(container, own, more)
  end
end

function helm.read(root, about)
  local model = kserve.model(root:text("modelArtifacts", "uri"))
  root:text("modelArtifacts", "name")
  local prefill = root:at "prefill"
  local has_both = prefill and prefill:text "create" ~= "false" and prefill:count "replicas" ~= 0 and root:at "decode"
  read_role(root, about, "decode", has_both and "decode" or nil, model)
  read_role(root, about, "prefill", has_both and "prefill" or nil, model)
end

local function role_map(part)
  if not part then return { { "create", false } } end
  local gpu, map = gpus.written(part.gpu), containers.map(part, { name = "engine" })
  table.insert(map, 3, { "modelCommand", "custom" })
  local out = { { "create", true }, { "replicas", part.count } }
  if gpu.value then
    out[#out + 1] = { "acceleratorTypes", { { "labelKey", gpu.label }, { "labelValues", yaml.list { gpu.value } } } }
  end
  if part.nodes > 1 then out[#out + 1] = { "parallelism", { { "workers", part.nodes } } } end
  out[#out + 1] = { "containers", yaml.list { map } }
  return out
end

function helm.write(about)
  local main, prefill, is_wide = about.parts[1], nil, false
  if #about.parts > 1 then main, prefill = about.decode, about.prefill end
  if #about.parts > 2 or not main then core.fail "--as helm: the chart has one engine, or prefill and decode" end
  for _, part in ipairs(about.parts) do is_wide = is_wide or part.nodes > 1 end
  return yaml.text { { comments = { "values of llm-d-modelservice" }, map = {
    { "multinode", is_wide },
    { "modelArtifacts", { { "uri", "hf://" .. (main.model or "") }, { "name", main.model } } },
    { "decode", role_map(main) }, { "prefill", role_map(prefill) } } } }
end

return helm
