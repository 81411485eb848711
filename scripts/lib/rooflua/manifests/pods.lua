-- Pods of Kubernetes: containers that start an engine, their GPUs, variables and files, and the GPU of their nodes.
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local holes = require "rooflua.manifests.holes"
local launches = require "rooflua.manifests.launches"
local secrets = require "rooflua.startup.secrets"
local start = require "rooflua.engines.launch.start"

local pods = {}

--- A text with $(NAME) as Kubernetes expands it; "$$" is one "$".
local function expanded(text, variables)
  return (text:gsub("%$([%$(])([%w_.-]*)(%)?)", function(c, name, close)
    if c == "$" then return "$" .. name .. close end
    if close == "" or name == "" then return nil end
    return variables[name] or holes.of("$(" .. name .. ")")
  end))
end

--- {{name, value}} of `env`, and the same by name. Values of secrets and of fields are not given.
function pods.environment(container, variables, ...)
  local list, by_name = {}, core.copy(variables)
  for _, each in ipairs(container:list(...)) do
    local name, given = each:text "name", each:at "value"
    local value = given and given:word()
    if name then
      if value and not secrets.is_named(name) then
        value = expanded(value, by_name)
      else
        value = holes.of(("$%s, which %s"):format(name, value and "is a secret" or "the file does not give"))
      end
      each:take("variable", secrets.masked(("%s=%s"):format(name, holes.shown(value)), 200))
      by_name[name] = value
      list[#list + 1] = { name, value }
    end
  end
  return list, by_name
end

--- GPUs that a container asks for; nil where it asks for none.
function pods.gpus(container, ...)
  local own = container:at(...)
  for _, kind in ipairs(own and { "limits", "requests" } or {}) do
    for _, pair in ipairs(own:pairs(kind)) do
      if gpus.is_resource(pair[1]) then return own:count(kind, pair[1]) end
    end
  end
end

--- Folders of a container that hold a ConfigMap: {{path, name, file}}.
local function mounts_of(container, spec)
  local by_volume, out = {}, {}
  for _, volume in ipairs(spec:list "volumes") do
    local name = volume:at("configMap", "name") and volume:text("configMap", "name")
    if name then by_volume[volume:text "name" or ""] = name end
  end
  for _, mount in ipairs(container:list "volumeMounts") do
    local map = by_volume[mount:text "name" or ""]
    if map then out[#out + 1] = { path = mount:text "mountPath", map = map, file = mount:text "subPath" } end
  end
  return out
end

--- Words of a container with the engine's command in front where its image alone says it.
function pods.words(image, command, args)
  local words = {}
  for _, list in ipairs { command, args } do
    for _, word in ipairs(list) do words[#words + 1] = word end
  end
  local engine = image and start.of_image(image)
  if not engine or #command > 0 or start.is_one(words) then return words end
  local out = {}
  for word in engine.command:gmatch "%S+" do out[#out + 1] = word end
  for _, word in ipairs(words) do out[#out + 1] = word end
  return out
end

--- Adds the parts of one container. Returns them.
---@param about table {told, parts, line, count, nodes, role, name, gpu, variables, words = replaces its words}
function pods.add(container, spec, about)
  local image, line = container:text "image" or about.image, container:line()
  local environment, variables = pods.environment(container, about.variables, "env")
  for i, each in ipairs(about.environment or {}) do table.insert(environment, i, each) end
  if container:at "envFrom" then
    about.told[#about.told + 1] = ("%s: variables of envFrom are not given"):format(container.path)
  end
  local command, args = container:words "command", container:words "args"
  for _, list in ipairs { command, args } do
    for i, word in ipairs(list) do list[i] = expanded(word, variables) end
  end
  local words = (about.words or pods.words)(image, command, args)
  local parts = {}
  launches.add({ words = words, environment = environment, line = line, image = image },
    { parts = parts, files = {}, variables = variables, told = about.told, image = image })
  local asked = pods.gpus(container, "resources") or about.gpus
  for _, part in ipairs(parts) do
    part.gpus, part.mounts = asked or part.gpus, spec and mounts_of(container, spec) or {}
    for _, key in ipairs { "count", "nodes", "role", "name", "gpu", "model" } do part[key] = about[key] or part[key] end
    about.parts[#about.parts + 1] = part
  end
  if #parts == 0 and asked and asked > 0 then
    about.told[#about.told + 1] = ("%s: a container with GPUs that starts no engine that is known")
      :format(container.path)
  end
  return parts
end

--- The GPU that labels of nodes name, in `nodeSelector` or a required affinity; a name that is not known is told.
function pods.gpu(spec, told)
  local found
  local function add(label, each)
    local value = gpus.is_label(label) and each:word()
    if not value then return end
    found = gpus.known(value)
    if not found then
      told[#told + 1] = ("%s: the GPU '%s' is not known here"):format(each.path, holes.shown(value))
    end
  end
  for _, pair in ipairs(spec:pairs "nodeSelector") do add(pair[1], pair[2]) end
  local terms = spec:list("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms")
  for _, term in ipairs(terms) do
    for _, each in ipairs(term:list "matchExpressions") do
      local values, label = each:list "values", each:at "key"
      if label and gpus.is_label(label.value) and each:text "operator" == "In" and #values == 1 then
        label:take()
        add(label.value, values[1])
      end
    end
  end
  return found
end

--- Adds the parts of a pod's spec.
function pods.read(spec, about)
  if not spec then return end
  about.gpu = pods.gpu(spec, about.told) or about.gpu
  for _, container in ipairs(spec:list "containers") do pods.add(container, spec, about) end
end

return pods
