-- Values of the Helm chart llm-d-modelservice.
-- Source: llm-d-incubation/llm-d-modelservice 0.2 to 0.4, charts/llm-d-modelservice/values.yaml and templates
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local holes = require "rooflua.manifests.holes"
local kserve = require "rooflua.manifests.forms.kserve"
local pods = require "rooflua.manifests.pods"
local yaml = require "rooflua.text.yaml"

local helm = { name = "helm", title = "values of llm-d's modelservice chart", extension = ".yaml" }

--- The GPU that `acceleratorTypes` names.
local function gpu_of(own, told)
  local label, values = own:text("acceleratorTypes", "labelKey"), own:list("acceleratorTypes", "labelValues")
  return label and gpus.is_label(label) and #values == 1 and gpus.known(values[1]:text() or "", told) or nil
end

--- The count of a role; nil where it is not created.
local function count_of(root, name)
  local own = root:at(name)
  local count = own and own:text "create" ~= "false" and (own:count "replicas" or 1) or 0
  return count > 0 and count or nil
end

--- A text with values of this file in place of their templates, {{ .Values.modelArtifacts.name }}.
local function filled(root, text)
  return holes.filled(text, function(name)
    local path, keys = name:match "^{{%-?%s*%.Values%.([%w_.]+)[^|]*}}$", {}
    for key in (path or ""):gmatch "[^.]+" do keys[#keys + 1] = key end
    return #keys > 0 and root:text(core.unpack(keys)) or nil
  end)
end

function helm.read(root, about)
  local uri = filled(root, root:text("modelArtifacts", "uri") or ""):gsub('"', "")
  local model, is_wide = uri ~= "" and kserve.model(uri) or nil, root:text "multinode" == "true"
  root:text("modelArtifacts", "name")
  local has_both = count_of(root, "prefill") and count_of(root, "decode")
  for _, name in ipairs { "decode", "prefill" } do
    local own, count = root:at(name), count_of(root, name)
    local tensor, words = count and own:count("parallelism", "tensor"), kserve.words(own or root, model)
    local workers = count and own:count("parallelism", "workers")
    local more = core.copy(about, { count = count, role = has_both and name or nil,
      nodes = count and is_wide and (workers or kserve.nodes(own)) or 1,
      gpus = tensor and tensor * (own:count("parallelism", "dataLocal") or 1), gpu = count and gpu_of(own, about.told),
      words = function(...)
        local out = words(...)
        for i, word in ipairs(out) do out[i] = filled(root, word) end
        return out
      end })
    for _, container in ipairs(count and own:list "containers" or {}) do
      container:text "modelCommand"
      pods.add(container, own, more)
    end
  end
end

function helm.write(about)
  local main, is_wide = about.decode or about.parts[1], false
  local function role(part)
    if not part then return { { "create", false } } end
    local gpu, list = gpus.written(part.gpu), containers.list(part, "engine")
    table.insert(list[1], { "modelCommand", "custom" })
    is_wide = is_wide or part.nodes > 1
    return { { "create", true }, { "replicas", part.count }, { "acceleratorTypes", gpu.value and { { "labelKey",
      gpu.label }, { "labelValues", yaml.list { gpu.value } } } or nil },
      { "parallelism", part.nodes > 1 and { { "workers", part.nodes } } or nil }, { "containers", list } }
  end
  local decode, prefill = role(main), role(about.prefill)
  return yaml.text { { comments = { "values of llm-d-modelservice" }, map = { { "multinode", is_wide },
    { "modelArtifacts", { { "uri", "hf://" .. main.model }, { "name", main.model } } },
    { "decode", decode }, { "prefill", prefill } } } }
end

return helm
