-- LLMInferenceService of KServe: an engine for its own work, or for decoding beside one for prompts.
-- Source: kserve 0.16 on, pkg/apis/serving/v1alpha1/llm_inference_service_types.go, config/llmisvcconfig
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local holes = require "rooflua.manifests.holes"
local launches = require "rooflua.manifests.launches"
local merged = require "rooflua.manifests.merged"
local native = require "rooflua.native"
local pods = require "rooflua.manifests.pods"
local shell_script = require "rooflua.manifests.shell_script"
local yaml = require "rooflua.text.yaml"

local kserve = { name = "kserve", title = "an LLMInferenceService of KServe", extension = ".yaml",
  kind = "LLMInferenceService", base_kind = "LLMInferenceServiceConfig", is_one_node = true, is_vllm = true }

local most_refs = 32

--- The model of an address: "hf://ORG/NAME"; others are not given.
function kserve.model(uri) return uri and (uri:match "^hf://(.+)$" or holes.of("the model at " .. uri)) end

local widths = { { "tensor", "--tensor-parallel-size" }, { "pipeline", "--pipeline-parallel-size" },
  { "data", "--data-parallel-size" } }

--- Nodes of one engine by `parallelism`: those of a pipeline, or of data-parallel ranks.
function kserve.nodes(own)
  local data, here = own:count("parallelism", "data"), own:count("parallelism", "dataLocal")
  return data and (here or 0) > 0 and math.max(1, math.floor(data / here)) or own:count("parallelism", "pipeline") or 1
end

--- Adds the words of the variable that KServe's own command ends with.
local function add_more(words, about)
  local variables = core.copy(about.variables)
  local text = variables.VLLM_ADDITIONAL_ARGS
  local command = text and shell_script.read(holes.script(text, variables), variables).commands[1]
  for _, word in ipairs(command and command.words or {}) do words[#words + 1] = word end
  for i = #(about.environment or {}), 1, -1 do
    if about.environment[i][1] == "VLLM_ADDITIONAL_ARGS" then table.remove(about.environment, i) end
  end
end

--- A function of the words of a container, with model and widths that the object says in its own keys. Without a
--- command of its own the container runs `vllm serve`.
---@param filled (fun(text: string): string)? puts values of the object in place of their templates
function kserve.words(own, model, filled)
  local parallel = {}
  for _, each in ipairs(widths) do
    local count = own:text("parallelism", each[1])
    parallel[#parallel + 1] = count and { each[2], count }
  end
  if own:text("parallelism", "expert") == "true" then parallel[#parallel + 1] = { "--enable-expert-parallel" } end
  return function(image, command, args, about)
    local words = launches.words(image, #command > 0 and command or { "vllm", "serve", model }, args)
    if #command == 0 then add_more(words, about) end
    for i, word in ipairs(words) do
      word = filled and filled(word) or word
      words[i] = word
      if word:find "^/mnt/models/?$" then words[i] = model or word end
    end
    local is_stated = core.set(words)
    for _, each in ipairs(words[1] == "vllm" and parallel or {}) do
      for _, word in ipairs(not is_stated[each[1]] and each or {}) do words[#words + 1] = word end
    end
    return words
  end
end

--- A text with values of the spec in place of their templates, {{ .Spec.Model.Name }}.
local function filled(spec, text)
  return holes.filled(text, function(name)
    local keys = {}
    for key in (name:match "^{{%-?%s*%.Spec%.([%w.]+)%s*%-?}}$" or ""):gmatch "[^.]+" do
      keys[#keys + 1] = key:gsub("^%u", string.lower)
    end
    return #keys > 0 and spec:text(core.unpack(keys)) or nil
  end)
end

local function read_workload(own, about, role, spec)
  local model = kserve.model(spec:text("model", "uri"))
  local more = core.copy(about, { count = own:count "replicas" or 1, role = role, line = own:line(), files = {},
    nodes = own:at "worker" and kserve.nodes(own) or 1,
    words = kserve.words(own, model, function(text) return filled(spec, text) end) })
  if own:at "worker" then own:at("worker"):take "workers join the leader" end
  if #own:list("template", "containers") > 0 then return pods.read(own:at "template", more) end
  pods.launch(more.words(nil, {}, {}, more), more)
end

--- The spec of a service on top of the configurations that it names, in their order.
local function with_bases(spec, about)
  local list, refs = {}, spec:list "baseRefs"
  if #refs > most_refs then core.fail("%s:%d: more than %d baseRefs", about.file, spec:line(), most_refs) end
  for _, ref in ipairs(refs) do
    local name = ref:text "name" or ""
    local base = about.bases[name]
    local own = base and base.node:at "spec"
    if not base then
      about.told[#about.told + 1] = ("baseRefs: %s is in none of the files, and what it adds is not given"):format(
        native.printable(name))
    else
      base.is_used_by = about
      base.node:at("kind"):take()
      list[#list + 1] = own
    end
  end
  list[#list + 1] = spec
  return merged.of(list, about)
end

--- A sentence about a configuration that no service names.
function kserve.unused_base(name)
  return ("%s %s: no service that is given names it in baseRefs, and it is not read"):format(kserve.base_kind,
    native.printable(name))
end

function kserve.read(root, about)
  if root:text "kind" == kserve.base_kind then -- counts in the service that names it; one of several files there
    local base = about.bases[root:text("metadata", "name") or ""]
    return base and base.is_other and root:take "what services are based on"
  end
  local spec = with_bases(root:at "spec" or root, about)
  local prefill, scheduler = spec:at "prefill", spec:at("router", "scheduler")
  spec:text("model", "name")
  read_workload(spec, about, prefill and "decode" or nil, spec)
  if prefill then read_workload(prefill, about, "prefill", spec) end
  if scheduler then
    scheduler:take "the endpoint picker"
    about.routers[#about.routers + 1] = { name = "llm_d", line = scheduler:line(), file = about.file }
  end
end

function kserve.write(about)
  local function workload(part)
    return { "replicas", part.count }, { "template", { containers.selector(part),
      { "containers", containers.list(part, "main") } } }
  end
  local main, prefill = about.decode or about.parts[1], about.prefill
  local replicas, template = workload(main)
  return yaml.text { { map = containers.object("serving.kserve.io/v1alpha1", "LLMInferenceService",
    containers.name(about.name, {}), { { "model", { { "uri", "hf://" .. main.model }, { "name", main.model } } },
      replicas, template, { "prefill", prefill and { workload(prefill) } or nil },
      { "router", about.router == "llm_d" and { { "scheduler", {} } } or nil } }) } }
end

return kserve
