-- Pods of Kubernetes: containers that start an engine, their GPUs, variables and files, and the GPU of their nodes.
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local holes = require "rooflua.manifests.holes"
local launches = require "rooflua.manifests.launches"
local secrets = require "rooflua.text.secrets"

local pods = {}

--- A text with $(NAME) as Kubernetes expands it; "$$" is one "$".
local function expanded(text, variables)
  return (text:gsub("%$([%$(])([%w_.-]*)(%)?)", function(c, name, close)
    if c == "$" then return "$" .. name .. close end
    if close == "" or name == "" then return nil end
    return variables[name] or holes.of("$(" .. name .. ")")
  end))
end

--- A variable that a file states: {name, value}; a value that is missing or secret is not given.
function pods.variable(each, name, value)
  local is_secret = secrets.is_named(name)
  if is_secret or not value then
    value = holes.of(("$%s, which %s"):format(name, value and "is a secret" or "the file does not give"))
  end
  each:take(("%s=%s"):format(name, is_secret and secrets.mask or holes.shown(value)))
  return { name, value }
end

--- Adds the variables of a list to those of a table about a container: {environment, variables by name}.
function pods.add_environment(about, container, key)
  about.environment, about.variables = core.copy(about.environment), core.copy(about.variables)
  for _, each in ipairs(container:list(key)) do
    local name, value = each:text "name", each:text "value"
    if name then
      local own = pods.variable(each, name, value and expanded(value, about.variables))
      about.environment[#about.environment + 1], about.variables[name] = own, own[2]
    end
  end
end

--- GPUs that a container asks for; nil where it asks for none.
function pods.gpus(container)
  local found
  for _, kind in ipairs { "requests", "limits" } do
    for _, pair in ipairs(container:pairs("resources", kind)) do
      found = gpus.is_resource(pair[1]) and container:count("resources", kind, pair[1]) or found
    end
  end
  return found
end

--- Folders of a container that hold a ConfigMap: {{path, map, file}}.
local function mounts_of(container, spec)
  local by_volume, out = {}, {}
  for _, volume in ipairs(spec:list "volumes") do
    by_volume[volume:text "name" or ""] = volume:text("configMap", "name")
  end
  for _, mount in ipairs(container:list "volumeMounts") do
    out[#out + 1] = { path = mount:text "mountPath", map = by_volume[mount:text "name" or ""],
      file = mount:text "subPath" }
  end
  return out
end

--- Adds what words of a container start, with what is known of it.
---@param about table {parts, told, line, image, gpus, count, nodes, role, name, gpu, environment, variables, files,
---  mounts}
function pods.launch(words, about)
  local found = core.copy(about, { parts = {} })
  launches.add({ words = words, environment = about.environment or {}, line = about.line }, found)
  for _, part in ipairs(found.parts) do
    for _, key in ipairs { "count", "nodes", "role", "name", "gpu", "gpus", "mounts", "release" } do
      part[key] = about[key] or part[key]
    end
    about.parts[#about.parts + 1] = part
  end
  return #found.parts > 0
end

--- Reads one container of a pod.
---@param about table that of pods.launch; words(image, command, args, about) replaces its words
function pods.add(container, spec, about)
  local own = core.copy(about, { image = container:text "image", line = container:line(), files = {},
    gpus = pods.gpus(container) or about.gpus, mounts = mounts_of(container, spec) })
  pods.add_environment(own, container, "env")
  if container:at "envFrom" then
    container:at("envFrom"):take()
    about.told[#about.told + 1] = container.path .. ": variables of envFrom are not given"
  end
  local command, args = container:words "command", container:words "args"
  for _, list in ipairs { command, args } do
    for i, word in ipairs(list) do list[i] = expanded(word, own.variables) end
  end
  if not pods.launch((about.words or launches.words)(own.image, command, args, own), own) and (own.gpus or 0) > 0 then
    about.told[#about.told + 1] = container.path .. ": has GPUs, and starts no engine that is known"
  end
end

--- The GPU that labels of nodes name, in `nodeSelector` or a required affinity.
function pods.gpu(spec, told)
  for _, pair in ipairs(spec:pairs "nodeSelector") do
    if gpus.is_label(pair[1]) then return gpus.known(spec:text("nodeSelector", pair[1]) or "", told) end
  end
  for _, term in ipairs(spec:list("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms")) do
    for _, each in ipairs(term:list "matchExpressions") do
      local values, key = each:list "values", each:at "key"
      if key and gpus.is_label(key.value) and each:text "operator" == "In" and #values == 1 then
        each:take()
        return gpus.known(tostring(values[1].value), told)
      end
    end
  end
end

--- Adds the parts of a pod's spec.
function pods.read(spec, about)
  if not spec then return end
  about.gpu = pods.gpu(spec, about.told) or about.gpu
  for _, container in ipairs(spec:list "containers") do pods.add(container, spec, about) end
end

return pods
