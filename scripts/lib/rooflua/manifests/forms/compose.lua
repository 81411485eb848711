-- A compose file of Docker. Source: compose-spec/compose-spec spec.md and deploy.md, 2024 on
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local holes = require "rooflua.manifests.holes"
local kubernetes = require "rooflua.manifests.forms.kubernetes"
local launches = require "rooflua.manifests.launches"
local pods = require "rooflua.manifests.pods"
local secrets = require "rooflua.startup.secrets"
local shell_script = require "rooflua.manifests.shell_script"
local yaml = require "rooflua.handover.yaml"

local compose = { name = "compose", title = "a compose file", extension = ".yaml" }

function compose.tells(root)
  local services = root:at "services"
  return services ~= nil and type(services.value) == "table" and root:at "apiVersion" == nil
end

--- A text with variables as compose puts them in; those from outside are not given.
local function interpolated(text)
  local out, at = {}, 1
  while true do
    local stop = text:find("$", at, true)
    if not stop then break end
    out[#out + 1] = text:sub(at, stop - 1)
    local braced, behind = text:match("^%${([^{}]*)}()", stop)
    local name, after = text:match("^%$([%a_][%w_]*)()", stop)
    if text:sub(stop, stop + 1) == "$$" then
      out[#out + 1], at = "$", stop + 2
    elseif braced then
      out[#out + 1], at = braced:match "^[%a_][%w_]*:?%-(.*)$" or holes.of("$" .. braced), behind
    elseif name then
      out[#out + 1], at = holes.of("$" .. name), after
    else
      out[#out + 1], at = "$", stop + 1
    end
  end
  out[#out + 1] = text:sub(at)
  return core.join(out, "")
end

--- Words of `command` or `entrypoint`: a list, or a text that compose takes apart as a shell does.
local function words_of(service, key)
  local own, words = service:at(key), service:words(key)
  for i, word in ipairs(words) do words[i] = interpolated(word) end
  if not own or type(own.value) == "table" or not words[1] then return words end
  local read = shell_script.read(words[1], {})
  return read.commands[1] and read.commands[1].words or {}
end

--- {{name, value}} of `environment`: a map, or a list of NAME=value.
local function environment_of(service)
  local out = {}
  local function add(name, value, each)
    value = value and interpolated(value) or holes.of(("$%s, which the file does not give"):format(name))
    if secrets.is_named(name) then value = holes.of(("$%s, which is a secret"):format(name)) end
    each:take("variable", ("%s=%s"):format(name, holes.shown(value)))
    out[#out + 1] = { name, value }
  end
  for _, pair in ipairs(service:pairs "environment") do add(pair[1], pair[2]:word(), pair[2]) end
  for _, each in ipairs(service:list "environment") do
    local text = each:word() or ""
    add(text:match "^[^=]*", text:match "=(.*)$", each)
  end
  return out
end

--- GPUs of `deploy.resources.reservations.devices`, or of `gpus`.
local function gpus_of(service)
  for _, place in ipairs { { "deploy", "resources", "reservations", "devices" }, { "gpus" } } do
    for _, each in ipairs(service:list(unpack(place))) do
      local ids = each:list "device_ids"
      if #ids > 0 then
        each:at("device_ids"):take()
        return #ids
      end
      local count = each:at "count"
      if count and count.value ~= "all" then return each:count "count" end
      if count then count:take "all of the machine" end
    end
  end
end

--- The GPU of a placement constraint on a label of nodes.
local function gpu_of(service, told)
  for _, each in ipairs(service:list("deploy", "placement", "constraints")) do
    local text = each:word() or ""
    local label, value = text:match "^node%.labels%.(%S-)%s*==%s*(%S+)$"
    if label and gpus.is_label(label) then
      local known = gpus.known(value)
      if not known then told[#told + 1] = ("the GPU '%s' is not known here"):format(holes.shown(value)) end
      return known
    end
  end
end

--- Files of `configs` by the path at which the service has them.
local function files_of(service, root)
  local out = {}
  for _, each in ipairs(service:list "configs") do
    local source = each:text "source" or each:word()
    local content = source and root:at("configs", source, "content")
    if content and type(content.value) == "string" then
      content:take("a file", "...")
      out[each:text "target" or "/" .. source] = interpolated(content.value)
    end
  end
  return out
end

function compose.read(root, about)
  for _, pair in ipairs(root:pairs "services") do
    local name, service = pair[1], pair[2]
    local image = service:text "image"
    image = image and interpolated(image)
    local entrypoint, command = words_of(service, "entrypoint"), words_of(service, "command")
    local environment, parts = environment_of(service), {}
    launches.add({ words = pods.words(image, entrypoint, command), environment = environment, line = service:line(),
      image = image }, { parts = parts, files = files_of(service, root), variables = {}, told = about.told, image = image })
    if #parts > 0 and service:at "env_file" then
      service:at("env_file"):take()
      about.told[#about.told + 1] = name .. ": variables of its env_file are not given"
    end
    for _, part in ipairs(parts) do
      part.name, part.role = name, kubernetes.role(name)
      part.count = service:count("deploy", "replicas") or service:count "scale" or 1
      part.gpus, part.gpu = gpus_of(service) or part.gpus, gpu_of(service, about.told)
      about.parts[#about.parts + 1] = part
    end
    if #parts == 0 then service:take("a service that starts no engine", "...") end
  end
end

local function escaped(text) return (text:gsub("%$", "$$$$")) end

local function service_of(part)
  local words, program = containers.words(part, "/options.yaml")
  local entrypoint, command, environment = yaml.list {}, yaml.list {}, {}
  for i, word in ipairs(words) do
    local list = i <= program and entrypoint or command
    list[#list + 1] = escaped(word)
  end
  for i, each in ipairs(containers.variables(part)) do environment[i] = { each[1], escaped(each[2]) } end
  local gpu, devices = gpus.written(part.gpu), { { "capabilities", yaml.list { "gpu" } }, { "count", part.gpus } }
  local constraint = gpu.value and { { "constraints", yaml.list { ("node.labels.%s == %s"):format(gpu.label,
    gpu.value) } } } or nil
  return { { "image", containers.image(part) }, { "entrypoint", entrypoint }, { "command", command },
    { "environment", #environment > 0 and environment or nil }, { "ipc", "host" },
    { "configs", containers.file(part) and yaml.list { { { "source", "options" }, { "target", "/options.yaml" } } }
      or nil },
    { "deploy", { { "replicas", part.count }, { "resources", { { "reservations", { { "devices",
      yaml.list { devices } } } } } }, { "placement", constraint } } } }
end

function compose.write(about)
  local services, configs = {}, nil
  for i, part in ipairs(about.parts) do
    if part.nodes > 1 then core.fail "--as compose: a compose file is of one machine, and an engine needs several" end
    local text = containers.file(part)
    services[i] = { containers.name(about.name, part), service_of(part) }
    if text and configs and configs[1][2][1][2] ~= escaped(text) then
      core.fail "--as compose: the roles have two files of options"
    end
    configs = text and { { "options", { { "content", escaped(text) } } } } or configs
  end
  return yaml.text { { map = { { "services", services }, { "configs", configs } } } }
end

return compose
