-- LLMInferenceService of KServe: an engine for its own work, or for decoding beside one for prompts.
-- Source: kserve 0.16 on, pkg/apis/serving/v1alpha1/llm_inference_service_types.go, config/llmisvcconfig
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local holes = require "rooflua.manifests.holes"
local pods = require "rooflua.manifests.pods"
local yaml = require "rooflua.handover.yaml"

local kserve = { name = "kserve", title = "an LLMInferenceService of KServe", extension = ".yaml" }

function kserve.tells(root)
  local kind = root:at "kind"
  return kind ~= nil and kind.value == "LLMInferenceService"
end

--- The model of an address: "hf://ORG/NAME"; others are not given.
function kserve.model(uri)
  if not uri then return nil end
  return uri:match "^hf://(.+)$" or holes.of(("the model at %s"):format(uri))
end

local widths = { { "tensor", "--tensor-parallel-size" }, { "pipeline", "--pipeline-parallel-size" },
  { "data", "--data-parallel-size" } }

--- Words of a container, with the model and widths that the object says in its own keys: KServe starts `vllm serve`.
function kserve.words(workload, model, always)
  return function(image, command, args)
    local parallel = {}
    for _, each in ipairs(widths) do
      local count = workload:count("parallelism", each[1])
      if count then parallel[#parallel + 1] = { each[2], tostring(count) } end
    end
    if workload:text("parallelism", "expert") == "true" then parallel[#parallel + 1] = { "--enable-expert-parallel" } end
    local is_own = #command > 0 and not always
    local words = is_own and pods.words(image, command, args) or { "vllm", "serve", model or "", core.unpack(args) }
    if is_own or not model then
      for i, word in ipairs(words) do
        if word:find "^/mnt/models/?$" and model then words[i] = model end
      end
      if words[3] == "" then table.remove(words, 3) end
    end
    local stated = core.set(words)
    for _, each in ipairs(parallel) do
      if not stated[each[1]] and not words[1]:find "sh$" then
        for _, word in ipairs(each) do words[#words + 1] = word end
      end
    end
    return words
  end
end

--- Nodes of one engine: those of a pipeline, or of data-parallel ranks.
local function nodes_of(workload)
  if not workload:at "worker" then return 1 end
  workload:at("worker"):take("workers join the leader", "...")
  local data, here = workload:count("parallelism", "data"), workload:count("parallelism", "dataLocal")
  return data and here and here > 0 and math.max(1, math.floor(data / here)) or workload:count("parallelism", "pipeline")
    or 1
end

local function workload_of(own, about, role, name, model)
  local spec = own:at "template"
  local container = spec and spec:list("containers")[1]
  local more = core.copy(about, { count = own:count "replicas" or 1, nodes = nodes_of(own), role = role, name = name,
    words = kserve.words(own, model) })
  if container then return pods.read(spec, more) end
  about.parts[#about.parts + 1] = { words = more.words(nil, {}, {}), environment = {}, line = own:line(), files = {},
    count = more.count, nodes = more.nodes, role = role, name = name }
end

function kserve.read(root, about)
  root:text "kind"
  local spec, name = root:at "spec", root:text("metadata", "name") or ""
  if not spec then core.fail("%s: spec is missing", about.file) end
  local model = kserve.model(spec:text("model", "uri"))
  spec:text("model", "name")
  if spec:at "baseRefs" then
    about.told[#about.told + 1] = "baseRefs: what they add is not given"
    spec:at("baseRefs"):take()
  end
  local prefill = spec:at "prefill"
  workload_of(spec, about, prefill and "decode" or nil, name, model)
  if prefill then workload_of(prefill, about, "prefill", name .. "-prefill", model) end
  local scheduler = spec:at("router", "scheduler")
  if scheduler then
    scheduler:take("the endpoint picker", "...")
    about.routers[#about.routers + 1] = { name = "llm_d", line = scheduler:line(), file = about.file }
  end
end

local function workload_map(part)
  if part.nodes > 1 then core.fail "--as kserve: an engine over several nodes is written with --as lws" end
  return { { "replicas", part.count }, { "template", { containers.selector(part) or {},
    { "containers", yaml.list { containers.map(part, { name = "main" }) } } } } }
end

function kserve.write(about)
  local main, prefill = about.parts[#about.parts], nil
  if #about.parts > 1 then main, prefill = about.decode, about.prefill end
  if #about.parts > 2 or not main then core.fail "--as kserve: it has one engine, or prefill and decode" end
  local spec = { { "model", { { "uri", "hf://" .. (main.model or "") }, { "name", main.model } } } }
  for _, pair in ipairs(workload_map(main)) do spec[#spec + 1] = pair end
  if prefill then spec[#spec + 1] = { "prefill", workload_map(prefill) } end
  if about.router == "llm_d" then spec[#spec + 1] = { "router", { { "scheduler", {} } } } end
  return yaml.text { { map = { { "apiVersion", "serving.kserve.io/v1alpha1" }, { "kind", "LLMInferenceService" },
    { "metadata", { { "name", containers.name(about.name, {}) } } }, { "spec", spec } } } }
end

return kserve
