-- A compose file of Docker. Source: compose-spec/compose-spec spec.md and deploy.md, 2024 on
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local holes = require "rooflua.manifests.holes"
local kubernetes = require "rooflua.manifests.forms.kubernetes"
local launches = require "rooflua.manifests.launches"
local pods = require "rooflua.manifests.pods"
local shell_script = require "rooflua.manifests.shell_script"
local yaml = require "rooflua.text.yaml"

local compose = { name = "compose", title = "a compose file", extension = ".yaml", is_one_node = true }

--- A text with variables as compose puts them in: a default, or what is not given; "$$" is one "$".
local function interpolated(text)
  return (text:gsub("%$(%$?)({[^{}]*})", function(escape, braced)
    if escape ~= "" then return "\1" .. braced end
    return (braced:match "^{[%a_][%w_]*:?%-(.*)}$" or holes.of("$" .. braced:sub(2, -2))):gsub("%$", "\1")
  end):gsub("%$%$", "\1"):gsub("%$([%a_][%w_]*)", function(name) return holes.of("\1" .. name) end)
    :gsub("\1", "$"))
end

--- Words of `command` or `entrypoint`: a list, or a text that compose takes apart as a shell does.
local function words_of(service, key)
  local own, words = service:at(key), service:words(key)
  for i, word in ipairs(words) do words[i] = interpolated(word) end
  if not words[1] or type(own.value) == "table" then return words end
  local command = shell_script.read(words[1], {}).commands[1]
  return command and command.words or {}
end

--- {{name, value}} of `environment`: a map, or a list of NAME=value.
local function environment_of(service)
  local out = {}
  for _, pair in ipairs(service:pairs "environment") do
    out[#out + 1] = pods.variable(pair[2], pair[1], interpolated(pair[2]:text() or ""))
  end
  for _, each in ipairs(service:list "environment") do
    local name, value = (each:text() or ""):match "^([^=]*)=?(.*)$"
    local is_set = (each:text() or ""):find("=", 1, true)
    out[#out + 1] = pods.variable(each, name, is_set and interpolated(value) or nil)
  end
  return out
end

--- GPUs of `deploy.resources.reservations.devices`, or of `gpus`; nil where all of a machine are asked for.
local function gpus_of(service)
  local devices = service:list("deploy", "resources", "reservations", "devices")
  local first = devices[1] or service:list("gpus")[1]
  if not first then return nil end
  local ids = #first:list "device_ids"
  if ids > 0 then first:at("device_ids"):take() end
  return ids > 0 and ids or first:text "count" ~= "all" and first:count "count" or nil
end

--- The GPU of a placement constraint on a label of nodes.
local function gpu_of(service, told)
  for _, each in ipairs(service:list("deploy", "placement", "constraints")) do
    local label, value = (each:text() or ""):match "^node%.labels%.(%S-)%s*==%s*(%S+)$"
    if label and gpus.is_label(label) then return gpus.known(value, told) end
  end
end

function compose.read(root, about)
  for _, pair in ipairs(root:pairs "services") do
    local name, service = pair[1], pair[2]
    local image = service:text "image"
    image = image and interpolated(image)
    local words = launches.words(image, words_of(service, "entrypoint"), words_of(service, "command"))
    local is_one = pods.launch(words, core.copy(about, { image = image, environment = environment_of(service),
      line = service:line(), name = name, role = kubernetes.role(name), files = {},
      count = service:count("deploy", "replicas") or service:count "scale" or 1, gpus = gpus_of(service),
      gpu = gpu_of(service, about.told) }))
    if not is_one then
      service:take "starts no engine"
    elseif service:at "env_file" then
      service:at("env_file"):take()
      about.told[#about.told + 1] = name .. ": variables of its env_file are not given"
    end
  end
end

local function service_of(part)
  local entrypoint, command, environment = containers.launch(part)
  local gpu, devices = gpus.written(part.gpu), { { "capabilities", yaml.list { "gpu" } }, { "count", part.gpus } }
  local constraint = gpu.value and ("node.labels.%s == %s"):format(gpu.label, gpu.value)
  return { { "image", containers.image(part) }, { "entrypoint", entrypoint }, { "command", command },
    { "environment", #environment > 0 and environment or nil }, { "ipc", "host" }, { "deploy", {
      { "replicas", part.count }, { "resources", { { "reservations", { { "devices", yaml.list { devices } } } } } },
      { "placement", constraint and { { "constraints", yaml.list { constraint } } } or nil } } } }
end

function compose.write(about)
  local services = {}
  for i, part in ipairs(about.parts) do services[i] = { containers.name(about.name, part), service_of(part) } end
  return yaml.text { { map = { { "services", services } } } }
end

return compose
